#include "inspect/attribution.h"

#include <algorithm>
#include <cmath>

#include "inspect/encoder_head.h"
#include "inspect/tap_record.h"
#include "inspect/weights.h"

namespace limpid {
namespace {

using Direction = std::vector<double>;

double dot(const Direction& a, const std::vector<double>& b) {
  return limpid::dot(a.data(), b.data(), static_cast<int64_t>(a.size()));
}

// wᵀ·W for a projection into the residual stream: what each of its inputs is worth in the direction w.
std::vector<double> worth_of_inputs(const Projection& projection, const Direction& w) {
  std::vector<double> worth(projection.inputs);
  for (int64_t o = 0; o < projection.outputs; ++o)
    for (int64_t i = 0; i < projection.inputs; ++i) worth[i] += w[o] * static_cast<double>(projection.row(o)[i]);
  return worth;
}

double bias_part(const Projection& projection, const Direction& w) {
  double sum = 0;
  for (size_t i = 0; i < projection.bias.size(); ++i) sum += w[i] * static_cast<double>(projection.bias[i]);
  return sum;
}

// Goes from the last vector of a stack to its embedding and notes what each part is worth.
class StackWalk {
 public:
  StackWalk(const Config& config, const WeightTable& weights, const TapRecord& record,
            const AttributionOptions& options, int64_t position, std::vector<LogitPart>& parts)
      : config_(config),
        weights_(weights),
        record_(record),
        options_(options),
        position_(position),
        parts_(parts),
        two_sided_(config.cross_attention()),
        names_(stack_names(config, "decoder")),
        scope_(stack_scope(config)) {}

  void walk(Direction w) {
    const std::string side = two_sided_ ? "decoder." : "";
    if (config_.embed_width > 0)
      w = worth_of_inputs(weights_.projection(names_of(config_).project_out, WeightLayout::out_in), w);
    if (config_.final_norm) w = through_norm(w, names_.final_norm, side + "final_norm", -1);
    bool reaches = true;  // without residual connections nothing below the last sub-layer has a direct way
    for (int64_t layer = stack_config(config_).layers - 1; layer >= 0 && reaches; --layer) reaches = block(w, layer);
    if (reaches) embedding(w, side);
  }

 private:
  // Carries w past one block. False where the stream ends in it.
  bool block(Direction& w, int64_t layer) {
    const BlockNames names = names_.of(layer);
    const std::string scope = fmt::format("{}.{}.", scope_, layer);
    if (config_.feed_forward) {
      w = after(w, names.norm_ffn, scope + "norm2", layer);
      const Direction of_output = into(w, names.norm_ffn_out, scope + "norm2_post", layer);
      if (config_.experts.count > 0)
        add(scope + "ffn", PartKind::feed_forward, layer, -1, dot(of_output, row(scope + "ffn_out")));
      else
        feed_forward(of_output, names.ffn, scope, layer);
      if (!config_.residual) return false;
    }
    if (two_sided_) {
      w = after(w, names.norm_cross, scope + "norm_cross", layer);
      attention(into(w, "", "", layer), names.cross, scope + "cross_attn", layer);
      if (!config_.residual) return false;
    }
    w = after(w, names.norm_self, scope + "norm1", layer);
    attention(into(w, names.norm_self_out, scope + "norm1_post", layer), names.self,
              scope + (two_sided_ ? "self_attn" : "attn"), layer);
    return config_.residual;
  }

  // The norm behind a sub-layer, where the model has its norms there.
  Direction after(const Direction& w, const std::string& name, const std::string& tap, int64_t layer) {
    return config_.norm_place == NormPlace::after ? through_norm(w, name, tap, layer) : w;
  }

  // What a sub-layer's output is worth on its way into the stream: its factor, and the norm that may stand there.
  Direction into(Direction w, const std::string& name, const std::string& tap, int64_t layer) {
    for (double& x : w) x *= static_cast<double>(config_.residual_factor);
    const bool normed = config_.norm_place == NormPlace::output || config_.norm_place == NormPlace::both;
    return normed ? through_norm(w, name, tap, layer) : w;
  }

  Direction through_norm(const Direction& w, const std::string& name, const std::string& tap, int64_t layer) {
    const NormWeights norm = weights_.norm(name, config_.norm_options(), config_.width);
    add(tap + ".bias", PartKind::norm, layer, -1, norm.constant(w));
    return norm.backward(w, config_.norm == NormKind::batch ? 1 : row(tap + ".scale")[0]);
  }

