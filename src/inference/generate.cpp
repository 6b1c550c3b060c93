#include "inference/generate.h"

#include <algorithm>
#include <numeric>

#include "inference/beam_search.h"
#include "inference/decoder_state.h"
#include "inference/sampling.h"

namespace limpid {
namespace {

// Many texts on one decoder state. A text's live hypotheses are neighbouring rows; a text that is done leaves at once,
// and waiting ones take its place.
class Translator {
 public:
  Translator(const Model& model, std::span<const std::vector<int32_t>> sources, const GenerateOptions& options);

  std::vector<std::vector<Hypothesis>> run();

 private:
  struct Text {
    size_t source;
    BeamSearch search;
    size_t forced = 0;  // tokens of the prefix that are written
  };

  void admit();
  void step();
  int64_t longest(size_t source) const;
  std::span<const int32_t> prefix(size_t source) const;
  void advance(Text& text, ConstMatrix logits, const TopTokens& top, int64_t first) const;

  std::span<const std::vector<int32_t>> sources_;
  GenerateOptions options_;
  int64_t most_positions_;
  TopOptions top_;
  std::unique_ptr<DecoderState> state_;
  std::vector<size_t> waiting_;  // the next one last
  std::vector<Text> texts_;
  std::vector<int32_t> ids_;  // the next token of each row
  std::vector<std::vector<Hypothesis>> results_;
};

void check_options(const Config& config, const GenerateOptions& options) {
  check(config.family == Family::seq2seq || config.family == Family::rnn_seq2seq,
        "[translate] a model of type \"{}\" does not translate: take an encoder-decoder model", config.model_type);
  check(config.eos_token.has_value(),
        "[translate] the config does not say which token ends a text: add \"eos_token_id\"");
  check(options.beam >= 1 && options.beam <= 1000, "[translate] a beam of {}: it is 1 to 1000", options.beam);
  check(options.n_best >= 1 && options.n_best <= options.beam,
        "[translate] {} hypotheses of a beam of {}: ask for 1 to {}, or widen the beam", options.n_best, options.beam,
        options.beam);
  check(options.max_tokens >= 0, "[translate] at most {} tokens: it is 0 (from the source) or more",
        options.max_tokens);
  check(options.texts_at_once >= 1, "[translate] {} texts at once: it takes one", options.texts_at_once);
}

void check_prefixes(const Config& config, const GenerateOptions& options, size_t sources) {
  const auto& prefixes = options.prefixes;
  check(prefixes.size() <= 1 || prefixes.size() == sources,
        "[translate] {} prefixes for {} texts: give none, one for all or one for each", prefixes.size(), sources);
  for (const auto& prefix : prefixes) {
    check(static_cast<int64_t>(prefix.size()) < most_positions(config),
          "[translate] a prefix of {} tokens and positions for {}: shorten it", prefix.size(), most_positions(config));
    for (const int32_t id : prefix)
      check(id >= 0 && id < config.vocab, "[translate] the prefix has a token {} and the model only {}", id,
            config.vocab);
  }
}

Translator::Translator(const Model& model, std::span<const std::vector<int32_t>> sources,
                       const GenerateOptions& options)
    : sources_(sources), options_(options), most_positions_(most_positions(model.config())), results_(sources.size()) {
  const Config& config = model.config();
  check_options(config, options);
  check_prefixes(config, options, sources.size());
  const auto end = static_cast<int32_t>(*config.eos_token);
  top_ = {.count = BeamSearch::candidates(options.beam), .watched = end};
  for (const auto& token : {config.pad_token, config.decoder_start_token})
    if (token && *token != end) top_.never.push_back(static_cast<int32_t>(*token));
  state_ = make_decoder_state(model);
  // Texts of like length run side by side, the longest first: then none is left alone at the end.
  waiting_.resize(sources.size());
  std::iota(waiting_.begin(), waiting_.end(), size_t{0});
  std::stable_sort(waiting_.begin(), waiting_.end(),
                   [&](size_t a, size_t b) { return sources[a].size() < sources[b].size(); });
}

// The start token takes the first position.
int64_t Translator::longest(size_t source) const {
  const int64_t asked =
      options_.max_tokens > 0 ? options_.max_tokens : 2 * static_cast<int64_t>(sources_[source].size()) + 50;
  return std::min(std::max(asked, static_cast<int64_t>(prefix(source).size())), most_positions_ - 1);
}

std::span<const int32_t> Translator::prefix(size_t source) const {
  if (options_.prefixes.empty()) return {};
  return options_.prefixes[options_.prefixes.size() == 1 ? 0 : source];
}

// While a prefix is written the text has one hypothesis and no choice.
void Translator::advance(Text& text, ConstMatrix logits, const TopTokens& top, int64_t first) const {
  const auto forced = prefix(text.source);
  if (text.forced == forced.size()) return text.search.advance(top, first);
  const std::span<const real> row(logits.row(first), static_cast<size_t>(logits.cols));
  const int32_t id = forced[text.forced++];
  text.search.force(id, static_cast<double>(row[id]) - log_sum_of_exp(row));
}

// New texts come a few at a time, so that the encoder has something to work on.
void Translator::admit() {
  const int64_t room = options_.texts_at_once - static_cast<int64_t>(texts_.size());
  const int64_t least = texts_.empty() ? 1 : std::max<int64_t>(1, options_.texts_at_once / 8);
  const int64_t count = std::min<int64_t>(room, static_cast<int64_t>(waiting_.size()));
  if (count == 0 || room < least) return;
  std::vector<std::vector<int32_t>> sources;
  for (int64_t i = 0; i < count; ++i) {
    const size_t source = waiting_.back();
    waiting_.pop_back();
    sources.push_back(sources_[source]);
    texts_.push_back({source, BeamSearch({.beam = options_.beam,
                                          .length_penalty = options_.length_penalty,
                                          .max_tokens = longest(source),
                                          .end = top_.watched})});
  }
  for (int32_t id : state_->add(sources)) ids_.push_back(id);
}

void Translator::step() {
  const Tensor logits = state_->step(ids_);
  const TopTokens top = top_tokens(logits.values(), top_);
  std::vector<int32_t> rows;
  std::vector<Text> going_on;
  ids_.clear();
  int64_t first = 0;
  for (Text& text : texts_) {
    const int64_t before = text.search.live();
    advance(text, logits.values(), top, first);
    for (int64_t i = 0; i < text.search.live(); ++i) {
      ids_.push_back(text.search.last(i));
      rows.push_back(static_cast<int32_t>(first + text.search.parent(i)));
    }
    first += before;
    if (text.search.live() > 0)
      going_on.push_back(std::move(text));
    else
      results_[text.source] = text.search.best(options_.n_best);
  }
  texts_ = std::move(going_on);
  state_->keep(rows);
}

std::vector<std::vector<Hypothesis>> Translator::run() {
  while (!waiting_.empty() || !texts_.empty()) {
    admit();
    step();
  }
  return std::move(results_);
}

}  // namespace

std::vector<std::vector<Hypothesis>> translate(const Model& model, std::span<const std::vector<int32_t>> sources,
                                               const GenerateOptions& options) {
  return Translator(model, sources, options).run();
}

}  // namespace limpid
