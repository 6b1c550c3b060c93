// limpid translate: lines of text in, their translations out.

#include <fmt/format.h>

#include <cstdio>

#include "app/command.h"
#include "app/input_lines.h"
#include "inference/decoder_state.h"
#include "inference/generate.h"
#include "inference/loaded_model.h"

namespace limpid {
namespace {

// So many lines are read ahead: enough to put those of like length side by side.
constexpr size_t kLinesAtOnce = 1024;

struct TranslateOptions {
  std::string model;
  std::vector<std::string> files;
  GenerateOptions generate{.beam = 4};
  bool json = false;
};

class LineTranslator {
 public:
  explicit LineTranslator(const TranslateOptions& options) : options_(options), loaded_(load_model(options.model)) {
    for (const std::string& note : loaded_.config().notes) fmt::print(stderr, "limpid translate: {}\n", note);
    check(loaded_.tokenizers.source->special().end >= 0,
          "[translate] the source tokenizer has no end token: its vocabulary lacks \"</s>\"");
  }

  void run() {
    InputLines input(options_.files);
    for (;;) {
      const std::vector<std::string> lines = input.next_lines(kLinesAtOnce);
      if (lines.empty()) return;
      translate_lines(lines);
      check(std::fflush(stdout) == 0, "[translate] the output cannot be written: is the disk full?");
    }
  }

 private:
  // The ids of a line with the end token, cut to what the model can read. A blank line has none.
  std::vector<int32_t> source_ids(const std::string& line, int64_t number) const {
    std::vector<int32_t> ids = loaded_.tokenizers.source->encode(line);
    if (ids.empty()) return ids;
    const int64_t most = most_positions(loaded_.config()) - 1;
    if (static_cast<int64_t>(ids.size()) > most) {
      fmt::print(stderr, "limpid translate: line {} has {} tokens, the model reads {}: its end is left out\n", number,
                 ids.size(), most);
      ids.resize(most);
    }
    ids.push_back(loaded_.tokenizers.source->special().end);
    return ids;
  }

  void translate_lines(const std::vector<std::string>& lines) {
    std::vector<std::vector<int32_t>> sources;
    std::vector<size_t> blank(lines.size(), 0);
    for (size_t i = 0; i < lines.size(); ++i) {
      auto ids = source_ids(lines[i], line_ + static_cast<int64_t>(i) + 1);
      if (ids.empty())
        blank[i] = 1;
      else
        sources.push_back(std::move(ids));
    }
    const auto results = translate(*loaded_.model, sources, options_.generate);
    size_t next = 0;
    for (size_t i = 0; i < lines.size(); ++i) write(lines[i], blank[i] ? std::vector<Hypothesis>{{}} : results[next++]);
  }

  void write(const std::string& source, const std::vector<Hypothesis>& hypotheses) {
    ++line_;
    if (options_.json) return write_json(source, hypotheses);
    for (const Hypothesis& hypothesis : hypotheses) {
      const std::string text = loaded_.tokenizers.target->decode(hypothesis.ids);
      if (options_.generate.n_best > 1)
        fmt::print("{}\t{:.4f}\t{}\n", line_, hypothesis.score, text);
      else
        fmt::print("{}\n", text);
    }
  }

  void write_json(const std::string& source, const std::vector<Hypothesis>& hypotheses) const {
    nlohmann::ordered_json translations = nlohmann::ordered_json::array();
    for (const Hypothesis& hypothesis : hypotheses)
      translations.push_back({{"text", loaded_.tokenizers.target->decode(hypothesis.ids)},
                              {"score", hypothesis.score},
                              {"log_probability", hypothesis.log_probability},
                              {"tokens", hypothesis.ids.size()}});
    const nlohmann::ordered_json line = {{"line", line_}, {"source", source}, {"translations", translations}};
    fmt::print("{}\n", line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  }

  const TranslateOptions& options_;
  LoadedModel loaded_;
  int64_t line_ = 0;  // of all files, from 1
};

void add_options(CommandLine& line, TranslateOptions& options) {
  line.add_option("MODEL", options.model, "a model's folder, as training writes it")->required();
  line.add_option("FILES", options.files, "texts, a line each, plain or gzip (none or -: the standard input)");
  line.add_option("--beam", options.generate.beam, "hypotheses kept while searching (1: greedy)")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  line.add_option("--n-best", options.generate.n_best,
                  "translations of each line, at most as many as the beam; above 1 they come as line, score, text")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  line.add_option("--length-penalty", options.generate.length_penalty,
                  "scores are log-probability / length^penalty; more favours longer texts")
      ->check(CLI::Range(-10.0, 10.0))
      ->capture_default_str();
  line.add_option("--max-length", options.generate.max_tokens,
                  "most tokens of a translation (0: twice those of the source + 50)")
      ->check(CLI::Range(0, 1 << 20))
      ->capture_default_str();
  line.add_option("--texts-at-once", options.generate.texts_at_once, "lines translated side by side: bounds memory")
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  line.add_flag("--json", options.json, "for machines: one object a line");
}

}  // namespace

int run_translate(int argc, char** argv) {
  CommandLine line("translate", "Translates text line by line with a model that was trained here.",
                   "echo \"Good morning.\" | limpid translate MODEL");
  TranslateOptions options;
  add_options(line, options);
  if (const auto code = line.read(argc, argv)) return *code;
  if (options.generate.n_best > options.generate.beam) {
    fmt::print(stderr, "limpid translate: --n-best {} needs a --beam of at least {}\n", options.generate.n_best,
               options.generate.n_best);
    return 2;
  }
  LineTranslator(options).run();
  return 0;
}

}  // namespace limpid
