// Encoder-decoders: Marian, Pegasus, BART, mBART, M2M-100 (NLLB), T5, mT5.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>

#include "base/error.h"
#include "models/config_family.h"

namespace limpid {
namespace {

StackConfig read_stack(ConfigReader& reader, Config& config, const std::string& side) {
  StackConfig stack;
  stack.layers = reader.size(side + "_layers");
  stack.heads = stack.kv_heads = reader.size(side + "_attention_heads");
  stack.ffn = reader.size(side + "_ffn_dim");
  stack.head_size = share({"d_model", config.width}, {side + "_attention_heads", stack.heads});
  return stack;
}

// What Hugging Face's class does, which ignores normalize_before.
struct TranslatorClass {
  bool norm_first = false;
  PositionKind positions = PositionKind::sinusoidal;
  TokenDefaults tokens;
  std::optional<int64_t> start;
  Activation activation = Activation::gelu;
  bool scale_embedding = false;
  bool ours = false;  // normalize_before counts: a model that Limpid trained may be of the other kind
};

void read_norm_place(ConfigReader& reader, Config& config, bool family_first, bool ours) {
  config.norm_place = family_first ? NormPlace::before : NormPlace::after;
  config.final_norm = family_first;
  if (!ours) {
    for (const char* key : {"normalize_before", "add_final_layer_norm"})
      if (reader.flag(key, family_first) != family_first)
        config.notes.push_back(fmt::format("{} is ignored, as by others: a {} is {}-norm", key, config.model_type,
                                           family_first ? "pre" : "post"));
    return;
  }
  const bool first = reader.flag("normalize_before", family_first);
  config.norm_place = first ? NormPlace::before : NormPlace::after;
  config.final_norm = first;
  if (const bool final_norm = reader.flag("add_final_layer_norm", first); final_norm != first)
    fail("[config] add_final_layer_norm is {}: allowed is {} where normalize_before is {}", final_norm, first, first);
  if (first == family_first) return;
  config.only_limpid = true;
  config.notes.push_back(fmt::format("normalize_before is {}, which other programs ignore: their {} is {}-norm", first,
                                     config.model_type, family_first ? "pre" : "post"));
}

void need_start(const Config& config) {
  check(config.decoder_start_token.has_value(),
        "[config] decoder_start_token_id is missing: the token that a translation starts from");
}

void read_bart_like(ConfigReader& reader, Config& config, const TranslatorClass& of) {
  config.family = Family::seq2seq;
  config.width = reader.size("d_model");
  config.encoder = read_stack(reader, config, "encoder");
  config.decoder = read_stack(reader, config, "decoder");
  config.head_size = config.decoder.head_size;
  config.max_positions = reader.size("max_position_embeddings", 1024);
  if (const int64_t target = reader.size("decoder_vocab_size", config.vocab); target != config.vocab)
    fail("[config] decoder_vocab_size {} differs from vocab_size {}: allowed is one vocabulary for both", target,
         config.vocab);
  // What names a release of transformers was written by a class that does not read normalize_before.
  read_norm_place(reader, config, of.norm_first, of.ours && !reader.has("transformers_version"));
  config.positions = of.positions;
  config.activation = reader.choice("activation_function", of.activation, activation_names());
  config.output_bias = true;  // final_logits_bias
  config.scale_embedding = reader.flag("scale_embedding", of.scale_embedding);
  config.tie_output = reader.flag("tie_word_embeddings", true);
  config.share_source_embedding = reader.flag("share_encoder_decoder_embeddings", true);
  config.dropout.embedding = config.dropout.residual = reader.dropout("dropout", 0.1);
  config.dropout.attention = reader.dropout("attention_dropout", 0);
  config.dropout.activation = reader.dropout("activation_dropout", 0);
  config.initializer_range = reader.at_least_zero("init_std", 0.02);
  read_tokens(reader, config, of.tokens);
  config.decoder_start_token = reader.token("decoder_start_token_id", config.vocab, of.start);
  need_start(config);
}

void read_marian(ConfigReader& reader, Config& config) {
  read_bart_like(reader, config, {.tokens = {.pad = 58100, .bos = {}, .eos = 0}, .start = 58100, .ours = true});
}

void read_pegasus(ConfigReader& reader, Config& config) {
  read_bart_like(reader, config,
                 {.norm_first = true, .tokens = {.pad = 0, .bos = {}, .eos = 1}, .start = 0, .ours = true});
  config.only_limpid |= !config.share_source_embedding;  // Pegasus' classes share always
}

// Two rows of the table of positions come before the first token's.
void read_bart(ConfigReader& reader, Config& config) {
  const bool first = config.model_type == "mbart";
  read_bart_like(
      reader, config,
      {.norm_first = first, .positions = PositionKind::learned, .tokens = {.pad = 1, .bos = 0, .eos = 2}, .start = 2});
  config.position_offset = 2;
  config.embedding_norm = true;
}

void read_m2m(ConfigReader& reader, Config& config) {
  read_bart_like(reader, config,
                 {.norm_first = true,
                  .tokens = {.pad = 1, .bos = 0, .eos = 2},
                  .start = 2,
                  .activation = Activation::relu,
                  .scale_embedding = true});
  config.sinusoids = SinusoidLayout::fairseq;
  config.position_offset = config.pad_token.value_or(1) + 1;
  config.output_bias = false;
}

// "relu", "gated-gelu", …: any activation, gated or not; "gated-gelu" is meant by its formula with tanh.
void read_t5_feed_forward(ConfigReader& reader, Config& config, std::string_view usual) {
  ConfigReader::Names<std::pair<bool, Activation>> kinds = {{"gated-gelu", {true, Activation::gelu_tanh}}};
  std::deque<std::string> gated;  // names that are views
  for (const auto& [name, activation] : activation_names()) {
    kinds.push_back({name, {false, activation}});
    kinds.push_back({gated.emplace_back("gated-").append(name), {true, activation}});
  }
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.first == usual; });
  const auto kind = reader.choice("feed_forward_proj", found->second, kinds);
  config.gated = reader.flag("is_gated_act", kind.first);
  config.activation = kind.second;
  if (reader.has("dense_act_fn")) config.activation = reader.choice("dense_act_fn", kind.second, activation_names());
  config.names = config.gated ? "t5-gated" : "t5";
}

