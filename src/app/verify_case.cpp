#include "app/verify_case.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/json.h"
#include "formats/model_folder.h"
#include "training/optimizer.h"

namespace limpid {
namespace {

using Rows = std::vector<std::vector<int32_t>>;

struct Case {
  SafetensorsFile expected;
  std::unique_ptr<Model> model;
  std::unique_ptr<Parameters> parameters;
  Batch batch;
};

Batch read_batch(const std::filesystem::path& path, const Config& config) {
  const nlohmann::json json = read_json(path);
  auto rows = [&](const char* name) {
    check(json.contains(name), "[verify] {}: no \"{}\"", path, name);
    Rows result;
    try {
      for (const auto& row : json.at(name).get<std::vector<std::vector<int64_t>>>()) {
        result.emplace_back();
        for (const int64_t id : row) {
          check(id < config.vocab, "[verify] {}: \"{}\" has a token {} and the model only {}", path, name, id,
                config.vocab);
          result.back().push_back(id < 0 ? -1 : static_cast<int32_t>(id));  // below zero: not scored
        }
      }
    } catch (const nlohmann::json::exception&) {
      fail("[verify] {}: \"{}\" is not a list of lists of token ids", path.string(), name);
    }
    return result;
  };
  if (config.has_source()) {
    check(config.decoder_start_token.has_value(), "[verify] the config has no decoder_start_token_id");
    return Batch::pairs(rows("source"), rows("target"), static_cast<int32_t>(*config.decoder_start_token));
  }
  return config.continues_text() ? Batch::next_tokens(rows("tokens")) : Batch::masked(rows("tokens"), rows("labels"));
}

Case open_case(const std::filesystem::path& folder) {
  Case c{SafetensorsFile(folder / "expected.safetensors"), nullptr, nullptr, {}};
  const Config config = load_config((folder / "config.json").string());
  c.model = make_model(config);
  c.parameters =
      std::make_unique<Parameters>([&](const WeightVisitor& visitor) { c.model->visit_parameters(visitor); });
  read_weights(SafetensorsFolder(folder), *c.parameters);
  c.batch = read_batch(folder / "batch.json", config);
  return c;
}

std::vector<real> numbers_of(const SafetensorsEntry& entry) {
  std::vector<real> numbers(entry.count());
  read_reals(entry, numbers.data());
  return numbers;
}

double largest(const std::vector<real>& numbers) {
  double most = 0;
  for (real x : numbers) most = std::max(most, std::abs(static_cast<double>(x)));
  return most;
}

double relative_error(const std::vector<real>& got, const std::vector<real>& expected) {
  return largest_difference(got, expected) / largest(expected);
}

void append(std::vector<real>& numbers, ConstMatrix rows) {
  for (int64_t i = 0; i < rows.rows; ++i) numbers.insert(numbers.end(), rows.row(i), rows.row(i) + rows.cols);
}

// What a tap shows of the batch's first sequence.
void append_first_sequence(std::vector<real>& numbers, const Tap& tap) {
  int64_t place = 0;
  if (tap.layout.order) {  // recurrent: one row per step, until the sequence ends
    const auto& order = *tap.layout.order;
    place = std::find(order.begin(), order.end(), 0) - order.begin();
    if (place >= tap.layout.rows->count()) return;
  }
  if (!tap.layout.keys) return append(numbers, tap.sequence(place));
  for (int64_t head = 0; head < tap.layout.heads; ++head) append(numbers, tap.pairs(place, head));
}

void verify_values(const Case& c, CaseReport& report) {
  Run run({});
  std::vector<real> logits;
  append(logits, std::as_const(*c.model).logits(run, c.batch).values());
  report.logits.note(relative_error(logits, numbers_of(c.expected.get("logits"))), "logits");

  std::map<std::string, std::vector<real>> seen;
  FunctionProbe probe;
  for (const SafetensorsEntry& entry : c.expected.entries())
    if (entry.name.starts_with("act."))
      probe.on(entry.name.substr(4), [&](const Tap& tap) { append_first_sequence(seen["act." + tap.name], tap); });
  Run watched({.probe = &probe});
  c.model->forward(watched, c.batch, TokenChoice::labelled(c.batch));
  for (const SafetensorsEntry& entry : c.expected.entries())
    if (entry.name.starts_with("act."))
      report.activations.note(relative_error(seen[entry.name], numbers_of(entry)), entry.name);
}

double backward(const Case& c, const Arena& arena, Gradients& gradients) {
  gradients.clear();
  Tape tape(arena, &gradients);
  Run run({.arena = arena, .tape = &tape});
  const Loss loss = c.model->loss(run, c.batch, {.smoothing = static_cast<real>(0.1)});
  tape.backward();
  gradients.finish();
  return loss.mean();
}

void verify_gradients(const Case& c, Gradients& gradients, CaseReport& report) {
  std::vector<Weight> learned = c.parameters->weights();
  std::erase_if(learned, [](const Weight& weight) { return !weight.trainable; });
  double most = 0;
  for (const Weight& weight : learned)
    most = std::max(most, largest(numbers_of(c.expected.get("grad." + weight.name))));
  for (const Weight& weight : learned) {
    std::vector<real> expected = numbers_of(c.expected.get("grad." + weight.name));
    if (weight.file_rows) {  // rows that lie otherwise in memory
      const std::vector<real> theirs = expected;
      copy_from_file_order(*weight.file_rows, reinterpret_cast<const std::byte*>(theirs.data()),
                           weight.size() / weight.shape[0] * static_cast<int64_t>(sizeof(real)),
                           reinterpret_cast<std::byte*>(expected.data()));
    }
    std::vector<real> got;
    append(got, gradients.of(weight));
    report.gradients.note(largest_difference(got, expected) / std::max(largest(expected), 1e-3 * most), weight.name);
  }
}

}  // namespace

double largest_difference(const std::vector<real>& got, const std::vector<real>& expected) {
  if (got.size() != expected.size()) return std::nan("");
  double most = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double difference = std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
    if (std::isnan(difference)) return difference;
    most = std::max(most, difference);
  }
  return most;
}

