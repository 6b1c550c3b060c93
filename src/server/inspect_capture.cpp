// Values of taps: whole, cut or reduced; and how much every sub-layer wrote.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "inspect/capture.h"
#include "inspect/tap_names_json.h"
#include "inspect/tap_rows.h"
#include "server/http.h"
#include "server/inspect_reduce.h"
#include "server/inspect_views.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;
using Answer = InspectCall::Answer;

struct Range {
  int64_t first = 0, last = -1;  // last included; -1: to the end

  int64_t count(int64_t all) const { return std::max<int64_t>(0, end(all) - first); }
  int64_t end(int64_t all) const { return last < 0 ? all : std::min(last + 1, all); }
};

Range read_range(InspectCall& call, const char* name) {
  const std::vector<int64_t> given = call.fields.wholes(name);
  if (given.empty()) return {};
  if (given.size() != 2 || given[0] < 0 || given[1] < given[0])
    throw HttpError(400, fmt::format("\"{}\" is the first and the last, such as [0, 63].", name), {.param = name});
  return {given[0], given[1]};
}

struct Cut {
  std::vector<int64_t> positions, heads;
  Range columns, keys;
  Reduction reduction;

  std::vector<int64_t> chosen_positions(int64_t count) const {
    std::vector<int64_t> rows;
    for (int64_t i = 0; i < count; ++i)
      if (positions.empty() ||
          std::any_of(positions.begin(), positions.end(), [&](int64_t p) { return (p < 0 ? p + count : p) == i; }))
        rows.push_back(i);
    return rows;
  }
};

// Each position must be one of some tap's.
void check_positions(const Cut& cut, const std::vector<TapInfo>& taps, const Example& example) {
  const int64_t source = example.batch.source.sequences.tokens(), input = example.batch.input.sequences.tokens();
  int64_t most = 0;
  for (const TapInfo& tap : taps) most = std::max(most, tap.row_count(source, input));
  for (const int64_t p : cut.positions)
    if (p >= most || p < -most)
      throw HttpError(400, fmt::format("There is no position {}: these taps have {}.", p, most),
                      {.param = "positions"});
}

Cut read_cut(InspectCall& call) {
  return {.positions = call.fields.wholes("positions"),
          .heads = call.fields.wholes("heads"),
          .columns = read_range(call, "columns"),
          .keys = read_range(call, "keys"),
          .reduction = read_reduction(call, {})};
}

// Heads side by side in the columns of a row: queries, keys, values and what attention passes on.
bool has_heads(const TapInfo& tap) { return !tap.keys && tap.heads > 1; }

std::vector<int64_t> chosen_heads(const Cut& cut, const TapInfo& tap) {
  if (!tap.keys && !has_heads(tap)) return {0};
  for (const int64_t head : cut.heads)
    if (head < 0 || head >= tap.heads)
      throw HttpError(400, fmt::format("{} has {} heads, no head {}.", tap.name, tap.heads, head), {.param = "heads"});
  if (!cut.heads.empty()) return cut.heads;
  std::vector<int64_t> all(static_cast<size_t>(tap.heads));
  for (int64_t i = 0; i < tap.heads; ++i) all[i] = i;
  return all;
}

// One tap's numbers as they go out: (heads, rows, columns), or (rows, columns) of what has no heads.
struct CutArray {
  std::vector<int64_t> shape;
  std::vector<real> numbers;
  int64_t rows_per_cell = 1, columns_per_cell = 1;
};

CutArray cut_tap(const TapInfo& tap, const TapValues& values, const Cut& cut) {
  const std::vector<int64_t> rows = cut.chosen_positions(values.positions);
  const bool split = has_heads(tap) && !cut.heads.empty();
  const std::vector<int64_t> heads = tap.keys || split ? chosen_heads(cut, tap) : std::vector<int64_t>{0};
  const Range& range = tap.keys ? cut.keys : cut.columns;
  const int64_t width = split ? values.cols / tap.heads : values.cols;
  const int64_t first = std::min(range.first, width), columns = range.count(width);
  CutArray result;
  int64_t out_rows = std::ssize(rows), out_columns = columns;
  result.numbers.reserve(heads.size() * rows.size() * static_cast<size_t>(columns));
  for (const int64_t head : heads) {
    std::vector<real> part;
    std::vector<real>& matrix = cut.reduction.wanted() ? part : result.numbers;
    for (const int64_t row : rows) {
      const real* from = values.row(row, tap.keys ? head : 0) + (split ? head * width : 0) + first;
      matrix.insert(matrix.end(), from, from + columns);
    }
    if (!cut.reduction.wanted()) continue;
    const Reduced reduced = reduce({matrix.data(), std::ssize(rows), columns}, cut.reduction);
    out_rows = reduced.rows;
    out_columns = reduced.columns;
    result.rows_per_cell = reduced.rows_per_cell;
    result.columns_per_cell = reduced.columns_per_cell;
    result.numbers.insert(result.numbers.end(), reduced.values.begin(), reduced.values.end());
  }
  result.shape = tap.keys || split ? std::vector<int64_t>{std::ssize(heads), out_rows, out_columns}
                                   : std::vector<int64_t>{out_rows, out_columns};
  return result;
}