  void attention(const Direction& w, const AttentionNames& names, const std::string& tap, int64_t layer) {
    const Projection output = weights_.projection(names.output, config_.layout);
    const std::vector<double> worth = worth_of_inputs(output, w), z = row(tap + ".z");
    const int64_t heads = stack_config(config_).heads, size = output.inputs / heads;
    if (!output.bias.empty()) add(tap + ".bias", PartKind::bias, layer, -1, bias_part(output, w));
    for (int64_t head = heads - 1; head >= 0; --head)
      add(fmt::format("{}.head{}", tap, head), PartKind::head, layer, head,
          limpid::dot(worth.data() + head * size, z.data() + head * size, size));
  }

  void feed_forward(const Direction& w, const FeedForwardNames& names, const std::string& scope, int64_t layer) {
    const Projection down = weights_.projection(names.down, config_.layout);
    const std::vector<double> worth = worth_of_inputs(down, w), post = row(scope + "ffn.post");
    if (!down.bias.empty()) add(scope + "ffn.bias", PartKind::bias, layer, -1, bias_part(down, w));
    if (options_.neurons)
      for (int64_t i = down.inputs - 1; i >= 0; --i)
        add(fmt::format("{}ffn.neuron{}", scope, i), PartKind::neuron, layer, i, worth[i] * post[i]);
    else
      add(scope + "ffn", PartKind::feed_forward, layer, -1, dot(worth, post));
  }

  void embedding(Direction w, const std::string& side) {
    if (config_.embedding_norm)
      w = through_norm(w, fmt::format(fmt::runtime(names_of(config_).embedding_norm), two_sided_ ? "decoder" : ""),
                       side + "embed_norm", -1);
    if (record_.has("segment_embed")) add("segment_embed", PartKind::segment, -1, -1, dot(w, row("segment_embed")));
    if (record_.has(side + "pos_embed"))
      add(side + "pos_embed", PartKind::position, -1, -1, dot(w, row(side + "pos_embed")));
    add(side + "embed", PartKind::embedding, -1, -1,
        dot(w, row(config_.embed_width > 0 ? side + "embed_in" : side + "embed")));
  }

  std::vector<double> row(const std::string& tap) const { return record_.at(tap).row(position_); }
  void add(std::string name, PartKind kind, int64_t layer, int64_t index, double value) {
    parts_.push_back({std::move(name), kind, layer, index, value});
  }

