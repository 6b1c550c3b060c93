// What a model is: its sizes, its parts, its taps, and a text as it reads it.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "inference/decoder_state.h"
#include "inspect/display_text.h"
#include "inspect/tap_names_json.h"
#include "models/parameter_table.h"
#include "server/http.h"
#include "server/inspect_parts.h"
#include "server/inspect_texts.h"
#include "server/inspect_views.h"
#include "text/id_tokenizer.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;
using Answer = InspectCall::Answer;

const char* family_name(const Config& config) {
  if (config.recurrent()) return "recurrent";
  if (config.has_source()) return "encoder_decoder";
  return config.writes() ? "language_model" : "encoder";
}

const char* activation_name(Activation activation) {
  switch (activation) {
    case Activation::none: return "none";
    case Activation::relu: return "relu";
    case Activation::gelu: return "gelu";
    case Activation::gelu_tanh: return "gelu_tanh";
    case Activation::silu: return "silu";
    case Activation::quick_gelu: return "quick_gelu";
    case Activation::tanh: return "tanh";
  }
  return "";
}

const char* positions_name(PositionKind kind) {
  switch (kind) {
    case PositionKind::none: return "none";
    case PositionKind::sinusoidal: return "sinusoidal";
    case PositionKind::learned: return "learned";
    case PositionKind::rotary: return "rotary";
  }
  return "";
}

const char* norm_place_name(NormPlace place) {
  switch (place) {
    case NormPlace::before: return "before";
    case NormPlace::after: return "after";
    case NormPlace::output: return "output";
    case NormPlace::both: return "both";
  }
  return "";
}

const char* relative_name(RelativeKind kind) {
  switch (kind) {
    case RelativeKind::none: return "none";
    case RelativeKind::buckets: return "buckets";
    case RelativeKind::slopes: return "slopes";
  }
  return "";
}

Json experts_json(const ExpertConfig& experts) {
  if (experts.count == 0) return {};
  return {{"count", experts.count},
          {"chosen", experts.chosen},
          {"features", experts.features},
          {"shared", experts.shared},
          {"normalize", experts.normalize}};
}

Json stack_json(const Config& config, const std::string& side) {
  const bool encoder = side == "encoder", two = config.cross_attention();
  const StackConfig& stack = encoder ? config.encoder : config.decoder;
  std::vector<std::string> attention = {two ? "self_attn" : "attn"};
  if (two && !encoder) attention.emplace_back("cross_attn");
  return {{"name", side},
          {"scope", two ? side : "blocks"},
          {"side", two ? side : ""},
          {"layers", stack.layers},
          {"heads", stack.heads},
          {"kv_heads", stack.kv_heads},
          {"head_size", config.head_size_of(stack)},
          {"ffn", stack.ffn},
          {"causal", !encoder && config.causal},
          {"attention", attention}};
}

Json stacks_json(const Config& config) {
  Json stacks = Json::array();
  if (config.recurrent()) {
    const bool additive = config.rnn.context == ContextUse::additive;
    for (const char* side : {"encoder", "decoder"})
      stacks.push_back(
          {{"name", side},
           {"scope", side},
           {"side", side},
           {"layers", config.rnn.layers},
           {"heads", additive ? 1 : 0},
           {"kv_heads", additive ? 1 : 0},
           {"head_size", config.rnn.hidden},
           {"ffn", 0},
           {"causal", side == std::string_view("decoder")},
           {"attention", additive && side == std::string_view("decoder") ? Json{"align"} : Json::array()}});
    return stacks;
  }
  if (!config.continues_text()) stacks.push_back(stack_json(config, "encoder"));
  if (config.writes()) stacks.push_back(stack_json(config, "decoder"));
  return stacks;
}

Json rnn_json(const RnnConfig& rnn) {
  return {{"cell", rnn.cell == CellKind::gru ? "gru" : "lstm"},
          {"context", rnn.context == ContextUse::additive     ? "additive"
                      : rnn.context == ContextUse::every_step ? "every_step"
                                                              : "initial"},
          {"bidirectional", rnn.bidirectional},
          {"reverse_source", rnn.reverse_source},
          {"layers", rnn.layers},
          {"embed", rnn.embed},
          {"hidden", rnn.hidden}};
}

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