std::string case_name(const std::filesystem::path& folder) {
  const std::filesystem::path whole = std::filesystem::absolute(folder).lexically_normal();
  return whole.filename().empty() ? whole.parent_path().filename().string() : whole.filename().string();
}

void LargestError::note(double candidate, const std::string& name) {
  ++compared;
  if (std::isnan(error)) return;  // nothing is worse
  if (!(candidate <= error)) {
    error = candidate;
    where = name;
  }
}

bool CaseReport::passed() const {
  auto within = [](const LargestError& e, double tolerance) { return e.error <= tolerance; };
  if (values_only)
    return activations.compared > 0 && within(logits, tolerances.values) && within(activations, tolerances.values);
  return logits.compared > 0 && gradients.compared > 0 && adam.compared > 0 && within(logits, tolerances.values) &&
         within(loss, tolerances.values) && within(activations, tolerances.values) &&
         within(gradients, tolerances.gradients) && within(adam, tolerances.values);
}

CaseReport verify_case(const std::filesystem::path& folder) {
  Case c = open_case(folder);
  CaseReport report;
  report.name = case_name(folder);
  for (const Weight& weight : c.parameters->weights()) report.parameters += weight.size();
  verify_values(c, report);

  const Arena arena;
  Gradients gradients(*c.parameters);
  Optimizer optimizer(*c.parameters, {.beta1 = 0.9, .beta2 = 0.98, .eps = 1e-9});
  const std::vector<real> losses = numbers_of(c.expected.get("losses"));
  for (size_t i = 0; i < losses.size(); ++i) {
    const double loss = backward(c, arena, gradients);
    if (i == 0) {
      report.loss.note(relative_error({static_cast<real>(loss)}, numbers_of(c.expected.get("loss"))), "loss");
      verify_gradients(c, gradients, report);
    }
    report.adam.note(relative_error({static_cast<real>(loss)}, {losses[i]}), "step " + std::to_string(i));
    optimizer.step(*c.parameters, gradients, 1e-3);
  }
  return report;
}

}  // namespace limpid
