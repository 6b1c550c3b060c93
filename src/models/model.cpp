#include "models/model.h"

#include <algorithm>

#include "models/encoder.h"
#include "models/language_model.h"
#include "models/rnn_seq2seq.h"
#include "models/seq2seq.h"

namespace limpid {
namespace {

using Rows = std::vector<std::vector<int32_t>>;

bool is_scored(int32_t label) { return label >= 0; }

std::vector<int32_t> scored_labels(const Batch& batch) {
  std::vector<int32_t> labels;
  std::copy_if(batch.labels.begin(), batch.labels.end(), std::back_inserter(labels), is_scored);
  return labels;
}

}  // namespace

Batch Batch::pairs(const Rows& source, const Rows& target, int32_t decoder_start) {
  check(source.size() == target.size(), "[batch] {} sources for {} targets", source.size(), target.size());
  Batch batch;
  batch.source = Tokens::of(source);
  Rows input;
  for (const auto& row : target) {
    check(!row.empty(), "[batch] an empty target: every target ends with the end-of-sentence token");
    input.push_back({decoder_start});
    input.back().insert(input.back().end(), row.begin(), row.end() - 1);
    batch.labels.insert(batch.labels.end(), row.begin(), row.end());
  }
  batch.input = Tokens::of(input);
  return batch;
}

Batch Batch::next_tokens(const Rows& texts) {
  Batch batch;
  Rows input;
  for (const auto& row : texts) {
    check(row.size() >= 2, "[batch] a text of {} tokens: it takes two to predict one", row.size());
    input.emplace_back(row.begin(), row.end() - 1);
    batch.labels.insert(batch.labels.end(), row.begin() + 1, row.end());
  }
  batch.input = Tokens::of(input);
  return batch;
}

Batch Batch::masked(const Rows& tokens, const Rows& labels) {
  Batch batch;
  batch.input = Tokens::of(tokens);
  for (const auto& row : labels) batch.labels.insert(batch.labels.end(), row.begin(), row.end());
  check(batch.labels.size() == batch.input.ids.size(), "[batch] {} labels for {} tokens", batch.labels.size(),
        batch.input.ids.size());
  return batch;
}

Tensor Model::scored(Run& run, const Tensor& x, const Batch& batch) const {
  if (std::all_of(batch.labels.begin(), batch.labels.end(), is_scored)) return x;
  std::vector<int32_t> rows;
  for (size_t i = 0; i < batch.labels.size(); ++i)
    if (is_scored(batch.labels[i])) rows.push_back(static_cast<int32_t>(i));
  return select_rows(run, x, rows);
}

Sequences Model::scored_rows(const Batch& batch) {
  std::vector<int64_t> lengths;
  const Sequences& tokens = batch.input.sequences;
  for (int64_t i = 0; i < tokens.count(); ++i) {
    const auto begin = batch.labels.begin() + tokens.begin(i);
    lengths.push_back(std::count_if(begin, begin + tokens.length(i), is_scored));
  }
  return Sequences(lengths);
}

Tensor Model::logits(Run& run, const Batch& batch) const {
  check_output();
  return output_.logits(run, forward(run, batch), scored_rows(batch));
}

void Model::check_output() const {
  check(!output_.none(), "[model] this {} ends in vectors and has no words or labels to choose from: use limpid embed",
        config_.model_type);
}

Loss Model::loss(Run& run, const Batch& batch, const LossOptions& options) const {
  check_output();
  return output_.loss(run, forward(run, batch), scored_rows(batch), scored_labels(batch), options);
}

std::unique_ptr<Model> make_model(const Config& config) {
  switch (config.family) {
    case Family::seq2seq: return std::make_unique<Seq2Seq>(config);
    case Family::language_model: return std::make_unique<LanguageModel>(config);
    case Family::encoder: return std::make_unique<Encoder>(config);
    case Family::rnn_seq2seq: return std::make_unique<RnnSeq2Seq>(config);
  }
  fail("[model] unknown family");
}

}  // namespace limpid
