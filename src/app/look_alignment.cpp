// limpid look … alignment: how well a translator's attention aligns words, against the grammar's true alignment.

#include <fmt/format.h>

#include <memory>

#include "app/look.h"
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
  return fmt::format("{:10} {:17} AER {:5.1f} %  precision {:5.1f} %  recall {:5.1f} %\n", what, name_of(score.which),
                     100 * score.counts.error_rate(), 100 * score.counts.precision(), 100 * score.counts.recall());
}

void show_alignment(const LookOptions& options, const AlignmentCommand& command) {
  const Session session = open_model(options);
  check(session.two_sided(), "[look] alignments are of translators: this model reads one text");
  const std::vector<AlignedPair> pairs = grammar_pairs(command);
  const std::vector<AlignmentScore> scores = score_alignments(session.model(), session.loaded.tokenizers, pairs);
  const AlignmentScore &head = best_of(scores, true), &layer = best_of(scores, false), &all = scores.back();
  const bool chosen = command.which.layer || command.which.head;
  const AlignmentOptions which = chosen ? command.which : head.which;
  AlignedPair shown = options.text.empty() ? pair_to_show(pairs) : AlignedPair{options.text, options.target, {}};
  if (shown.target.empty()) {
    const Example example = session.example({shown.source, ""});
    shown.target = session.writer().decode(example.next);
  }
  const WordAttention attention =
      word_attention(session.model(), session.loaded.tokenizers, shown.source, shown.target, which);
  const WordLinks truth(shown.alignment.begin(), shown.alignment.end());
  const std::string title = fmt::format("Where it looks while it writes: {}", name_of(which));
  const Picture picture = word_attention_picture(attention, title);
  write_result(options,
               {.shown =
                    [&] {
                      return fmt::format("{} sentence pairs of the grammar never seen in training\n", pairs.size()) +
                             score_line("best head", head) + score_line("best layer", layer) +
                             score_line("averaged", all) + fmt::format("\n{}\n{}\n\n", shown.source, shown.target) +
                             title + "\n" + draw(attention);
                    },
                .csv = [&] { return to_csv(picture); },
                .svg = [&] { return crossing_svg(attention, truth, title); },
                .json =
                    [&] {
                      Json list = Json::array();
                      for (const AlignmentScore& score : scores) list.push_back(alignment_score_json(score));
                      Json json{{"pairs", pairs.size()},
                                {"best_head", alignment_score_json(head)},
                                {"best_layer", alignment_score_json(layer)},
                                {"averaged", alignment_score_json(all)},
                                {"all", list}};
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