int64_t numbers_of(const TapInfo& tap, const Example& example, const Cut& cut) {
  const int64_t source = example.batch.source.sequences.tokens(), input = example.batch.input.sequences.tokens();
  int64_t rows = std::ssize(cut.chosen_positions(tap.row_count(source, input)));
  const bool split = has_heads(tap) && !cut.heads.empty();
  int64_t columns = tap.keys ? cut.keys.count(tap.key_count(source, input))
                             : cut.columns.count(split ? tap.cols / tap.heads : tap.cols);
  if (cut.reduction.rows > 0) rows = std::min(rows, cut.reduction.rows);
  if (cut.reduction.columns > 0) columns = std::min(columns, cut.reduction.columns);
  return rows * columns * (tap.keys || split ? std::ssize(chosen_heads(cut, tap)) : 1);
}

std::vector<TapInfo> wanted_taps(InspectCall& call) {
  const std::vector<std::string> patterns = call.fields.texts("taps");
  const std::vector<int64_t> layers = call.fields.wholes("layers");
  if (patterns.empty())
    throw HttpError(400, "Name the taps: \"taps\": [\"blocks.*.resid_post\"]; /inspect/taps lists all.",
                    {.param = "taps"});
  std::vector<TapInfo> taps;
  const std::vector<TapInfo>& known = call.unchanged().taps();
  for (const std::string& pattern : patterns)
    for (const TapInfo& tap : find_taps(known, pattern, call.config())) {
      const bool in_layers = layers.empty() || std::count(layers.begin(), layers.end(), layer_of(tap.name)) > 0;
      const bool there = std::any_of(taps.begin(), taps.end(), [&](const TapInfo& t) { return t.name == tap.name; });
      if (in_layers && !there) taps.push_back(tap);
    }
  if (taps.empty()) throw HttpError(400, "None of the taps lies in the chosen layers.", {.param = "layers"});
  return taps;
}

}  // namespace

Answer view_capture(InspectCall& call) {
  const std::vector<TapInfo> taps = wanted_taps(call);
  const Cut cut = read_cut(call);
  const Example& example = call.example();
  check_positions(cut, taps, example);
  int64_t bytes = 0;
  for (const TapInfo& tap : taps) bytes += 4 * numbers_of(tap, example, cut);
  call.check_tensors(bytes);
  const std::map<std::string, TapValues> values = call.values(taps);
  ArrayBytes arrays;
  Json list = Json::array(), reduced = Json::object();
  for (const TapInfo& tap : taps) {
    const auto found = values.find(tap.name);
    if (found == values.end()) continue;
    CutArray array = cut_tap(tap, found->second, cut);
    arrays.add(tap.name, array.shape, std::move(array.numbers));
    list.push_back({{"name", tap.name},
                    {"rows", axis_name(tap.rows)},
                    {"keys", tap.keys ? Json(axis_name(*tap.keys)) : Json()},
                    {"heads", tap.heads},
                    {"tokens", tokens_of(tap.rows, example)}});
    if (cut.reduction.wanted())
      reduced[tap.name] = {{"rows", array.rows_per_cell}, {"columns", array.columns_per_cell}};
  }
  Json meta = {{"taps", std::move(list)},
               {"positions", cut.positions.empty() ? Json() : Json(cut.positions)},
               {"source", example.source},
               {"input", example.input}};
  if (cut.reduction.wanted()) meta["reduced"] = std::move(reduced);
  std::vector<std::string> command;
  for (const std::string& tap : call.fields.texts("taps")) command.insert(command.end(), {"--tap", tap});
  for (const int64_t layer : call.fields.wholes("layers"))
    command.insert(command.end(), {"--layer", std::to_string(layer)});
  for (const int64_t p : cut.positions) command.insert(command.end(), {"--position", std::to_string(p)});
  command.insert(command.end(), {"--out", "capture.safetensors"});
  return call.tensors(arrays, std::move(meta), "capture", command);
}

Answer view_norms(InspectCall& call) {
  const Example& example = call.example();
  std::vector<TapInfo> taps;
  for (const TapInfo& tap : call.unchanged().taps()) {
    const std::string name = tap.name.substr(tap.name.rfind('.') + 1);
    constexpr std::string_view kWritten[] = {"embed",   "pos_embed", "attn_out",   "cross_attn_out",
                                             "ffn_out", "resid_pre", "resid_post", "h"};
    if (!tap.keys && tap.rows != TapAxis::text && std::count(std::begin(kWritten), std::end(kWritten), name) > 0)
      taps.push_back(tap);
  }
  call.check_tensors(0);  // some numbers per position
  const std::map<std::string, TapValues> values = call.values(taps);
  ArrayBytes arrays;
  Json meta = {{"source", example.source}, {"input", example.input}};
  for (const TapAxis axis : {TapAxis::source, TapAxis::input}) {
    std::vector<real> lengths;
    std::vector<std::string> names;
    int64_t positions = 0;
    for (const TapInfo& tap : taps) {
      const auto found = values.find(tap.name);
      if (tap.rows != axis || found == values.end()) continue;
      names.push_back(tap.name);
      positions = found->second.positions;
      for (int64_t i = 0; i < positions; ++i) {
        double square = 0;
        for (int64_t j = 0; j < found->second.cols; ++j)
          square += static_cast<double>(found->second.row(i)[j]) * static_cast<double>(found->second.row(i)[j]);
        lengths.push_back(static_cast<real>(std::sqrt(square)));
      }
    }
    if (names.empty()) continue;
    const std::string name = call.session().two_sided() ? fmt::format("norms.{}", axis_name(axis)) : "norms";
    arrays.add(name, {std::ssize(names), positions}, std::span<const real>(lengths));
    meta[call.session().two_sided() ? fmt::format("taps.{}", axis_name(axis)) : "taps"] = names;
  }
  return call.tensors(arrays, std::move(meta), "capture",
                      {"--tap", "*resid_post", "--tap", "*_out", "--out", "stream.safetensors"});
}

}  // namespace limpid
