#include "inference/generate.h"

#include <algorithm>
#include <numeric>

#include "inference/beam_search.h"
#include "inference/decoder_state.h"

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
  };

  void admit();
  void step();
  int64_t longest(size_t source) const;

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

Translator::Translator(const Model& model, std::span<const std::vector<int32_t>> sources,
                       const GenerateOptions& options)
    : sources_(sources), options_(options), most_positions_(most_positions(model.config())), results_(sources.size()) {
  const Config& config = model.config();
  check_options(config, options);
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
  return std::min(asked, most_positions_ - 1);
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
    text.search.advance(top, first);
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
