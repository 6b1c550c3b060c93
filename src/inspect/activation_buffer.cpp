#include "inspect/activation_buffer.h"

#include <algorithm>

#include "base/error.h"

namespace limpid {
namespace {

bool is_held_out(int64_t place, int64_t every) { return every > 0 && place % every == every - 1; }

}  // namespace

RowsProbe::RowsProbe(const std::string& tap, std::function<void(ConstMatrix)> use) {
  on(tap, [use = std::move(use)](const Tap& value) { use(value.value.values()); });
}

ActivationBuffer::ActivationBuffer(const Session& session, const CorpusOptions& corpus,
                                   const ActivationBufferOptions& options)
    : session_(&session), corpus_(session, corpus), options_(options), random_(random_key(options.seed, 0, 11)) {
  const std::vector<TapInfo> taps = find_taps(list_taps(session.model()), options.tap, session.config());
  check(taps.size() == 1 && !taps[0].keys, "[sae] {} is not one tap of vectors: name one, such as blocks.0.ffn_out",
        options.tap);
  options_.tap = taps[0].name;
  width_ = taps[0].cols;
  constexpr int64_t kUsual = 64 << 20;  // bytes
  capacity_ = options.rows > 0 ? options.rows : std::max<int64_t>(kUsual / 4 / width_, 4096);
}

std::vector<Example> ActivationBuffer::next_batch() {
  std::vector<Example> batch;
  for (int64_t tokens = 0; tokens < options_.batch_tokens;) {
    auto example = corpus_.next();
    if (!example) {
      check(used_ > 0, "[sae] the corpus has no text to learn from: give a longer one");
      ++epochs_;
      used_ = place_ = 0;
      corpus_.restart();
      continue;
    }
    if (is_held_out(place_++, options_.hold_out)) continue;
    ++used_;
    tokens += example->positions() + example->batch.source.sequences.tokens();
    batch.push_back(std::move(*example));
  }
  return batch;
}

void ActivationBuffer::fill() {
  while (held_ < capacity_) {
    const std::vector<Example> batch = next_batch();
    texts_ += static_cast<int64_t>(batch.size());
    RowsProbe probe(options_.tap, [&](ConstMatrix rows) {
      const int64_t kept = std::min(rows.rows, capacity_ - held_);  // what does not fit is let go
      numbers_.resize(static_cast<size_t>((held_ + kept) * width_));
      for (int64_t i = 0; i < kept; ++i) std::copy_n(rows.row(i), width_, numbers_.data() + (held_ + i) * width_);
      held_ += kept;
    });
    Run run({.arena = arena_, .probe = &probe});
    const Batch joined = join_examples(session_->config(), batch);
    session_->model().forward(run, joined, TokenChoice::labelled(joined));
  }
}

void ActivationBuffer::draw(Matrix rows) {
  check(rows.rows <= capacity_ / 2, "[sae] a batch of {} vectors from a buffer of {}: take a larger buffer", rows.rows,
        capacity_);
  if (held_ < capacity_ / 2) fill();
  for (int64_t i = 0; i < rows.rows; ++i) {
    const int64_t chosen = random_.below(held_--);
    real* taken = numbers_.data() + chosen * width_;
    std::copy_n(taken, width_, rows.row(i));
    if (chosen != held_) std::copy_n(numbers_.data() + held_ * width_, width_, taken);
  }
}

void each_held_out(const Session& session, const CorpusOptions& corpus, const ActivationBufferOptions& options,
                   const std::function<bool(const std::vector<Example>&)>& use) {
  CorpusExamples examples(session, corpus);
  std::vector<Example> batch;
  int64_t tokens = 0;
  for (int64_t place = 0;; ++place) {
    auto example = examples.next();
    if (example && options.hold_out > 0 && !is_held_out(place, options.hold_out)) continue;
    if (example) {
      tokens += example->positions();
      batch.push_back(std::move(*example));
    }
    if (batch.empty() || (example && tokens < options.batch_tokens)) {
      if (!example) return;
      continue;
    }
    if (!use(batch) || !example) return;
    batch.clear();
    tokens = 0;
  }
}

}  // namespace limpid
