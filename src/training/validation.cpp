#include "training/validation.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/json.h"
#include "base/random.h"
#include "cluster/shard_tree.h"
#include "inference/generate.h"
#include "scoring/bleu.h"
#include "scoring/chrf.h"
#include "text/batches.h"
#include "text/word_tokenizer.h"
#include "training/example_batch.h"

namespace limpid {
namespace {

constexpr uint64_t kValidationMasks = 0x76616c6964;  // random numbers of validation: the same every time

// What one batch comes to.
struct BatchScore {
  double loss = 0;
  int64_t tokens = 0, right = 0, examples = 0;
};

BatchScore score(const Model& model, const Batch& batch, Task task, const Arena& arena) {
  BatchScore result;
  Run run({.arena = arena});
  if (task == Task::classification) {
    const Tensor logits = model.logits(run, batch);
    std::vector<int32_t> labels;
    for (int32_t label : batch.labels)
      if (label >= 0) labels.push_back(label);
    for (int64_t row = 0; row < logits.rows(); ++row) {
      const real* scores = logits.values().row(row);
      result.right += std::max_element(scores, scores + logits.cols()) - scores == labels[row];
    }
    result.examples = logits.rows();
  }
  Run again({.arena = arena});
  const Loss loss = model.loss(again, batch, {});
  result.loss = loss.sum();
  result.tokens = loss.tokens();
  return result;
}

// Batches go to the ranks in turn.
std::vector<BatchScore> score_batches(const Model& model, const Recipe& recipe, const Dataset& dataset,
                                      Courier& ranks) {
  Batches batches(*dataset.valid,
                  {.tokens = 4096, .window = recipe.data.unit == "stream" ? recipe.batch.window : 0, .shuffle = false});
  const Arena arena;
  std::string mine;
  size_t count = 0;
  for (; batches.position().epoch == 0; ++count) {
    const std::vector<TokenExample> examples = batches.next();
    if (static_cast<int>(count % static_cast<size_t>(ranks.size())) != ranks.rank()) continue;
    const Batch batch = make_batch(examples, model.config(),
                                   {.task = task_of(recipe),
                                    .mask_share = recipe.mask_share,
                                    .key = random_key(recipe.seed, count, kValidationMasks)});
    const BatchScore one = score(model, batch, task_of(recipe), arena);
    mine.append(reinterpret_cast<const char*>(&one), sizeof(one));
  }
  const std::vector<std::string> all = ranks.gather(mine);
  std::vector<BatchScore> scores(count);
  for (size_t i = 0; i < count; ++i)
    std::memcpy(&scores[i], all[i % all.size()].data() + i / all.size() * sizeof(BatchScore), sizeof(BatchScore));
  return scores;
}

// Every rank translates the sentences that follow its predecessor's.
std::vector<std::vector<int32_t>> translate_shared(const Model& model, const Recipe& recipe, const Dataset& dataset,
                                                   int64_t count, Courier& ranks) {
  std::vector<std::vector<int32_t>> sources;
  const ShardRange own = shards_of_rank(count, ranks.rank(), ranks.size());
  for (int64_t i = own.begin; i < own.end; ++i) sources.push_back(dataset.valid->example(i).first);
  nlohmann::json mine = nlohmann::json::array();
  if (!sources.empty())
    for (const auto& written :
         translate(model, sources, {.beam = 1, .max_tokens = recipe.decode.max_tokens, .scores = false}))
      mine.push_back(written.at(0).ids);
  std::vector<std::vector<int32_t>> result;
  for (const std::string& text : ranks.gather(mine.dump()))
    for (const auto& ids : parse_json(text, "[ranks] what another rank says"))
      result.push_back(ids.get<std::vector<int32_t>>());
  return result;
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

void translate_some(const Model& model, const Recipe& recipe, const Dataset& dataset, Courier& ranks,
                    ValidationReport& report) {
  const bool scored = recipe.validation.metric != "loss";
  const int64_t wanted = scored ? recipe.validation.translate : recipe.validation.show;
  const int64_t count = std::min<int64_t>(wanted, static_cast<int64_t>(dataset.valid_texts.size()));
  if (count == 0) return;
  const auto written = translate_shared(model, recipe, dataset, count, ranks);
  const bool split = recipe.tokenizer.kind == "words";
  std::vector<std::string> hypotheses, references;
  int64_t exact = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto& [source, reference] = dataset.valid_texts[i];
    hypotheses.push_back(dataset.tokenizers.target->decode(written[i]));
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

ValidationReport validate(const Model& model, const Recipe& recipe, const Dataset& dataset, Courier& ranks) {
  ValidationReport report;
  BatchScore sum;
  for (const BatchScore& one : score_batches(model, recipe, dataset, ranks)) {
    sum.loss += one.loss;
    sum.tokens += one.tokens;
    sum.right += one.right;
    sum.examples += one.examples;
  }
  report.loss = sum.loss / static_cast<double>(sum.tokens);
  if (sum.examples > 0) report.exact = 100.0 * static_cast<double>(sum.right) / static_cast<double>(sum.examples);
  if (task_of(recipe) == Task::translation) translate_some(model, recipe, dataset, ranks, report);
  return report;
}

ValidationReport validate(const Model& model, const Recipe& recipe, const Dataset& dataset) {
  Courier alone(make_lone_communicator());
  return validate(model, recipe, dataset, alone);
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
