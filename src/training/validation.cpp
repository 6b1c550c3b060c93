#include "training/validation.h"

#include <algorithm>

#include "base/error.h"
#include "base/random.h"
#include "inference/generate.h"
#include "scoring/bleu.h"
#include "scoring/chrf.h"
#include "text/batches.h"
#include "text/word_tokenizer.h"
#include "training/example_batch.h"

namespace limpid {
namespace {

constexpr uint64_t kValidationMasks = 0x76616c6964;  // random numbers of validation: the same every time

double mean_loss(const Model& model, const Recipe& recipe, const Dataset& dataset, int64_t& right, int64_t& examples) {
  const Task task = task_of(recipe);
  Batches batches(*dataset.valid,
                  {.tokens = 4096, .window = recipe.data.unit == "stream" ? recipe.batch.window : 0, .shuffle = false});
  const Arena arena;
  double sum = 0;
  int64_t tokens = 0;
  for (uint64_t number = 0; batches.position().epoch == 0; ++number) {
    const Batch batch = make_batch(
        batches.next(), model.config(),
        {.task = task, .mask_share = recipe.mask_share, .key = random_key(recipe.seed, number, kValidationMasks)});
    Run run({.arena = arena});
    if (task == Task::classification) {
      const Tensor logits = model.logits(run, batch);
      std::vector<int32_t> labels;
      for (int32_t label : batch.labels)
        if (label >= 0) labels.push_back(label);
      for (int64_t row = 0; row < logits.rows(); ++row) {
        const real* scores = logits.values().row(row);
        right += std::max_element(scores, scores + logits.cols()) - scores == labels[row];
      }
      examples += logits.rows();
    }
    Run again({.arena = arena});
    const Loss loss = model.loss(again, batch, {});
    sum += loss.sum();
    tokens += loss.tokens();
  }
  return sum / static_cast<double>(tokens);
}

BleuOptions bleu_options(const Recipe& recipe) {
  const std::string& name = recipe.validation.tokenize;
  BleuOptions options{.lowercase = recipe.validation.lowercase};
  if (name == "intl")
    options.tokenizer = BleuTokenizer::intl;
  else if (name == "char")
    options.tokenizer = BleuTokenizer::character;
  else if (name == "none" || (name == "auto" && recipe.tokenizer.kind == "words"))
    options.tokenizer = BleuTokenizer::none;
  return options;
}

void translate_some(const Model& model, const Recipe& recipe, const Dataset& dataset, ValidationReport& report) {
  const bool scored = recipe.validation.metric != "loss";
  const int64_t wanted = scored ? recipe.validation.translate : recipe.validation.show;
  const int64_t count = std::min<int64_t>(wanted, static_cast<int64_t>(dataset.valid_texts.size()));
  if (count == 0) return;
  std::vector<std::vector<int32_t>> sources;
  for (int64_t i = 0; i < count; ++i) sources.push_back(dataset.valid->example(i).first);
  const auto written = translate(model, sources, {.beam = 1, .max_tokens = recipe.decode.max_tokens, .scores = false});
  const bool split = recipe.tokenizer.kind == "words";
  std::vector<std::string> hypotheses, references;
  int64_t exact = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto& [source, reference] = dataset.valid_texts[i];
    hypotheses.push_back(dataset.tokenizers.target->decode(written[i].at(0).ids));
    references.push_back(split ? join_subwords(reference) : reference);
    exact += hypotheses.back() == references.back();
    if (i < recipe.validation.show)
      report.shown.push_back({split ? join_subwords(source) : source, references.back(), hypotheses.back()});
  }
  if (!scored) return;
  report.bleu = bleu(hypotheses, references, bleu_options(recipe)).score;
  report.chrf = chrf(hypotheses, references, {.lowercase = recipe.validation.lowercase});
  report.exact = 100.0 * static_cast<double>(exact) / static_cast<double>(count);
}

}  // namespace

ValidationReport validate(const Model& model, const Recipe& recipe, const Dataset& dataset) {
  ValidationReport report;
  int64_t right = 0, examples = 0;
  report.loss = mean_loss(model, recipe, dataset, right, examples);
  if (examples > 0) report.exact = 100.0 * static_cast<double>(right) / static_cast<double>(examples);
  if (task_of(recipe) == Task::translation) translate_some(model, recipe, dataset, report);
  return report;
}

double metric_value(const ValidationReport& report, const std::string& metric) {
  if (metric == "loss") return report.loss;
  const std::optional<double> value = metric == "bleu" ? report.bleu : metric == "chrf" ? report.chrf : report.exact;
  check(value.has_value(), "[recipe] validation.metric is \"{}\", which this family of model does not have", metric);
  return *value;
}

bool is_better(double value, double than, const std::string& metric) {
  return metric == "loss" ? value < than : value > than;
}

double worst_value(const std::string& metric) { return metric == "loss" ? 1e30 : -1; }

}  // namespace limpid
