#include "inspect/run_recording.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/paths.h"
#include "inspect/array_file.h"
#include "inspect/lens.h"
#include "inspect/tap_names.h"
#include "inspect/tap_rows.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int64_t kLongest = 24;      // tokens of the sentence
constexpr int64_t kLookedAt = 100;    // examples among which it is chosen
constexpr int64_t kRecordings = 400;  // more are thinned out

struct LensArrays {
  std::vector<real> probability, top_probability;
  std::vector<int32_t> top;
  Json tokens = Json::array();
};

LensArrays lens_arrays(const LensTable& table, const Tokenizer& tokenizer) {
  LensArrays arrays;
  for (size_t layer = 0; layer < table.layers.size(); ++layer) {
    Json row = Json::array();
    for (int64_t i = 0; i < table.positions; ++i) {
      const LensCell& cell = table.at(static_cast<int64_t>(layer), i);
      arrays.probability.push_back(static_cast<real>(cell.probability));
      arrays.top.push_back(cell.top.at(0).id);
      arrays.top_probability.push_back(static_cast<real>(cell.top.at(0).probability));
      row.push_back(piece_of(tokenizer, cell.top.at(0).id));
    }
    arrays.tokens.push_back(std::move(row));
  }
  return arrays;
}

// Of too many recordings every second one goes, from the first on; the last stays.
void thin_out(const fs::path& run) {
  const std::vector<int64_t> steps = recorded_steps(run);
  if (std::ssize(steps) <= kRecordings) return;
  std::error_code ignored;
  for (size_t i = 0; i + 1 < steps.size(); i += 2) fs::remove(recording_of(run, steps[i]), ignored);
}

}  // namespace

RunRecording::RunRecording(fs::path run, const TokenStore& valid) : folder_(std::move(run)) {
  for (int64_t i = 0; i < std::min(valid.size(), kLookedAt); ++i) {
    auto example = valid.example(i);
    const auto longest = std::max(std::ssize(example.first), std::ssize(example.second));
    if (!first_.empty() && (longest > kLongest || longest < 4)) continue;
    first_ = std::move(example.first);
    second_ = std::move(example.second);
    if (longest <= kLongest && longest >= 4) break;
  }
  first_.resize(std::min(first_.size(), static_cast<size_t>(kLongest)));
  second_.resize(std::min(second_.size(), static_cast<size_t>(kLongest)));
}

void RunRecording::record(const Model& model, const Tokenizers& tokenizers, int64_t step) const {
  const Config& config = model.config();
  if (first_.empty() || !config.labels.empty()) return;
  const bool two_sided = config.has_source();
  make_inner_folder(folder_ / "recorded");
  std::error_code error;
  for (const int64_t later : recorded_steps(folder_))
    if (later > step) fs::remove(recording_of(folder_, later), error);
  const std::vector<int32_t> source =
      two_sided ? with_end(first_, tokenizers.source->special().end) : std::vector<int32_t>{};
  Example example =
      example_of(config, source, two_sided ? with_end(second_, tokenizers.target->special().end) : first_);
  example.source = pieces_of(*tokenizers.source, source);
  example.input = pieces_of(*tokenizers.target, example.batch.input.ids);
  std::vector<std::string> patterns, attention;
  for (const TapInfo& tap : list_taps(model))
    if (tap.keys && (tap.name.ends_with(".pattern") || tap.name == "align")) patterns.push_back(tap.name);
  ArrayBytes arrays;
  const auto values = tap_values(model, example, patterns);
  for (const std::string& name : patterns) {
    const TapValues& tap = values.at(name);
    attention.push_back(name == "align" ? name : name.substr(0, name.rfind('.')));
    arrays.add(attention.back() + ".pattern", {tap.heads, tap.positions, tap.cols}, tap.all());
  }
  const LensTable lens = logit_lens(model, example, {.top = 1});
  const LensArrays numbers = lens_arrays(lens, *tokenizers.target);
  const std::vector<int64_t> shape = {std::ssize(lens.layers), lens.positions};
  arrays.add("lens.probability", shape, std::span<const real>(numbers.probability));
  arrays.add("lens.top", shape, std::span<const int32_t>(numbers.top));
  arrays.add("lens.top_probability", shape, std::span<const real>(numbers.top_probability));
  Json next = Json::array();
  for (const int32_t id : example.next) next.push_back(id < 0 ? Json() : Json(piece_of(*tokenizers.target, id)));
  const Json meta = {{"step", step},
                     {"text", (two_sided ? tokenizers.source : tokenizers.target)->decode(first_)},
                     {"target", two_sided ? Json(tokenizers.target->decode(second_)) : Json()},
                     {"layers", lens.layers},
                     {"attention", attention},
                     {"source", example.source},
                     {"input", example.input},
                     {"next", std::move(next)},
                     {"top_tokens", numbers.tokens}};
  const std::string text = meta.dump(-1, ' ', false, Json::error_handler_t::replace);
  write_text(recording_of(folder_, step), arrays.finish({{"format", "pt"}, {"limpid", text}}));
  thin_out(folder_);
}

std::vector<int64_t> recorded_steps(const fs::path& run) {
  std::vector<int64_t> steps;
  for (const fs::path& path : paths_in(run / "recorded")) {
    const std::string name = path.stem().string();
    int64_t step = -1;
    const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), step);
    if (path.extension() == ".safetensors" && wrong == std::errc() && end == name.data() + name.size())
      steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

fs::path recording_of(const fs::path& run, int64_t step) {
  return run / "recorded" / (std::to_string(step) + ".safetensors");
}

}  // namespace limpid