// T5 scales the logits of tied embeddings. Releases from 5 on write tie_word_embeddings true in any case, and a key
// where they scale, which their mT5 never does; whether the output layer is the embedding, the weights say (fit_config
// in formats/model_folder.h).
bool scales_logits(ConfigReader& reader, const Config& config) {
  const auto* release = reader.find("transformers_version");
  const auto* text = release ? release->get_ptr<const std::string*>() : nullptr;
  const bool newer = text && std::atoi(text->c_str()) >= 5;
  return reader.flag("scale_decoder_outputs", config.tie_output && !(newer && config.model_type == "mt5"));
}

void read_t5_like(ConfigReader& reader, Config& config, std::string_view feed_forward, bool tied) {
  config.width = reader.size("d_model");
  config.head_size = reader.size("d_kv");
  config.encoder.layers = reader.size("num_layers");
  config.decoder.layers = reader.size("num_decoder_layers", config.encoder.layers);
  config.encoder.heads = config.encoder.kv_heads = reader.size("num_heads");
  config.encoder.ffn = config.decoder.ffn = reader.size("d_ff");
  config.decoder.heads = config.decoder.kv_heads = config.encoder.heads;
  config.max_positions = reader.size("n_positions", 512);
  config.norm = NormKind::rms;
  config.norm_eps = static_cast<real>(reader.positive("layer_norm_epsilon", 1e-6));
  config.norm_bias = config.attention_bias = config.attention_output_bias = config.ffn_bias = false;
  config.positions = PositionKind::none;
  config.relative = RelativeKind::buckets;
  config.relative_buckets = reader.size("relative_attention_num_buckets", 32);
  config.relative_distance = reader.size("relative_attention_max_distance", 128);
  config.scale_scores = false;
  read_t5_feed_forward(reader, config, feed_forward);
  config.tie_output = reader.flag("tie_word_embeddings", tied);
  if (scales_logits(reader, config))
    config.logit_factor = static_cast<real>(1 / std::sqrt(static_cast<double>(config.width)));
  config.dropout.embedding = config.dropout.residual = config.dropout.attention = config.dropout.activation =
      reader.dropout("dropout_rate", 0.1);
  config.dropout.classifier = reader.dropout("classifier_dropout", 0);
  config.initializer_range = 0.05 * reader.at_least_zero("initializer_factor", 1);
  read_tokens(reader, config, {.pad = 0, .bos = {}, .eos = 1});
  const auto* classes = reader.find("architectures");
  const auto* name =
      classes && classes->is_array() && !classes->empty() ? classes->front().get_ptr<const std::string*>() : nullptr;
  if (name && name->ends_with("EncoderModel")) {
    config.family = Family::encoder;
    config.head = HeadKind::none;
    config.causal = false;
    config.decoder = {};
    reader.find("decoder_start_token_id");
    return;
  }
  config.family = Family::seq2seq;
  config.decoder_start_token = reader.token("decoder_start_token_id", config.vocab, 0);
  need_start(config);
}

void read_t5(ConfigReader& reader, Config& config) { read_t5_like(reader, config, "relu", true); }
void read_mt5(ConfigReader& reader, Config& config) { read_t5_like(reader, config, "gated-gelu", false); }

}  // namespace

FamilyReaders translator_readers() {
  return {{"marian", read_marian}, {"pegasus", read_pegasus}, {"bart", read_bart}, {"mbart", read_bart},
          {"m2m_100", read_m2m},   {"t5", read_t5},           {"mt5", read_mt5}};
}

}  // namespace limpid
