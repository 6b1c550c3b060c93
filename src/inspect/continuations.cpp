#include "inspect/continuations.h"

#include "base/error.h"

namespace limpid {

Continuations::Continuations(const Model& model, const Example& example, std::vector<int32_t> prefix)
    : model_(model), example_(example), prefix_(std::move(prefix)), written_(1) {
  const Config& config = model.config();
  check(config.writes(), "[look] an encoder writes nothing: take a model that does");
  if (example.changes) return;
  state_ = make_decoder_state(model);
  const bool goes_on = config.continues_text();
  next_ = state_->add(std::vector<std::vector<int32_t>>{goes_on ? example.batch.input.ids : example.batch.source.ids});
  for (const int32_t id : prefix_) {
    state_->step(next_);
    next_ = {id};
  }
}

bool Continuations::full() const {
  const bool goes_on = model_.config().continues_text();
  const auto read =
      static_cast<int64_t>((goes_on ? example_.batch.input.ids.size() : 1) + prefix_.size() + written_.front().size());
  return read > most_positions(model_.config());
}

void Continuations::read_whole() {
  const bool goes_on = model_.config().continues_text();
  whole_.clear();
  for (const std::vector<int32_t>& written : written_) {
    std::vector<int32_t> all = goes_on ? example_.batch.input.ids : std::vector<int32_t>{};
    all.insert(all.end(), prefix_.begin(), prefix_.end());
    all.insert(all.end(), written.begin(), written.end());
    if (!goes_on) all.push_back(0);  // the decoder's input is the target moved by one: the last id is not read
    Example longer = example_of(model_.config(), example_.batch.source.ids, all);
    longer.changes = example_.changes;
    const Tensor logits = forward_logits(model_, longer, nullptr);
    const real* last = logits.values().row(logits.rows() - 1);
    whole_.insert(whole_.end(), last, last + logits.cols());
  }
}

ConstMatrix Continuations::scores() {
  if (state_) {
    scores_ = state_->step(next_);
    return scores_.values();
  }
  read_whole();
  return {whole_.data(), rows(), static_cast<int64_t>(whole_.size()) / rows()};
}

void Continuations::go_on(std::span<const GenerationTask::Row> rows) {
  std::vector<std::vector<int32_t>> written;
  std::vector<int32_t> parents;
  next_.clear();
  for (const GenerationTask::Row& row : rows) {
    written.push_back(written_[row.parent]);
    written.back().push_back(row.id);
    parents.push_back(row.parent);
    next_.push_back(row.id);
  }
  written_ = std::move(written);
  if (state_) state_->reorder(parents);
}

}  // namespace limpid