  const Config& config_;
  const WeightTable& weights_;
  const TapRecord& record_;
  const AttributionOptions& options_;
  int64_t position_;
  std::vector<LogitPart>& parts_;
  bool two_sided_;
  const StackNames& names_;
  std::string scope_;
};

// The last vector of a recurrent decoder is its state, with a context beside it and the last word.
void attribute_recurrent(const Config& config, const TapRecord& record, const Direction& w, int64_t position,
                         std::vector<LogitPart>& parts) {
  const int64_t top = config.rnn.layers - 1;
  int64_t begin = 0;
  const auto take = [&](const std::string& tap, PartKind kind, int64_t layer) {
    const std::vector<double> row = record.at(tap).row(position);
    parts.push_back(
        {tap, kind, layer, -1, limpid::dot(w.data() + begin, row.data(), static_cast<int64_t>(row.size()))});
    begin += static_cast<int64_t>(row.size());
  };
  take(fmt::format("decoder.{}.h", top), PartKind::state, top);
  if (config.rnn.context == ContextUse::initial) return;
  take("context", PartKind::context, -1);
  take("decoder.embed", PartKind::embedding, -1);
}

// What a cap on logits leaves of this one: parts are shares of what it was before.
double kept_by_cap(const Output& output, real logit) {
  const auto cap = static_cast<double>(output.cap());
  if (cap == 0 || logit == 0) return 1;
  const double share = std::clamp(static_cast<double>(logit) / cap, -1 + 1e-9, 1 - 1e-9);
  return share / std::atanh(share);
}

// The direction whose product with the last vector is the logit, or the difference of two; `logits` is their row.
Direction unembedding(const Model& model, const AttributionOptions& options, const real* logits) {
  const Output& output = model.output();
  const auto of = [&](int32_t token) {
    Direction w = row_of(output.weight(), token);
    for (double& x : w) x *= static_cast<double>(output.factor()) * kept_by_cap(output, logits[token]);
    return w;
  };
  Direction w = of(options.token);
  if (options.against < 0) return w;
  const Direction other = of(options.against);
  for (size_t i = 0; i < w.size(); ++i) w[i] -= other[i];
  return w;
}

double chosen(const AttributionOptions& options, const real* row) {
  return static_cast<double>(row[options.token]) -
         (options.against < 0 ? 0.0 : static_cast<double>(row[options.against]));
}

double chosen_bias(const Output& output, const AttributionOptions& options, const real* bias, const real* logits) {
  const auto of = [&](int32_t token) { return static_cast<double>(bias[token]) * kept_by_cap(output, logits[token]); };
  return of(options.token) - (options.against < 0 ? 0.0 : of(options.against));
}

std::vector<std::string> wanted_taps(const Config& config) {
  if (config.recurrent()) return {"decoder.*.h", "context", "decoder.embed"};
  const std::string scope = stack_scope(config), side = config.cross_attention() ? "decoder." : "";
  std::vector<std::string> taps = {scope + ".*.scale", scope + ".*attn.z",        scope + ".*.ffn.post",
                                   side + "embed",     side + "pos_embed",        side + "final_norm.scale",
                                   side + "embed_in",  side + "embed_norm.scale", scope + ".*.ffn_out"};
  if (!config.writes())
    for (const char* tap : {"segment_embed", "head_norm.scale", "final_norm"}) taps.emplace_back(tap);
  if (!config.writes()) taps.push_back(fmt::format("{}.{}.resid_post", scope, config.encoder.layers - 1));
  return taps;
}

}  // namespace

const char* part_name(PartKind kind) {
  constexpr const char* kNames[] = {"embedding", "position", "segment", "head",  "feed_forward",
                                    "neuron",    "bias",     "norm",    "state", "context"};
  return kNames[static_cast<size_t>(kind)];
}

Attribution attribute_logit(const Model& model, const Example& example, const AttributionOptions& options) {
  const Config& config = model.config();
  const int64_t position = position_of(example, options.position);
  check(config.has_output(), "[look] this model ends in vectors: it has no logits to take apart");
  const int64_t choices = model.output().weight().shape[0];
  check(options.token >= 0 && options.token < choices && options.against < choices,
        "[look] there is no token {}: the model chooses among {}", std::max(options.token, options.against), choices);
  check(example.choice.holds(position),
        "[look] a model that classifies texts does so at the first token: take position 0");
  const WeightTable weights(model);
  const TapRecord record = record_taps(model, example, wanted_taps(config));
  Attribution result{.position = position, .token = options.token};
  // A classifier's logits have one row; every other position is scored.
  const real* const logits = record.logits.values().row(config.labels.empty() ? position : 0);
  result.logit = chosen(options, logits);
  Direction w = unembedding(model, options, logits);
  if (const Weight* bias = model.output().bias()) {
    const std::vector<real> numbers = numbers_of(*bias);
    result.parts.push_back(
        {"output.bias", PartKind::bias, -1, -1, chosen_bias(model.output(), options, numbers.data(), logits)});
  }
  if (config.recurrent()) {
    attribute_recurrent(config, record, w, position, result.parts);
  } else {
    if (!config.writes()) {
      const EncoderHead head(config, weights);
      const std::string last = config.final_norm ? std::string("final_norm")
                                                 : fmt::format("blocks.{}.resid_post", config.encoder.layers - 1);
      double constant = 0;
      w = head.backward(w, record.at(last).row(position), constant);
      result.parts.push_back({"head.bias", PartKind::bias, -1, -1, constant});
    }
    StackWalk(config, weights, record, options, position, result.parts).walk(w);
  }
  std::reverse(result.parts.begin(), result.parts.end());  // from the embedding to the output
  for (const LogitPart& part : result.parts) result.sum += part.value;
  check(
      std::isfinite(result.logit) && std::isfinite(result.sum),
      "[look] the logit is {} and its parts sum to {}: the model's weights or activations hold NaN or infinity, and no "
      "part can be told from another",
      result.logit, result.sum);
  return result;
}

}  // namespace limpid
