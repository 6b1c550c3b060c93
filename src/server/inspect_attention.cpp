// Attention: all heads as thumbnails, one head step by step, what heads do, and word alignment.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/parallel.h"
#include "inspect/alignment_json.h"
#include "inspect/head_statistics_json.h"
#include "inspect/tap_rows.h"
#include "inspect/weights.h"
#include "server/http.h"
#include "server/inspect_reduce.h"
#include "server/inspect_relative.h"
#include "server/inspect_texts.h"
#include "server/inspect_views.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;
using Answer = InspectCall::Answer;

// "decoder.1.cross_attn.pattern" without its layer and end: "decoder.cross_attn".
std::string group_of(const std::string& pattern) {
  if (pattern == "align") return pattern;
  const std::string attention = pattern.substr(0, pattern.rfind('.'));
  return attention.substr(0, attention.find('.')) + attention.substr(attention.rfind('.'));
}

std::vector<TapInfo> patterns_of(InspectCall& call, const std::string& wanted) {
  std::vector<TapInfo> taps;
  for (const TapInfo& tap : call.unchanged().taps()) {
    if (!tap.keys || !(tap.name.ends_with(".pattern") || tap.name == "align")) continue;
    const bool chosen = wanted.empty() || group_of(tap.name).ends_with(wanted) || matches_pattern(wanted, tap.name) ||
                        matches_pattern(wanted + ".pattern", tap.name);
    if (chosen) taps.push_back(tap);
  }
  if (taps.empty())
    throw HttpError(
        400,
        wanted.empty() ? "This model has no attention." : fmt::format("This model has no attention \"{}\".", wanted),
        {.param = "attention"});
  return taps;
}

// The columns of one head.
std::vector<real> columns_of(const TapValues& values, int64_t head, int64_t heads) {
  const int64_t size = values.cols / heads;
  std::vector<real> columns;
  for (int64_t i = 0; i < values.positions; ++i)
    columns.insert(columns.end(), values.row(i) + head * size, values.row(i) + (head + 1) * size);
  return columns;
}

double dot(const real* a, const real* b, int64_t size) {
  double sum = 0;
  for (int64_t i = 0; i < size; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

// q·kᵀ
std::vector<real> products_of(const std::vector<real>& q, const std::vector<real>& k, int64_t size) {
  const int64_t queries = std::ssize(q) / size, keys = std::ssize(k) / size;
  std::vector<real> products(static_cast<size_t>(queries * keys));
  parallel_for(queries, [&](int64_t i) {
    for (int64_t j = 0; j < keys; ++j)
      products[static_cast<size_t>(i * keys + j)] =
          static_cast<real>(dot(q.data() + i * size, k.data() + j * size, size));
  });
  return products;
}

// What one head writes into the residual stream: its part of the output projection, without the bias.
std::vector<real> written_by(const Projection& output, const std::vector<real>& z, int64_t positions, int64_t head) {
  const int64_t size = std::ssize(z) / positions;
  std::vector<real> written(static_cast<size_t>(positions * output.outputs));
  parallel_for(positions, [&](int64_t i) {
    for (int64_t o = 0; o < output.outputs; ++o)
      written[static_cast<size_t>(i * output.outputs + o)] =
          static_cast<real>(dot(z.data() + i * size, output.row(o) + head * size, size));
  });
  return written;
}

Answer view_recurrent_attention(InspectCall& call) {
  const Example& example = call.example();
  call.check_tensors(0);
  std::vector<TapInfo> taps;
  for (const TapInfo& tap : call.unchanged().taps())
    if (tap.name == "align" || tap.name == "context") taps.push_back(tap);
  const auto values = call.values(taps);
  ArrayBytes arrays;
  for (const auto& [name, tap] : values)
    arrays.add(name == "align" ? "pattern" : name, {tap.positions, tap.cols}, tap.all());
  return call.tensors(
      arrays,
      {{"attention", "align"}, {"layer", nullptr}, {"head", 0}, {"queries", example.input}, {"keys", example.source}},
      "heatmap", {"--tap", "align"});
}

}  // namespace

Answer view_heads(InspectCall& call) {
  const std::vector<TapInfo> taps = patterns_of(call, call.fields.text("attention"));
  const int64_t size = call.fields.whole("size", 24, 1, 512);
  const Example& example = call.example();
  call.check_tensors(4 * size * size * std::ssize(taps) * taps[0].heads);
  const std::map<std::string, TapValues> values = call.values(taps);
  struct Group {
    std::vector<real> numbers = {};
    std::vector<std::string> attention = {};
    int64_t heads = 0, rows = 0, columns = 0;
    TapInfo tap = {};
  };
  std::vector<std::pair<std::string, Group>> groups;
  for (const TapInfo& tap : taps) {
    const std::string name = "thumbnails." + group_of(tap.name);
    auto at = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == name; });
    if (at == groups.end()) at = groups.insert(groups.end(), {name, {}});
    Group& group = at->second;
    const TapValues& pattern = values.at(tap.name);
    group.heads = pattern.heads;
    group.tap = tap;
    group.attention.push_back(tap.name == "align" ? tap.name : tap.name.substr(0, tap.name.rfind('.')));
    std::vector<Reduced> reduced(static_cast<size_t>(pattern.heads));
    parallel_for(pattern.heads, [&](int64_t head) {
      reduced[static_cast<size_t>(head)] =
          reduce({pattern.row(0, head), pattern.positions, pattern.cols}, {size, size});
    });
    for (const Reduced& one : reduced) {
      group.rows = one.rows;
      group.columns = one.columns;
      group.numbers.insert(group.numbers.end(), one.values.begin(), one.values.end());
    }
  }
  ArrayBytes arrays;
  Json list = Json::array();
  for (const auto& [name, group] : groups) {
    arrays.add(name, {std::ssize(group.attention) * group.heads, group.rows, group.columns},
               std::span<const real>(group.numbers));
    list.push_back({{"name", name},
                    {"layers", group.attention.size()},
                    {"heads", group.heads},
                    {"queries", tokens_of(group.tap.rows, example)},
                    {"keys", tokens_of(*group.tap.keys, example)},
                    {"attention", group.attention}});
  }
  return call.tensors(arrays, {{"groups", std::move(list)}}, "heatmap", {"--heads"});
}

