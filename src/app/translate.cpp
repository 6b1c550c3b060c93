// limpid translate: lines of text in, their translations out.

#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "app/command.h"
#include "app/input_lines.h"
#include "app/sampling_flags.h"
#include "inference/alignment.h"
#include "inference/complete.h"
#include "inference/decoder_state.h"
#include "inference/generate.h"
#include "inference/model_text.h"
#include "inference/score.h"

namespace limpid {
namespace {

// So many lines are read ahead: enough to put those of like length side by side.
constexpr size_t kLinesAtOnce = 1024;

struct TranslateOptions {
  std::string model;
  std::vector<std::string> files;
  GenerateOptions generate{.beam = 4};
  std::string prefix;
  bool sample = false;  // drawn instead of searched for
  CompletionOptions drawing;
  bool score = false;     // lines are pairs, whose score is told
  std::string alignment;  // empty: none; "all", "LAYER" or "LAYER.HEAD"
  bool json = false;
};

// "all", "3" or "3.1".
AlignmentOptions alignment_options(const std::string& text) {
  if (text.empty() || text == "all") return {};
  const size_t point = text.find('.');
  const std::string layer = text.substr(0, point), head = point == text.npos ? "0" : text.substr(point + 1);
  for (const std::string& number : {layer, head})
    check(!number.empty() && number.size() < 6 && number.find_first_not_of("0123456789") == number.npos,
          "[translate] --alignment {}: write \"all\", a layer such as 3, or a layer and a head such as 3.1", text);
  AlignmentOptions options{.layer = std::stol(layer)};
  if (point != text.npos) options.head = std::stol(head);
  return options;
}

class LineTranslator {
 public:
  explicit LineTranslator(const TranslateOptions& options) : options_(options), loaded_(load_model(options.model)) {
    for (const std::string& note : loaded_.config().notes) fmt::print(stderr, "limpid translate: {}\n", note);
    check(loaded_.tokenizers.source->special().end >= 0,
          "[translate] the source tokenizer has no end token: its vocabulary lacks \"</s>\"");
    alignment_ = alignment_options(options.alignment);
    if (!options.prefix.empty()) prefix_ = loaded_.tokenizers.target->encode(options.prefix);
  }