Json parts_json(const std::vector<ModelPart>& parts) {
  Json list = Json::array();
  for (const ModelPart& part : parts) {
    list.push_back({{"id", part.id},
                    {"kind", part.kind},
                    {"stack", part.stack},
                    {"layer", part.layer < 0 ? Json() : Json(part.layer)},
                    {"parameters", part.parameters},
                    {"shape", part.shape},
                    {"weights", part.weights},
                    {"taps", part.taps}});
    if (!part.tied_to.empty()) list.back()["tied_to"] = part.tied_to;
  }
  return list;
}

bool is_special(const Tokenizer& tokenizer, int32_t id) {
  const SpecialIds special = tokenizer.special();
  for (const int32_t one : {special.pad, special.end, special.unknown, special.begin, special.mask})
    if (id == one) return true;
  // Twice, since a text loses the space that it begins with: "▁" alone is one.
  const int32_t twice[] = {id, id};
  return id < tokenizer.size() && tokenizer.decode(twice).empty();
}

// The text that a token adds: what the tokens up to it say, less what those before it say.
Json token_json(const Tokenizer& tokenizer, int32_t id, std::string_view added) {
  std::vector<int> bytes;
  for (const char c : added) bytes.push_back(static_cast<unsigned char>(c));
  return {{"id", id},
          {"piece", piece_of(tokenizer, id)},
          {"text", added.empty() ? visible(piece_of(tokenizer, id)) : visible(added)},
          {"bytes", bytes},
          {"special", is_special(tokenizer, id)}};
}

Json tokens_json(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  Json list = Json::array();
  std::string before;
  for (size_t i = 0; i < ids.size(); ++i) {
    std::string text = tokenizer.decode(std::span(ids).first(i + 1));
    list.push_back(
        token_json(tokenizer, ids[i], text.starts_with(before) ? std::string_view(text).substr(before.size()) : ""));
    before = std::move(text);
  }
  return list;
}

}  // namespace

Answer view_model(InspectCall& call) {
  const Config& config = call.config();
  const Model& model = call.unchanged().model();
  const std::vector<ModelPart> parts = model_parts(model);
  int64_t parameters = 0;
  for (const ModelPart& part : parts) parameters += part.parameters;
  const int64_t table = most_positions(config);
  const GenerationConfig& defaults = call.unchanged().loaded.generation;
  std::optional<std::string> example = example_text(call.unchanged(), call.served.path);
  if (dynamic_cast<const IdTokenizer*>(&call.unchanged().reader())) example = "1 2 3 4 5 6 7 8";
  Json json = {{"id", call.served.id},
               {"family", family_name(config)},
               {"model_type", config.model_type},
               {"parameters", parameters},
               {"vocab", config.vocab},
               {"width", config.width},
               {"head_size", config.head_size},
               {"max_positions", table < std::numeric_limits<int64_t>::max() ? Json(table) : Json()},
               {"two_sided", call.unchanged().two_sided()},
               {"writes", config.writes()},
               {"labels", config.labels},
               {"norm", config.norm == NormKind::rms     ? "rms"
                        : config.norm == NormKind::batch ? "batch"
                                                         : "layer"},
               {"norm_place", norm_place_name(config.norm_place)},
               {"norm_eps", static_cast<double>(config.norm_eps)},
               {"final_norm", config.final_norm},
               {"embedding_norm", config.embedding_norm},
               {"parallel", config.parallel},
               {"parallel_one_norm", config.parallel_one_norm},
               {"norm_bias", config.norm_bias && config.norm_gain},
               {"positions", positions_name(config.positions)},
               {"relative", relative_name(config.relative)},
               {"sinusoids", config.sinusoids == SinusoidLayout::halves        ? "halves"
                             : config.sinusoids == SinusoidLayout::interleaved ? "interleaved"
                                                                               : "fairseq"},
               {"rope_theta", config.json.value("rope_theta", 10000.0)},
               {"scale_embedding", config.scale_embedding},
               {"activation", activation_name(config.activation)},
               {"gated", config.gated},
               {"feed_forward", config.feed_forward},
               {"residual", config.residual},
               {"ffn_bias", config.ffn_bias},
               {"experts", experts_json(config.experts)},
               {"scale_scores", config.scale_scores},
               {"attention_scale", config.attention_scale > 0 ? Json(config.attention_scale) : Json()},
               {"scale_by_layer", config.scale_by_layer},
               {"attention_cap", config.attention_cap > 0 ? Json(config.attention_cap) : Json()},
               {"causal", config.causal},
               {"tie_output", config.tie_output},
               {"share_source_embedding", config.share_source_embedding},
               {"output_bias", config.output_bias}};
  if (config.recurrent()) json["rnn"] = rnn_json(config.rnn);
  json["stacks"] = stacks_json(config);
  json["parts"] = parts_json(parts);
  json["generation"] = {{"beams", or_null(defaults.beams)},
                        {"max_tokens", or_null(defaults.max_tokens)},
                        {"temperature", or_null(defaults.temperature)},
                        {"top_k", or_null(defaults.top_k)},
                        {"top_p", or_null(defaults.top_p)},
                        {"length_penalty", or_null(defaults.length_penalty)}};
  json["example"] = or_null(example);
  json["config"] = config.json;
  json["notes"] = config.notes;
  return call.json(std::move(json), "limpid params " + shell_quoted(call.served.path));
}