Answer view_attention(InspectCall& call) {
  const Config& config = call.config();
  const std::string attention = call.fields.text("attention");
  const int64_t head = call.fields.whole("head", 0, 0, 1 << 16);
  if (config.recurrent()) return view_recurrent_attention(call);
  const std::vector<TapInfo> patterns = patterns_of(call, attention);
  if (patterns.size() != 1 || patterns[0].name != attention + ".pattern")
    throw HttpError(400,
                    fmt::format("Name one attention: \"attention\": \"{}\".",
                                patterns[0].name.substr(0, patterns[0].name.rfind('.'))),
                    {.param = "attention"});
  const TapInfo& pattern = patterns[0];
  if (head >= pattern.heads)
    throw HttpError(400, fmt::format("There is no head {}: there are {}.", head, pattern.heads), {.param = "head"});
  const Example& example = call.example();
  const int64_t source = example.batch.source.sequences.tokens(), input = example.positions();
  call.check_tensors(4 * 4 * pattern.row_count(source, input) * pattern.key_count(source, input));
  std::vector<TapInfo> taps;
  for (const TapInfo& tap : call.unchanged().taps())
    for (const char* name : {"q", "k", "v", "z", "rot_q", "rot_k", "scores", "masked", "pattern"})
      if (tap.name == attention + "." + name) taps.push_back(tap);
  const std::map<std::string, TapValues> values = call.values(taps);
  const auto of = [&](const char* name) -> const TapValues& { return values.at(attention + "." + name); };
  const int64_t size = of("q").cols / pattern.heads;
  const int64_t kv_heads = of("k").cols / size, kv_head = head / (pattern.heads / kv_heads);
  double scale = config.scale_scores ? 1 / std::sqrt(static_cast<double>(size)) : 1;
  if (config.attention_scale > 0) scale = config.attention_scale;
  if (config.scale_by_layer) scale /= static_cast<double>(layer_of(attention) + 1);
  const std::string side = attention.starts_with("encoder.") ? "encoder" : "";
  const BlockNames block = stack_names(config, side.empty() ? "decoder" : side).of(layer_of(attention));
  const Projection output =
      WeightTable(call.model())
          .projection(attention.ends_with("cross_attn") ? block.cross.output : block.self.output, config.layout);
  ArrayBytes arrays;
  const auto add_rows = [&](const char* name, int64_t which, int64_t heads) {
    if (!values.contains(attention + "." + name)) return;
    const std::vector<real> columns = columns_of(of(name), which, heads);
    arrays.add(name, {of(name).positions, size}, std::span<const real>(columns));
  };
  const auto matrix = [&](const char* name) {
    const TapValues& tap = of(name);
    return std::span<const real>(tap.row(0, head), static_cast<size_t>(tap.positions * tap.cols));
  };
  add_rows("q", head, pattern.heads);
  add_rows("k", kv_head, kv_heads);
  add_rows("rot_q", head, pattern.heads);
  add_rows("rot_k", kv_head, kv_heads);
  const std::vector<int64_t> pairs = {of("scores").positions, of("scores").cols};
  const std::vector<real> product =
      products_of(columns_of(of(values.contains(attention + ".rot_q") ? "rot_q" : "q"), head, pattern.heads),
                  columns_of(of(values.contains(attention + ".rot_k") ? "rot_k" : "k"), kv_head, kv_heads), size);
  arrays.add("product", pairs, std::span<const real>(product));
  const bool self = !attention.ends_with("cross_attn");
  if (const DistanceBias bias = self ? distance_bias(call.model(), side, std::max(pairs[0], pairs[1])) : DistanceBias{};
      bias.heads > 0) {
    std::vector<real> added;
    for (int64_t i = 0; i < pairs[0]; ++i)
      for (int64_t j = 0; j < pairs[1]; ++j) added.push_back(bias.at(head, i - j));
    arrays.add("bias", pairs, std::span<const real>(added));
  }
  for (const char* name : {"scores", "masked", "pattern"}) arrays.add(name, pairs, matrix(name));
  add_rows("v", kv_head, kv_heads);
  add_rows("z", head, pattern.heads);
  const std::vector<real> z = columns_of(of("z"), head, pattern.heads);
  const std::vector<real> written = written_by(output, z, of("z").positions, head);
  arrays.add("out", {of("z").positions, output.outputs}, std::span<const real>(written));
  return call.tensors(
      arrays,
      {{"attention", attention},
       {"layer", layer_of(attention)},
       {"head", head},
       {"kv_head", kv_head},
       {"scale", scale},
       {"cap", config.attention_cap > 0 ? Json(config.attention_cap) : Json()},
       {"head_size", size},
       {"queries", tokens_of(pattern.rows, example)},
       {"keys", tokens_of(*pattern.keys, example)},
       {"causal", config.causal && pattern.rows == *pattern.keys && side != "encoder" && config.writes()}},
      "heatmap", {"--tap", attention + ".pattern", "--head", std::to_string(head), "--json"});
}

