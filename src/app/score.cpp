// limpid score: how likely a model finds a text, token by token.

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/input_lines.h"
#include "inference/model_text.h"
#include "inference/results_json.h"
#include "inference/score.h"

namespace limpid {
namespace {

constexpr size_t kLinesAtOnce = 256;

struct ScoreTextOptions {
  std::string model;
  std::vector<std::string> files;
  bool whole = false, summary = false, json = false;
  TextScoreOptions score;
};

class LineScorer {
 public:
  LineScorer(const ScoreTextOptions& options, const LoadedModel& loaded)
      : options_(options), loaded_(loaded), pairs_(!loaded.config().continues_text()) {}

  void run() {
    InputLines input(options_.files);
    for (;;) {
      std::vector<std::string> lines = input.next_lines(kLinesAtOnce);
      if (lines.empty()) return;
      if (options_.whole) {
        std::string text = lines[0];
        for (size_t i = 1; i < lines.size(); ++i) text += '\n' + lines[i];
        while (auto line = input.next()) text += '\n' + *line;
        lines = {text};
      }
      score(lines);
      check(std::fflush(stdout) == 0, "[score] the output cannot be written: is the disk full?");
    }
  }

 private:
  void score(const std::vector<std::string>& lines) {
    std::vector<std::vector<int32_t>> texts, targets;
    for (size_t i = 0; i < lines.size(); ++i) {
      const size_t tab = lines[i].find('\t');
      check(!pairs_ || tab != std::string::npos,
            "[score] line {} has no tab: this model translates and scores a target by its source: write both on a line "
            "with a tab between",
            line_ + i + 1);
      const std::string_view text = lines[i];
      texts.push_back(text.empty() ? std::vector<int32_t>{} : input_ids(loaded_, pairs_ ? text.substr(0, tab) : text));
      if (pairs_) targets.push_back(target_ids(loaded_, text.substr(tab + 1)));
    }
    const auto scores = pairs_ ? score_pairs(*loaded_.model, texts, targets, options_.score)
                               : score_texts(*loaded_.model, texts, options_.score);
    for (size_t i = 0; i < lines.size(); ++i, ++line_) write(lines[i], scores[i]);
  }

  std::string quoted(int32_t id) const { return one_line(nlohmann::ordered_json(loaded_.writer().piece(id))); }

  void write(const std::string& text, const TextScore& score) const {
    if (options_.json) return fmt::print("{}\n", one_line(score_json(loaded_.writer(), text, score)));
    if (options_.summary) {
      fmt::print("{:.4f}\t{}\t{:.4f}\n", score.log_probability, score.tokens.size(), perplexity(score));
      return;
    }
    for (const ScoredToken& token : score.tokens) {
      fmt::print("{:9.4f}  {:>6}  {}", token.log_probability, token.rank, quoted(token.id));
      for (size_t i = 0; i < token.top.size(); ++i)
        fmt::print("{}{} {:.1f} %", i == 0 ? "\t" : ", ", quoted(token.top[i].id),
                   100 * std::exp(static_cast<double>(token.top[i].log_probability)));
      fmt::print("\n");
    }
    fmt::print("{:9.4f}  in all, {} tokens, perplexity {:.3f}\n\n", score.log_probability, score.tokens.size(),
               perplexity(score));
  }

  const ScoreTextOptions& options_;
  const LoadedModel& loaded_;
  bool pairs_;  // a source and a target, with a tab between
  size_t line_ = 0;
};

}  // namespace

int run_score(int argc, char** argv) {
  CommandLine line("score",
                   "Says how likely a model finds each token of a text: its log-probability (natural) and its rank.\n"
                   "A model that translates takes lines of a source and a target with a tab between.",
                   "echo \"Good morning.\" | limpid score MODEL");
  ScoreTextOptions options;
  line.add_option("MODEL", options.model, "a model's folder, or a file it can be read from")->required();
  line.add_option("FILES,--text", options.files, "texts, one per line, plain or gzip (none or -: the standard input)");
  line.add_flag("--whole", options.whole, "the whole input is one text");
  line.add_flag("--summary", options.summary, "of each text only log-probability, number of tokens and perplexity");
  line.add_option("--top", options.score.top, "show so many of the likeliest tokens beside each")
      ->check(CLI::Range(0, 1000));
  line.add_option("--context", options.score.context,
                  "tokens that a language model looks back on (0: what it was made for)")
      ->check(CLI::Range(0, 1 << 30));
  line.add_flag("--json", options.json, "print JSON, one object per line");
  if (const auto code = line.read(argc, argv)) return *code;
  const LoadedModel loaded = load_model(options.model);
  for (const std::string& note : loaded.config().notes) fmt::print(stderr, "limpid score: {}\n", note);
  LineScorer(options, loaded).run();
  return 0;
}

}  // namespace limpid