  void run() {
    InputLines input(options_.files);
    for (;;) {
      const std::vector<std::string> lines = input.next_lines(kLinesAtOnce);
      if (lines.empty()) return;
      options_.score ? score_lines(lines) : translate_lines(lines);
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
    const auto results = options_.sample ? draw_lines(sources) : search_lines(sources);
    size_t next = 0;
    for (size_t i = 0; i < lines.size(); ++i) {
      ++line_;
      if (blank[i])
        write(lines[i], {}, {{}});
      else
        write(lines[i], sources[next], results[next]);
      next += 1 - blank[i];
    }
  }

  std::vector<std::vector<Hypothesis>> search_lines(const std::vector<std::vector<int32_t>>& sources) const {
    GenerateOptions generate = options_.generate;
    if (!prefix_.empty()) generate.prefixes = {prefix_};
    return translate(*loaded_.model, sources, generate);
  }

  double normalised(double log_probability, size_t tokens) const {
    return log_probability / std::pow(static_cast<double>(tokens + 1), options_.generate.length_penalty);
  }

  // As many draws as hypotheses are asked for, in the order they were drawn.
  std::vector<std::vector<Hypothesis>> draw_lines(const std::vector<std::vector<int32_t>>& sources) const {
    std::vector<CompletionRequest> requests;
    for (const auto& source : sources)
      for (int64_t sample = 0; sample < options_.generate.n_best; ++sample) {
        requests.push_back({source, prefix_, options_.drawing, static_cast<uint64_t>(sample)});
        const auto twice = 2 * static_cast<int64_t>(source.size()) + 50;
        requests.back().options.max_tokens = options_.generate.max_tokens > 0 ? options_.generate.max_tokens : twice;
      }
    std::vector<std::vector<Hypothesis>> results(sources.size());
    size_t next = 0;
    for (const Completion& drawn :
         complete(*loaded_.model, *loaded_.tokenizers.target, requests, options_.generate.texts_at_once)) {
      Hypothesis hypothesis{.log_probability = drawn.log_probability,
                            .score = normalised(drawn.log_probability, drawn.tokens.size())};
      for (const WrittenToken& token : drawn.tokens) hypothesis.ids.push_back(token.id);
      results[next++ / static_cast<size_t>(options_.generate.n_best)].push_back(std::move(hypothesis));
    }
    return results;
  }

  // Pairs, a tab between source and translation.
  void score_lines(const std::vector<std::string>& lines) {
    std::vector<std::vector<int32_t>> sources, targets;
    for (const std::string& line : lines) {
      const size_t tab = line.find('\t');
      check(tab != std::string::npos,
            "[translate] line {} has no tab: --score takes a source and its translation with a tab between",
            line_ + static_cast<int64_t>(sources.size()) + 1);
      sources.push_back(input_ids(loaded_, std::string_view(line).substr(0, tab)));
      targets.push_back(target_ids(loaded_, std::string_view(line).substr(tab + 1)));
    }
    const auto scores = score_pairs(*loaded_.model, sources, targets);
    for (size_t i = 0; i < lines.size(); ++i) {
      ++line_;
      const double sum = scores[i].log_probability;
      targets[i].pop_back();
      const Hypothesis hypothesis{targets[i], sum, normalised(sum, targets[i].size())};
      write(lines[i].substr(0, lines[i].find('\t')), sources[i], {hypothesis});
    }
  }

  Alignment aligned(const std::vector<int32_t>& source, std::vector<int32_t> target) const {
    if (source.empty() || options_.alignment.empty()) return {};
    target.push_back(static_cast<int32_t>(*loaded_.config().eos_token));
    return align(*loaded_.model, {&source, 1}, {&target, 1}, alignment_).at(0);
  }

  // Links as pairs of token numbers, "0-0 1-2": Pharaoh's format.
  std::string links(const std::vector<int32_t>& source, const Hypothesis& hypothesis) const {
    std::string text;
    for (const auto& [from, to] : hard_links(aligned(source, hypothesis.ids)))
      text += fmt::format("{}{}-{}", text.empty() ? "" : " ", from, to);
    return text;
  }

  void write(const std::string& line, const std::vector<int32_t>& source, const std::vector<Hypothesis>& hypotheses) {
    if (options_.json) return write_json(line, source, hypotheses);
    for (const Hypothesis& hypothesis : hypotheses) {
      std::string text = loaded_.tokenizers.target->decode(hypothesis.ids);
      if (!options_.alignment.empty()) text += '\t' + links(source, hypothesis);
      if (options_.generate.n_best > 1 || options_.score)
        fmt::print("{}\t{:.4f}\t{}\n", line_, hypothesis.score, text);
      else
        fmt::print("{}\n", text);
    }
  }

  nlohmann::ordered_json alignment_json(const std::vector<int32_t>& source, const Hypothesis& hypothesis) const {
    const auto pieces = [](const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
      nlohmann::ordered_json result = nlohmann::ordered_json::array();
      for (const int32_t id : ids) result.push_back(tokenizer.piece(id));
      return result;
    };
    return {{"source_tokens", pieces(*loaded_.tokenizers.source, source)},
            {"target_tokens", pieces(*loaded_.tokenizers.target, hypothesis.ids)},
            {"links", links(source, hypothesis)},
            {"weights", aligned(source, hypothesis.ids)}};
  }

  void write_json(const std::string& source, const std::vector<int32_t>& ids,
                  const std::vector<Hypothesis>& hypotheses) const {
    nlohmann::ordered_json translations = nlohmann::ordered_json::array();
    for (const Hypothesis& hypothesis : hypotheses) {
      translations.push_back({{"text", loaded_.tokenizers.target->decode(hypothesis.ids)},
                              {"score", hypothesis.score},
                              {"log_probability", hypothesis.log_probability},
                              {"tokens", hypothesis.ids.size()}});
      if (!options_.alignment.empty()) translations.back()["alignment"] = alignment_json(ids, hypothesis);
    }
    const nlohmann::ordered_json line = {{"line", line_}, {"source", source}, {"translations", translations}};
    fmt::print("{}\n", line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  }

  const TranslateOptions& options_;
  LoadedModel loaded_;
  std::vector<int32_t> prefix_;
  AlignmentOptions alignment_;
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
  line.add_option("--prefix", options.prefix, "text that every translation must begin with");
  line.add_flag("--sample", options.sample, "draw translations instead of searching for the likeliest");
  add_sampling_flags(line, options.drawing.sampling);
  line.add_option("--seed", options.drawing.seed, "of --sample: same seed, same translation")->capture_default_str();
  line.add_flag("--score", options.score,
                "translate nothing: lines are a source and a translation with a tab between, and come out with scores");
  line.add_option(
      "--alignment", options.alignment,
      "tell which source token each token was written from, by cross-attention: all (the mean of all heads), "
      "a layer (3) or a layer and head (3.1); as pairs 0-0 1-2 behind a tab, with all weights in --json");
  line.add_flag("--json", options.json, "for machines: one object a line");
}

}  // namespace

int run_translate(int argc, char** argv) {
  CommandLine line("translate", "Translates text line by line with a model that was trained here.",
                   "echo \"Good morning.\" | limpid translate MODEL");
  TranslateOptions options;
  add_options(line, options);
  if (const auto code = line.read(argc, argv)) return *code;
  if (options.generate.n_best > options.generate.beam && !options.sample) {
    fmt::print(stderr, "limpid translate: --n-best {} needs a --beam of at least {}\n", options.generate.n_best,
               options.generate.n_best);
    return 2;
  }
  LineTranslator(options).run();
  return 0;
}

}  // namespace limpid
