#include "models/model.h"

#include <algorithm>

#include "models/encoder.h"
#include "models/language_model.h"
#include "models/rnn_seq2seq.h"
#include "models/seq2seq.h"

namespace limpid {
namespace {

using Rows = std::vector<std::vector<int32_t>>;

bool has_label(int32_t label) { return label >= 0; }

std::vector<int32_t> labels_of(const Batch& batch) {
  std::vector<int32_t> labels;
  std::copy_if(batch.labels.begin(), batch.labels.end(), std::back_inserter(labels), has_label);
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

TokenChoice TokenChoice::of(std::vector<int32_t> tokens) {
  TokenChoice choice;
  choice.tokens_ = std::move(tokens);
  return choice;
}

TokenChoice TokenChoice::labelled(const Batch& batch) {
  if (std::all_of(batch.labels.begin(), batch.labels.end(), has_label)) return all();
  std::vector<int32_t> tokens;
  for (size_t i = 0; i < batch.labels.size(); ++i)
    if (has_label(batch.labels[i])) tokens.push_back(static_cast<int32_t>(i));
  return of(std::move(tokens));
}

TokenChoice TokenChoice::first_of_each(const Sequences& tokens) {
  std::vector<int32_t> first;
  for (int64_t i = 0; i < tokens.count(); ++i)
    if (tokens.length(i) > 0) first.push_back(static_cast<int32_t>(tokens.begin(i)));
  return of(std::move(first));
}

bool TokenChoice::holds(int64_t token) const {
  return !tokens_ || std::binary_search(tokens_->begin(), tokens_->end(), token);
}

Sequences TokenChoice::sequences(const Sequences& tokens) const {
  if (!tokens_) return tokens;
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < tokens.count(); ++i) {
    const auto begin = std::lower_bound(tokens_->begin(), tokens_->end(), tokens.begin(i));
    const auto end = std::lower_bound(begin, tokens_->end(), tokens.begin(i) + tokens.length(i));
    lengths.push_back(end - begin);
  }
  return Sequences(lengths);
}

Tensor TokenChoice::rows_of(Run& run, const Tensor& x) const { return tokens_ ? select_rows(run, x, *tokens_) : x; }

void Model::each_parameter(const std::function<void(const Weight&)>& use) const {
  // Visiting changes nothing, the visitor could: this one cannot.
  const_cast<Model*>(this)->visit_parameters([&](Weight& weight) { use(weight); });
}

std::unique_ptr<Model> Model::sharing_weights() const {
  std::unique_ptr<Model> model = make_model(config_);
  std::vector<const Weight*> from;
  each_parameter([&](const Weight& weight) { from.push_back(&weight); });
  model->visit_parameters([&, i = size_t{0}](Weight& weight) mutable { weight = *from.at(i++); });
  model->kept_ = kept_;
  return model;
}

Tensor Model::logits(Run& run, const Batch& batch, const TokenChoice& choice) const {
  check_output();
  return output_.logits(run, forward(run, batch, choice), choice.sequences(batch.input.sequences));
}

void Model::check_output() const {
  check(!output_.none(),
        "[model] this {} ends in vectors and has no words or labels to choose from: ask it for vectors",
        config_.model_type);
}

Loss Model::loss(Run& run, const Batch& batch, const LossOptions& options) const {
  check_output();
  check(batch.labels.size() == batch.input.ids.size(), "[model] {} labels for {} tokens", batch.labels.size(),
        batch.input.ids.size());
  const TokenChoice choice = TokenChoice::labelled(batch);
  return output_.loss(run, forward(run, batch, choice), choice.sequences(batch.input.sequences), labels_of(batch),
                      options);
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
