#include "inference/decoder_state.h"

#include <algorithm>
#include <limits>

#include "inference/recurrent_state.h"
#include "inference/transformer_state.h"

namespace limpid {
namespace {

// So few that their scores are looked at while they lie in the cache; unless the output's matrix is too large to lie
// there too and be read again for others.
int64_t rows_at_once(const Output& output) {
  constexpr int64_t kFewRows = 48, kSmallMatrix = int64_t{4} << 20;
  return output.weight().size() <= kSmallMatrix ? kFewRows : std::numeric_limits<int64_t>::max();
}

}  // namespace

void DecoderState::begin(std::span<const std::vector<int32_t>> texts, std::span<const int64_t> limits) {
  for (const auto& text : texts)
    check(!text.empty(),
          "[decoder] a text without tokens: a source ends at least with its end token, and a text to go "
          "on from begins with the token that starts one");
  for (size_t i = 0; i < texts.size(); ++i) unread_.push_back({texts[i], limits.empty() ? 0 : limits[i]});
}

void DecoderState::drop_unread(int64_t index) { unread_.erase(unread_.begin() + index); }

int64_t DecoderState::tokens_within(double budget, const ReadingCost& cost) const {
  constexpr double kMost = 1e9;
  return static_cast<int64_t>(std::clamp(budget / std::max(cost.token, 1e-12), 0.0, kMost));
}

std::vector<int32_t> DecoderState::add(std::span<const std::vector<int32_t>> texts, std::span<const int64_t> limits) {
  begin(texts, limits);
  return read_on(std::numeric_limits<int64_t>::max());
}

std::vector<int32_t> SourceState::read_on(int64_t tokens) {
  std::vector<std::vector<int32_t>> sources;
  std::vector<int64_t> limits;
  for (; !unread_.empty(); unread_.pop_front()) {
    const auto length = static_cast<int64_t>(unread_.front().text.size());
    if (!sources.empty() && length > tokens) break;
    tokens -= length;
    prompt_tokens_ += length;
    sources.push_back(std::move(unread_.front().text));
    limits.push_back(unread_.front().limit);
  }
  if (!sources.empty()) read_sources(sources, limits);
  return std::vector<int32_t>(sources.size(), start());
}

Tensor DecoderState::scores(const Tensor& x) const {
  Run run({.arena = arena_, .probe = probe_});
  return output().logits(run, x, Sequences(std::vector<int64_t>(static_cast<size_t>(x.rows()), 1)));
}

Tensor DecoderState::step(std::span<const int32_t> ids) { return scores(read(ids)); }

void DecoderState::step(std::span<const int32_t> ids, const std::function<void(int64_t first, Matrix scores)>& look) {
  const Tensor x = read(ids);
  const int64_t at_once = probe_ ? x.rows() : std::min(x.rows(), rows_at_once(output()));  // a probe sees all together
  for (int64_t first = 0; first < x.rows(); first += at_once) {
    Tensor part = scores(x.slice(first, std::min(at_once, x.rows() - first)));
    look(first, part.values());
  }
}

std::unique_ptr<DecoderState> make_decoder_state(const Model& model) {
  if (const auto* seq2seq = dynamic_cast<const Seq2Seq*>(&model)) return std::make_unique<Seq2SeqState>(*seq2seq);
  if (const auto* rnn = dynamic_cast<const RnnSeq2Seq*>(&model)) return std::make_unique<RecurrentDecoderState>(*rnn);
  if (const auto* writer = dynamic_cast<const LanguageModel*>(&model))
    return std::make_unique<LanguageModelState>(*writer);
  fail("[decoder] a model of type \"{}\" reads but does not write: take a language model or an encoder-decoder model",
       model.config().model_type);
}

int32_t start_token(const Config& config) {
  check(config.decoder_start_token.has_value(),
        "[model] the config does not say which token a translation starts with: add \"decoder_start_token_id\"");
  return static_cast<int32_t>(*config.decoder_start_token);
}

int64_t most_positions(const Config& config) {
  const bool has_table = !config.recurrent() &&
                         (config.positions == PositionKind::learned || config.positions == PositionKind::sinusoidal);
  return has_table ? config.max_positions : std::numeric_limits<int64_t>::max();
}

int64_t context_length(const Config& config) {
  const int64_t most = most_positions(config);
  return config.max_positions > 0 && !config.recurrent() ? std::min(config.max_positions, most) : most;
}

}  // namespace limpid
