// limpid look … heads: what every attention head does over a corpus.

#include <fmt/format.h>

#include <memory>

#include "app/look.h"
#include "app/progress.h"
#include "inspect/corpus_examples.h"
#include "inspect/head_statistics_json.h"

namespace limpid {
namespace {

struct HeadsCommand {
  CorpusOptions corpus;
  InductionOptions induction;
};

std::string number(const std::optional<double>& value) { return value ? fmt::format("{:.3f}", *value) : "–"; }

std::string table(const std::vector<HeadStatistics>& heads) {
  size_t longest = 4;
  for (const HeadStatistics& head : heads) longest = std::max(longest, head.attention.size());
  std::string text = fmt::format("{:{}}  head  entropy  distance  previous  induction  first\n", "", longest);
  for (const HeadStatistics& head : heads)
    text += fmt::format("{:{}}  {:4}  {:7.3f}  {:>8}  {:>8}  {:>9}  {:5.3f}\n", head.attention, longest, head.head,
                        head.entropy, number(head.distance), number(head.previous), number(head.induction), head.first);
  return text;
}

void show_heads(const LookOptions& options, const HeadsCommand& command) {
  const Session session = open_model(options);
  CorpusExamples corpus(session, command.corpus);
  constexpr int64_t kParts = 1000;
  Progress progress(kParts, options.json);
  std::vector<HeadStatistics> heads = head_statistics(session.model(), [&] {
    progress.update(static_cast<int64_t>(corpus.progress() * kParts), "reading");
    return corpus.next();
  });
  progress.clear();
  if (!session.config().recurrent())
    add_induction(heads, induction_scores(session.model(), induction_options(session, command.induction)));
  write_result(options, {.shown = [&] { return table(heads); },
                         .csv = [&] { return heads_csv(heads); },
                         .svg = [&] { return to_svg(head_picture(heads)); },
                         .json = [&] { return heads_json(heads); }});
}

}  // namespace

LookPart add_look_heads(CLI::App& look, LookOptions& options) {
  CLI::App* part = look.add_subcommand(
      "heads", "Over a corpus, of every attention head: entropy, distance, previous-token, induction, first token.");
  auto command = std::make_shared<HeadsCommand>();
  add_corpus_options(*part, command->corpus, true);
  part->add_option("--length", command->induction.length,
                   "of the random sequence that is repeated (0: 25, or what fits)")
      ->check(CLI::NonNegativeNumber);
  part->add_option("--seed", command->induction.seed, "of the random tokens")->capture_default_str();
  add_result_options(*part, options, true);
  return {part, [&options, command] { show_heads(options, *command); }};
}

}  // namespace limpid