Answer view_head_statistics(InspectCall& call) {
  const bool induction = call.fields.flag("induction", true);
  std::vector<Example> texts = read_texts(call);
  const bool own = texts.empty();
  if (own) texts.push_back(call.example());
  size_t next = 0;
  std::vector<HeadStatistics> heads =
      head_statistics(call.model(), call.unchanged().taps(), [&]() -> std::optional<Example> {
        call.progress(static_cast<double>(next) / static_cast<double>(texts.size() + 1));
        if (next == texts.size()) return std::nullopt;
        return texts[next++];
      });
  if (induction && !call.config().recurrent()) add_induction(heads, call.induction());
  Json list = heads_json(heads);
  for (Json& one : list) one["layer"] = layer_of(one["attention"].get<std::string>());
  return call.json({{"heads", std::move(list)}}, "heads", {"--text", own ? "text.txt" : "texts.txt"});
}

Answer view_alignment(InspectCall& call) {
  const Session& session = call.session();
  if (!session.two_sided())
    throw HttpError(400, "Alignments are of translators, and this model reads one text.", {.param = "model"});
  AlignmentOptions which;
  if (call.fields.has("layer")) which.layer = call.fields.whole("layer", 0, 0, 10000);
  if (call.fields.has("head")) which.head = call.fields.whole("head", 0, 0, 10000);
  call.fields.any("layer");
  call.fields.any("head");
  const Example& example = call.example();
  // Cross-attention as the pass with this request's interventions shows it.
  std::vector<TapInfo> taps = patterns_of(call, call.config().recurrent() ? "align" : "cross_attn");
  if (which.layer) {
    std::erase_if(taps, [&](const TapInfo& tap) { return tap.name != "align" && layer_of(tap.name) != *which.layer; });
    if (taps.empty()) throw HttpError(400, "There is no such layer.", {.param = "layer"});
  }
  const std::map<std::string, TapValues> values = call.values(taps);
  Alignment alignment;
  double maps = 0;
  for (const auto& [name, tap] : values) {
    if (which.head && *which.head >= tap.heads)
      throw HttpError(400, fmt::format("There is no head {}: there are {}.", *which.head, tap.heads),
                      {.param = "head"});
    alignment.resize(static_cast<size_t>(tap.positions), std::vector<double>(static_cast<size_t>(tap.cols)));
    for (int64_t head = which.head.value_or(0); head < (which.head ? *which.head + 1 : tap.heads); ++head, ++maps)
      for (int64_t i = 0; i < tap.positions; ++i)
        for (int64_t j = 0; j < tap.cols; ++j) alignment[i][j] += static_cast<double>(tap.row(i, head)[j]);
  }
  for (auto& row : alignment)
    for (double& weight : row) weight /= maps;
  const std::string source = session.reader().decode(example.batch.source.ids),
                    target = session.writer().decode(call.target_ids());
  const WordAttention words = attention_of_words(session.loaded.tokenizers, source, target, alignment);
  Json links = Json::array();
  for (const auto& [from, to] : strongest_links(words)) links.push_back({from, to});
  Json json = word_attention_json(words);
  json["links"] = std::move(links);
  json["which"] = name_of(which);
  json["tokens"] = {
      {"source", example.source}, {"target", pieces_of(session.writer(), call.target_ids())}, {"attention", alignment}};
  std::vector<std::string> command = {"--pairs", "1"};
  if (which.layer) command.insert(command.end(), {"--layer", std::to_string(*which.layer)});
  if (which.head) command.insert(command.end(), {"--head", std::to_string(*which.head)});
  return call.json(std::move(json), "alignment", command);
}

}  // namespace limpid
