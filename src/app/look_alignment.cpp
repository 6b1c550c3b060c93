// limpid look … alignment: how well a translator's attention aligns words, against the grammar's true alignment.

#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "app/look.h"
#include "app/terminal.h"
#include "base/error.h"
#include "corpora/english_korean.h"
#include "inspect/alignment_json.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

struct AlignmentCommand {
  int64_t pairs = 500;
  uint64_t seed = 1;
  AlignmentOptions which;  // of the picture; none: the best head
};

std::vector<AlignedPair> grammar_pairs(const AlignmentCommand& command) {
  const EnglishKorean grammar(command.seed);
  std::vector<AlignedPair> pairs;
  for (int64_t i = 0; i < command.pairs; ++i) {
    const SentencePair pair = grammar.pair(static_cast<uint64_t>(i), Split::test);
    pairs.push_back({pair.english, pair.korean, pair.alignment});
  }
  return pairs;
}

// The short sentence whose words cross most: verbs go to the end, clauses before their noun.
const AlignedPair& pair_to_show(const std::vector<AlignedPair>& pairs) {
  constexpr size_t kLetters = 48;
  const AlignedPair* best = &pairs[0];
  int64_t most = -1;
  for (const AlignedPair& pair : pairs) {
    const int64_t crossed = crossings({pair.alignment.begin(), pair.alignment.end()});
    if (pair.source.size() <= kLetters && crossed > most) {
      most = crossed;
      best = &pair;
    }
  }
  return *best;
}

std::string score_line(const char* what, const AlignmentScore& score) {
  const std::string line =
      fmt::format("{:10} {:17} AER {:5.1f} %  precision {:5.1f} %  recall {:5.1f} %", what, name_of(score.which),
                  100 * score.counts.error_rate(), 100 * score.counts.precision(), 100 * score.counts.recall());
  return wrapped(line, terminal_width(STDOUT_FILENO), 11) + '\n';
}

// What the grammar's pairs say of the model's attention.
std::string scores_text(const std::vector<AlignmentScore>& scores, size_t pairs) {
  return fmt::format("{} sentence pairs of the grammar, never trained on\n", pairs) +
         score_line("best head", best_of(scores, true)) + score_line("best layer", best_of(scores, false)) +
         score_line("averaged", scores.back());
}

Json scores_json(const std::vector<AlignmentScore>& scores, size_t pairs) {
  Json list = Json::array();
  for (const AlignmentScore& score : scores) list.push_back(alignment_score_json(score));
  return {{"pairs", pairs},
          {"best_head", alignment_score_json(best_of(scores, true))},
          {"best_layer", alignment_score_json(best_of(scores, false))},
          {"averaged", alignment_score_json(scores.back())},
          {"all", list}};
}

// Of a translator of the grammar the head that aligns best is drawn. One that translates something else has no score on
// the grammar that would mean anything: nothing better is known than the mean of its heads.
bool knows_the_grammar(const std::vector<AlignmentScore>& scores) {
  return best_of(scores, true).counts.error_rate() < 0.5;
}

void show_alignment(const LookOptions& options, const AlignmentCommand& command) {
  const Session session = open_model(options);
  check(session.two_sided(), "[look] alignments are of translators: this model reads one text");
  const bool chosen = command.which.layer || command.which.head;
  const std::vector<AlignedPair> pairs = grammar_pairs(command);
  std::vector<AlignmentScore> scores;
  if (options.text.empty() || !chosen) scores = score_alignments(session.model(), session.loaded.tokenizers, pairs);
  const AlignmentOptions which = chosen                      ? command.which
                                 : knows_the_grammar(scores) ? best_of(scores, true).which
                                                             : scores.back().which;
  if (!options.text.empty()) scores.clear();  // nobody knows the true links of a sentence of one's own
  AlignedPair shown = options.text.empty() ? pair_to_show(pairs) : AlignedPair{options.text, options.target, {}};
  if (shown.target.empty()) {
    const Example example = session.example({shown.source, ""});
    shown.target = session.writer().decode(example.next);
  }
  const WordAttention attention =
      word_attention(session.model(), session.loaded.tokenizers, shown.source, shown.target, which);
  const WordLinks truth(shown.alignment.begin(), shown.alignment.end());
  const std::string title = fmt::format("Where it looks while it writes: {}", name_of(which));
  const int64_t width = terminal_width(STDOUT_FILENO);
  const Picture picture = word_attention_picture(attention, title);
  write_result(options, {.shown =
                             [&] {
                               return (scores.empty() ? "" : scores_text(scores, pairs.size()) + "\n") +
                                      fmt::format("{}\n{}\n\n", wrapped(shown.source, width, 0),
                                                  wrapped(shown.target, width, 0)) +
                                      wrapped(title, width, 0) + "\n" + draw(attention);
                             },
                         .csv = [&] { return to_csv(picture); },
                         .svg = [&] { return crossing_svg(attention, truth, title); },
                         .json =
                             [&] {
                               Json json = scores.empty() ? Json::object() : scores_json(scores, pairs.size());
                               json.update(word_attention_json(attention));
                               return json;
                             }});
}

}  // namespace

LookPart add_look_alignment(CLI::App& look, LookOptions& options) {
  CLI::App* part = look.add_subcommand(
      "alignment", "Scores an English-Korean translator's attention against the grammar's true word alignment (AER).");
  auto command = std::make_shared<AlignmentCommand>();
  add_text_options(*part, options);
  part->add_option("--pairs", command->pairs, "of the grammar's test part")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  part->add_option("--seed", command->seed, "of the sentences")->capture_default_str();
  part->add_option("--layer", command->which.layer, "of the picture (default: the best head)");
  part->add_option("--head", command->which.head, "of the picture");
  add_result_options(*part, options, true);
  return {part, [&options, command] { show_alignment(options, *command); }};
}

}  // namespace limpid
