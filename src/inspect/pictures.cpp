#include "inspect/pictures.h"

#include <algorithm>

#include "base/error.h"
#include "inspect/display_text.h"
#include "inspect/tap_names.h"

namespace limpid {
namespace {

// Labels of the rows (or keys) of a tap. A decoder begins with a token that is no text, most often that of padding.
std::vector<std::string> labels_of(TapAxis axis, const Example& example) {
  if (axis == TapAxis::text) return {"text"};
  std::vector<std::string> labels;
  for (const std::string& token : axis == TapAxis::source ? example.source : example.input)
    labels.push_back(visible(token));
  const bool decoder = axis != TapAxis::source && !example.batch.source.ids.empty();
  if (decoder && !labels.empty()) labels[0] = "<start>";
  return labels;
}

// Labels of a decoder's rows over a source: the token that is read there, and the one that is written.
std::vector<std::string> written_labels(const Session& session, const Example& example) {
  std::vector<std::string> labels = labels_of(TapAxis::input, example);
  for (size_t i = 0; i < std::min(labels.size(), example.next.size()); ++i)
    if (example.next[i] >= 0) labels[i] += " → " + visible(session.piece(example.next[i]));
  return labels;
}

// Everything that one tap showed in a pass over one text: rows, or one matrix per head.
struct Shown {
  TapInfo info;
  std::vector<std::string> labels;       // of the rows
  int64_t rows = 0, cols = 0;            // pairs: keys
  std::vector<std::vector<real>> heads;  // of rows of tokens: one entry

