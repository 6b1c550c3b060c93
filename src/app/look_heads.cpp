// limpid look … heads: what every attention head does over a corpus.

#include <fmt/format.h>

#include <memory>

#include "app/look.h"
#include "app/progress.h"
#include "inspect/corpus_examples.h"
#include "inspect/display_text.h"
#include "inspect/head_statistics.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

struct HeadsCommand {
  CorpusOptions corpus;
  InductionOptions induction;
};

std::string number(const std::optional<double>& value, const char* none) {
  return value ? fmt::format("{:.3f}", *value) : none;
}

std::string table(const std::vector<HeadStatistics>& heads) {
  size_t longest = 4;
  for (const HeadStatistics& head : heads) longest = std::max(longest, head.attention.size());
  std::string text = fmt::format("{:{}}  head  entropy  distance  previous  induction  first\n", "", longest);
  for (const HeadStatistics& head : heads)
    text += fmt::format("{:{}}  {:4}  {:7.3f}  {:>8}  {:>8}  {:>9}  {:5.3f}\n", head.attention, longest, head.head,
                        head.entropy, number(head.distance, "–"), number(head.previous, "–"),
                        number(head.induction, "–"), head.first);
  return text;
}

std::string csv_of(const std::vector<HeadStatistics>& heads) {
  std::string text = "attention,head,queries,entropy,distance,previous,induction,first\n";
  for (const HeadStatistics& head : heads)
    text += fmt::format("{},{},{},{},{},{},{},{}\n", head.attention, head.head, head.queries, head.entropy,
                        number(head.distance, ""), number(head.previous, ""), number(head.induction, ""), head.first);
  return text;
}

Json json_of(const std::vector<HeadStatistics>& heads) {
  Json list = Json::array();
  const auto set = [](Json& to, const char* key, const std::optional<double>& value) {
    if (value) to[key] = *value;
  };
  for (const HeadStatistics& head : heads) {
    Json one = {
        {"attention", head.attention}, {"head", head.head}, {"queries", head.queries}, {"entropy", head.entropy}};
    set(one, "distance", head.distance);
    set(one, "previous", head.previous);
    set(one, "induction", head.induction);
    one["first"] = head.first;
    list.push_back(one);
  }
  return list;
}

void show_heads(const LookOptions& options, HeadsCommand& command) {
  const Session session = open_model(options);
  CorpusExamples corpus(session, command.corpus);
  constexpr int64_t kParts = 1000;
  Progress progress(kParts, options.json);
  std::vector<HeadStatistics> heads = head_statistics(session.model(), [&] {
    progress.update(static_cast<int64_t>(corpus.progress() * kParts), "reading");
    return corpus.next();
  });
  progress.clear();
  if (session.config().family != Family::rnn_seq2seq) {
    const SpecialIds special = session.reader().special();  // they stand at the beginning of a vocabulary, or behind
    const int32_t first = std::max({special.pad, special.end, special.unknown, special.begin, special.mask}) + 1;
    command.induction.first_token = first < session.reader().size() / 2 ? std::max(first, 0) : 0;
    command.induction.last_token = session.reader().size() - 1;
    command.induction.before = session.loaded.tokenizers.before;
    add_induction(heads, induction_scores(session.model(), command.induction));
  }
  write_result(options, {.shown = [&] { return table(heads); },
                         .csv = [&] { return csv_of(heads); },
                         .svg = [&] { return to_svg(head_picture(heads)); },
                         .json = [&] { return json_of(heads); }});
}

}  // namespace

void add_corpus_options(CLI::App& part, CorpusOptions& corpus, bool required) {
  auto* text = part.add_option("--text", corpus.files,
                               "a file of texts, a line each, plain or gzip; of encoder-decoder models SOURCE TARGET");
  text->expected(1, 2);
  if (required) text->required();
  part.add_option("--window", corpus.window, "read the file as one stream in windows of so many tokens (0: lines)")
      ->check(CLI::NonNegativeNumber);
  part.add_option("--texts", corpus.most, "at most so many texts or windows (0: all)")->check(CLI::NonNegativeNumber);
}

LookPart add_look_heads(CLI::App& look, LookOptions& options) {
  CLI::App* part = look.add_subcommand(
      "heads", "Over a corpus, of every attention head: entropy, distance, previous-token, induction, first token.");
  auto command = std::make_shared<HeadsCommand>();
  add_corpus_options(*part, command->corpus, true);
  part->add_option("--length", command->induction.length, "of the random tokens said twice (0: 25, or what fits)")
      ->check(CLI::NonNegativeNumber);
  part->add_option("--seed", command->induction.seed, "of the random tokens")->capture_default_str();
  add_result_options(*part, options, true);
  return {part, [&options, command] { show_heads(options, *command); }};
}

}  // namespace limpid