Answer view_taps(InspectCall& call) {
  Json list = Json::array();
  for (const TapInfo& tap : call.unchanged().taps())
    list.push_back({{"name", tap.name},
                    {"hook", hook_name(tap.name, call.config())},
                    {"rows", axis_name(tap.rows)},
                    {"keys", tap.keys ? Json(axis_name(*tap.keys)) : Json()},
                    {"heads", tap.heads},
                    {"cols", tap.cols}});
  return call.json({{"taps", std::move(list)}}, "taps");
}

Answer view_tokens(InspectCall& call) {
  const Session& session = call.unchanged();
  const Example example = call.example_without_interventions();
  const Tokenizer& writer = session.two_sided() ? session.writer() : session.reader();
  Json next = Json::array();
  for (const int32_t id : example.next)
    next.push_back(id < 0 ? Json() : Json{{"id", id}, {"piece", piece_of(writer, id)}});
  Json json = {{"two_sided", session.two_sided()}};
  if (session.two_sided()) {
    json["source"] = tokens_json(session.reader(), example.batch.source.ids);
    json["source_ids"] = example.batch.source.ids;
  }
  json["input"] = tokens_json(writer, example.batch.input.ids);
  json["input_ids"] = example.batch.input.ids;
  // Whether what the input begins with is the custom of its family, of which the tokenizer's files say nothing.
  json["begins_by_custom"] = session.two_sided() || session.loaded.tokenizers.before.empty();
  if (session.two_sided()) {
    json["target"] = tokens_json(writer, call.target_ids());
    json["target_ids"] = call.target_ids();
    json["target_text"] = writer.decode(call.target_ids());
    json["written_by_model"] = call.written_by_model();
  }
  json["next"] = std::move(next);
  const int64_t limit = context_length(call.config());
  json["limit"] = limit < std::numeric_limits<int64_t>::max() ? Json(limit) : Json();
  return call.json(std::move(json), "limpid tokenize " + shell_quoted(call.served.path), {"--special"});
}

Answer view_pieces(InspectCall& call) {
  const Tokenizer& tokenizer = call.side() == "encoder" ? call.unchanged().reader() : call.unchanged().writer();
  Json list = Json::array();
  for (const int32_t id : call.fields.ids("tokens", call.config().vocab)) {
    const std::string text = id < tokenizer.size() ? tokenizer.decode(std::span(&id, 1)) : "";
    list.push_back(token_json(tokenizer, id, text));
  }
  return call.json({{"tokens", std::move(list)}}, "limpid tokenize " + shell_quoted(call.served.path));
}

}  // namespace limpid