  Heatmap map(size_t head, const Example& example, const std::string& title) const {
    Heatmap map = heatmap_of(title, {heads[head].data(), rows, cols}, labels);
    if (info.keys) {
      map.columns = labels_of(*info.keys, example);
      map.row_name = crosses() ? "query: read → written" : "query";
      map.column_name = "key";
    }
    return map;
  }
  bool crosses() const { return info.rows == TapAxis::input && info.keys == TapAxis::source; }
};

std::vector<Shown> show(const Session& session, const Example& example, const std::vector<TapInfo>& taps) {
  std::vector<Shown> all;
  for (const TapInfo& tap : taps) {
    all.push_back({.info = tap, .heads = std::vector<std::vector<real>>(tap.keys ? tap.heads : 1)});
    Shown& one = all.back();
    one.labels = one.crosses() ? written_labels(session, example) : labels_of(tap.rows, example);
  }
  FunctionProbe probe;
  for (Shown& one : all)
    probe.on(one.info.name, [&one](const Tap& tap) {
      for (size_t head = 0; head < one.heads.size(); ++head) {
        const ConstMatrix values = tap.layout.keys ? tap.pairs(0, static_cast<int64_t>(head)) : tap.value.values();
        for (int64_t i = 0; i < values.rows; ++i)
          one.heads[head].insert(one.heads[head].end(), values.row(i), values.row(i) + values.cols);
        one.rows += head == 0 ? values.rows : 0;
        one.cols = values.cols;
      }
    });
  forward_logits(session.model(), example, &probe);
  return all;
}

// Its pairs, or its columns of a row that has heads side by side.
Shown only_head(const Shown& all, int64_t head) {
  Shown one{.info = all.info, .labels = all.labels, .rows = all.rows, .cols = all.cols, .heads = {}};
  if (all.info.keys) {
    one.heads = {all.heads[static_cast<size_t>(head)]};
    return one;
  }
  one.cols = all.cols / all.info.heads;
  one.heads.resize(1);
  for (int64_t i = 0; i < all.rows; ++i) {
    const real* row = all.heads[0].data() + i * all.cols + head * one.cols;
    one.heads[0].insert(one.heads[0].end(), row, row + one.cols);
  }
  return one;
}

// The text as people write it; what a decoder reads follows its source.
std::string text_line(const Session& session, const Example& example) {
  const Batch& batch = example.batch;
  const std::string read = session.writer().decode(batch.input.ids);
  return batch.source.ids.empty() ? read : session.reader().decode(batch.source.ids) + " → " + read;
}

// Attention of one query: a row per head.
Heatmap heads_at(const Shown& attention, int64_t position, const Example& example, const std::string& title) {
  std::vector<real> rows;
  std::vector<std::string> names;
  for (size_t head = 0; head < attention.heads.size(); ++head) {
    const real* row = attention.heads[head].data() + position * attention.cols;
    rows.insert(rows.end(), row, row + attention.cols);
    names.push_back("head " + std::to_string(head));
  }
  Heatmap map = heatmap_of(title, {rows.data(), static_cast<int64_t>(names.size()), attention.cols}, names,
                           labels_of(*attention.info.keys, example));
  map.column_name = "key";
  return map;
}

Heatmap mean_of_heads(const Shown& attention, const Example& example, const std::string& title) {
  Shown mean{.info = attention.info,
             .labels = attention.labels,
             .rows = attention.rows,
             .cols = attention.cols,
             .heads = {attention.heads[0]}};
  for (size_t i = 0; i < mean.heads[0].size(); ++i) {
    real sum = 0;
    for (const auto& head : attention.heads) sum += head[i];
    mean.heads[0][i] = sum / static_cast<real>(attention.heads.size());
  }
  return mean.map(0, example, title);
}

Heatmap attention_map(const Shown& attention, const Example& example, const BlockPictureOptions& options,
                      std::optional<int64_t> position) {
  const std::string what = attention.info.name;
  if (position) return heads_at(attention, *position, example, what);
  if (options.head < 0) return mean_of_heads(attention, example, what + ", mean of heads");
  check(options.head < static_cast<int64_t>(attention.heads.size()), "[look] there is no head {}: the block has {}",
        options.head, attention.heads.size());
  return attention.map(static_cast<size_t>(options.head), example, fmt::format("{}, head {}", what, options.head));
}

// What a block's feed-forward network is shown by: taps and titles. A mixture has no one network to look into, but what
// it chooses.
std::vector<std::pair<const char*, const char*>> network_maps(const Config& config) {
  if (!config.feed_forward) return {};
  if (config.experts.count > 0)
    return {{"ffn.router", "scores of the experts"},
            {"ffn.shares", "shares of the chosen, best first"},
            {"ffn_out", "sum of the chosen"}};
  return {{"ffn.pre", "up-projection"}, {"ffn.post", "activation"}, {"ffn_out", "down-projection"}};
}

}  // namespace

Picture block_picture(const Session& session, const Example& example, const BlockPictureOptions& options) {
  const Config& config = session.config();
  check(!config.recurrent(), "[look] a recurrent model has no blocks: name a tap");
  const std::string scope = stack_scope(config, options.side);
  const int64_t layers = stack_config(config, options.side).layers;
  check(options.block >= 0 && options.block < layers, "[look] there is no block {}: the stack has {}, 0 … {}",
        options.block, layers, layers - 1);
  const std::string block = fmt::format("{}.{}.", scope, options.block);
  const std::string attention = options.cross ? "cross_attn." : config.cross_attention() ? "self_attn." : "attn.";
  const std::vector<TapInfo> known = list_taps(session.model());
  std::vector<TapInfo> taps = find_taps(known, block + attention + (options.pattern ? "pattern" : "masked"), config);
  const auto network = network_maps(config);
  for (const auto& [tap, title] : network) taps.push_back(find_taps(known, block + tap, config).at(0));

  const bool encoder = options.side == "encoder" && session.two_sided();
  const auto length = static_cast<int64_t>(encoder ? example.source.size() : example.input.size());
  std::optional<int64_t> position = options.position;
  if (position && *position < 0) *position += length;
  check(!position || (*position >= 0 && *position < length), "[look] there is no position {}: the text has {} tokens",
        options.position.value_or(0), length);
  const std::vector<Shown> shown = show(session, example, taps);
  Picture picture{.title = text_line(session, example), .per_row = 2};
  picture.maps.push_back(attention_map(shown[0], example, options, position));
  for (size_t i = 1; i < shown.size(); ++i) {
    const std::string title = fmt::format("{} ({})", shown[i].info.name, network[i - 1].second);
    if (position)
      picture.maps.push_back(folded(title, shown[i].heads[0].data() + *position * shown[i].cols, shown[i].cols));
    else
      picture.maps.push_back(shown[i].map(0, example, title));
  }
  if (position)
    picture.title +=
        fmt::format("   (position {}: {})", *position, encoder ? example.source[*position] : example.input[*position]);
  return picture;
}

Picture head_grid(const Session& session, const Example& example, const std::string& pattern) {
  const Config& config = session.config();
  const bool recurrent = config.recurrent();
  const std::string usual =
      recurrent ? "align" : stack_scope(config) + (session.two_sided() ? ".*.cross_attn.pattern" : ".*.attn.pattern");
  const auto taps = find_taps(list_taps(session.model()), pattern.empty() ? usual : pattern, config);
  Picture picture{.title = text_line(session, example), .per_row = 1, .shared_range = true};
  for (const Shown& one : show(session, example, taps)) {
    check(one.info.keys.has_value(), "[look] {} has no heads to show: name a pattern or scores", one.info.name);
    picture.per_row = std::max(picture.per_row, std::min<int64_t>(one.info.heads, 8));
    for (size_t head = 0; head < one.heads.size(); ++head) {
      const std::string name = one.info.name.substr(0, one.info.name.rfind('.'));
      picture.maps.push_back(one.map(head, example, fmt::format("{} head {}", name, head)));
      picture.maps.back().row_name = picture.maps.back().column_name = "";
    }
  }
  return picture;
}

Picture tap_picture(const Session& session, const Example& example, const std::string& pattern, int64_t head) {
  const auto taps = find_taps(list_taps(session.model()), pattern, session.config());
  Picture picture{.title = text_line(session, example), .per_row = 1};
  for (const Shown& one : show(session, example, taps)) {
    if (head >= 0) {
      check(head < one.info.heads, "[heatmap] {} has no head {}: there are {}", one.info.name, head, one.info.heads);
      picture.maps.push_back(only_head(one, head).map(0, example, fmt::format("{}, head {}", one.info.name, head)));
      continue;
    }
    for (size_t which = 0; which < one.heads.size(); ++which) {
      if (one.info.keys && one.info.heads > 1) picture.per_row = 2;
      picture.maps.push_back(one.map(
          which, example,
          one.info.keys && one.info.heads > 1 ? fmt::format("{}, head {}", one.info.name, which) : one.info.name));
    }
  }
  return picture;
}

}  // namespace limpid
