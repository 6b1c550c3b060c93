// The families of config.json: https://huggingface.co/docs/transformers, configuration_<model_type>.py. Sizes are
// required even where Hugging Face has a default, so that a broken file is noticed.

#include "base/error.h"
#include "models/config_steps.h"

namespace limpid {
namespace {

struct Named {
  std::string_view key;
  int64_t value;
};

int64_t share(const Named& width, const Named& heads, std::string_view hint = "") {
  check(width.value % heads.value == 0, "[config] {} {} does not divide {} {}: every head takes an equal part of it{}",
        heads.key, heads.value, width.key, width.value, hint);
  return width.value / heads.value;
}

StackConfig read_stack(ConfigReader& reader, Config& config, const std::string& side) {
  StackConfig stack;
  stack.layers = reader.size(side + "_layers");
  stack.heads = stack.kv_heads = reader.size(side + "_attention_heads");
  stack.ffn = reader.size(side + "_ffn_dim");
  config.head_size = share({"d_model", config.width}, {side + "_attention_heads", stack.heads});
  return stack;
}

// Marian (post-norm) and Pegasus (pre-norm with a norm at the end). Hugging Face's classes fix the place of the norm
// and ignore normalize_before.
void read_norm_place(ConfigReader& reader, Config& config) {
  const bool family_first = config.model_type == "pegasus";
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

void read_seq2seq(ConfigReader& reader, Config& config) {
  const bool pegasus = config.model_type == "pegasus";
  config.family = Family::seq2seq;
  config.width = reader.size("d_model");
  config.encoder = read_stack(reader, config, "encoder");
  config.decoder = read_stack(reader, config, "decoder");
  check(config.encoder.heads == config.decoder.heads,
        "[config] encoder_attention_heads {} and decoder_attention_heads {} differ: allowed is the same number",
        config.encoder.heads, config.decoder.heads);
  config.max_positions = reader.size("max_position_embeddings", 1024);
  if (const int64_t target = reader.size("decoder_vocab_size", config.vocab); target != config.vocab)
    fail("[config] decoder_vocab_size {} differs from vocab_size {}: allowed is one vocabulary for both", target,
         config.vocab);
  read_norm_place(reader, config);
  config.positions = PositionKind::sinusoidal;
  config.activation = reader.choice("activation_function", Activation::gelu, activation_names());
  config.output_bias = true;  // final_logits_bias
  config.scale_embedding = reader.flag("scale_embedding", false);
  config.tie_output = reader.flag("tie_word_embeddings", true);
  config.share_source_embedding = reader.flag("share_encoder_decoder_embeddings", true);
  config.only_limpid |= pegasus && !config.share_source_embedding;  // Pegasus' classes share always
  config.dropout.embedding = config.dropout.residual = reader.dropout("dropout", 0.1);
  config.dropout.attention = reader.dropout("attention_dropout", 0);
  config.dropout.activation = reader.dropout("activation_dropout", 0);
  config.initializer_range = reader.at_least_zero("init_std", 0.02);
  config.pad_token = reader.token("pad_token_id", config.vocab, pegasus ? 0 : 58100);
  config.bos_token = reader.token("bos_token_id", config.vocab);
  config.eos_token = reader.token("eos_token_id", config.vocab, pegasus ? 1 : 0);
  config.decoder_start_token = reader.token("decoder_start_token_id", config.vocab, pegasus ? 0 : 58100);
  check(config.decoder_start_token.has_value(),
        "[config] decoder_start_token_id is missing: the token that a translation starts from");
}

void read_gpt2(ConfigReader& reader, Config& config) {
  config.family = Family::language_model;
  config.width = reader.size("n_embd");
  config.max_positions = reader.size("n_positions");
  config.decoder.layers = reader.size("n_layer");
  config.decoder.heads = config.decoder.kv_heads = reader.size("n_head");
  config.head_size = share({"n_embd", config.width}, {"n_head", config.decoder.heads});
  config.decoder.ffn = reader.size("n_inner", 4 * config.width);
  config.norm_eps = static_cast<real>(reader.positive("layer_norm_epsilon", 1e-5));
  config.activation = reader.choice("activation_function", Activation::gelu_tanh, activation_names());
  config.scale_scores = reader.flag("scale_attn_weights", true);
  config.layout = WeightLayout::in_out;
  config.fused_qkv = true;
  config.tie_output = reader.flag("tie_word_embeddings", true);
  config.dropout.embedding = reader.dropout("embd_pdrop", 0.1);
  config.dropout.attention = reader.dropout("attn_pdrop", 0.1);
  config.dropout.residual = reader.dropout("resid_pdrop", 0.1);
  config.initializer_range = reader.at_least_zero("initializer_range", 0.02);
  config.pad_token = reader.token("pad_token_id", config.vocab);
  config.bos_token = reader.token("bos_token_id", config.vocab, 50256);
  config.eos_token = reader.token("eos_token_id", config.vocab, 50256);
}

void read_llama(ConfigReader& reader, Config& config) {
  config.family = Family::language_model;
  StackConfig& stack = config.decoder;
  config.width = reader.size("hidden_size");
  stack.layers = reader.size("num_hidden_layers");
  stack.heads = reader.size("num_attention_heads");
  stack.kv_heads = reader.size("num_key_value_heads", stack.heads);
  check(stack.heads % stack.kv_heads == 0,
        "[config] num_key_value_heads {} does not divide num_attention_heads {}: equally many heads share each key",
        stack.kv_heads, stack.heads);
  config.head_size = reader.has("head_dim") ? reader.size("head_dim")
                                            : share({"hidden_size", config.width}, {"num_attention_heads", stack.heads},
                                                    ", or head_dim says its size");
  stack.ffn = reader.size("intermediate_size");
  config.max_positions = reader.size("max_position_embeddings", 2048);
  config.norm = NormKind::rms;
  config.norm_eps = static_cast<real>(reader.positive("rms_norm_eps", 1e-6));
  config.norm_bias = false;
  config.positions = PositionKind::rotary;
  config.activation = reader.choice("hidden_act", Activation::silu, activation_names());
  config.gated = true;
  config.attention_bias = reader.flag("attention_bias", false);
  config.ffn_bias = reader.flag("mlp_bias", false);
  config.tie_output = reader.flag("tie_word_embeddings", false);
  config.dropout.attention = reader.dropout("attention_dropout", 0);
  config.initializer_range = reader.at_least_zero("initializer_range", 0.02);
  config.pad_token = reader.token("pad_token_id", config.vocab);
  config.bos_token = reader.token("bos_token_id", config.vocab, 1);
  config.eos_token = reader.token("eos_token_id", config.vocab, 2);
}

// The labels in the order of their ids, which id2label has as texts: {"0": "bad", "1": "good"}.
std::vector<std::string> read_label_names(ConfigReader& reader, const nlohmann::ordered_json& names) {
  constexpr std::string_view kAllowed = "an object with a text for each of \"0\", \"1\", ... without a gap";
  if (!names.is_object()) reader.wrong("id2label", names, kAllowed);
  std::vector<std::string> labels;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string key = std::to_string(i);
    if (!names.contains(key) || !names.at(key).is_string()) reader.wrong("id2label", names, kAllowed);
    labels.push_back(names.at(key).get<std::string>());
  }
  return labels;
}

// Whether a BERT classifies texts is said by the class that wrote it; where none is named, by its having labels.
bool is_classifier(ConfigReader& reader) {
  const auto* classes = reader.find("architectures");
  if (!classes || classes->empty()) return reader.has("id2label") || reader.has("num_labels");
  const auto* first = classes->is_array() ? classes->front().get_ptr<const std::string*>() : nullptr;
  return first && *first == "BertForSequenceClassification";
}

void read_labels(ConfigReader& reader, Config& config) {
  constexpr int64_t kUsual = 2;  // Hugging Face's number where nothing is said
  if (const auto* names = reader.find("id2label")) config.labels = read_label_names(reader, *names);
  const bool named = !config.labels.empty();
  const int64_t count = reader.size("num_labels", named ? static_cast<int64_t>(config.labels.size()) : kUsual);
  check(!named || count == static_cast<int64_t>(config.labels.size()),
        "[config] num_labels is {}, id2label has {}: allowed is the same number", count, config.labels.size());
  for (int64_t i = 0; !named && i < count; ++i) config.labels.push_back("LABEL_" + std::to_string(i));
  check(count > 1, "[config] num_labels is 1: a classifier has at least two (with one, others compute a regression)");
  reader.choice<bool>("problem_type", true, {{"single_label_classification", true}});
  config.dropout.classifier = reader.dropout("classifier_dropout", config.dropout.residual);
}

void read_bert(ConfigReader& reader, Config& config) {
  config.family = Family::encoder;
  StackConfig& stack = config.encoder;
  config.width = reader.size("hidden_size");
  stack.layers = reader.size("num_hidden_layers");
  stack.heads = stack.kv_heads = reader.size("num_attention_heads");
  config.head_size = share({"hidden_size", config.width}, {"num_attention_heads", stack.heads});
  stack.ffn = reader.size("intermediate_size");
  config.max_positions = reader.size("max_position_embeddings");
  config.token_types = reader.size("type_vocab_size", 2);
  config.norm_place = NormPlace::after;
  config.norm_eps = static_cast<real>(reader.positive("layer_norm_eps", 1e-12));
  config.embedding_norm = true;
  config.final_norm = false;
  config.causal = false;
  config.activation = reader.choice("hidden_act", Activation::gelu, activation_names());
  config.output_bias = true;
  config.tie_output = reader.flag("tie_word_embeddings", true);
  config.dropout.embedding = config.dropout.residual = reader.dropout("hidden_dropout_prob", 0.1);
  config.dropout.attention = reader.dropout("attention_probs_dropout_prob", 0.1);
  config.initializer_range = reader.at_least_zero("initializer_range", 0.02);
  config.pad_token = reader.token("pad_token_id", config.vocab, 0);
  config.bos_token = reader.token("bos_token_id", config.vocab);
  config.eos_token = reader.token("eos_token_id", config.vocab);
  config.mask_token = reader.token("mask_token_id", config.vocab);
  if (is_classifier(reader)) read_labels(reader, config);
}

ContextUse read_context(ConfigReader& reader) {
  const bool additive = reader.choice<bool>("attention", false, {{"none", false}, {"additive", true}});
  const auto context = reader.choice<ContextUse>(
      "context", ContextUse::initial, {{"initial", ContextUse::initial}, {"every_step", ContextUse::every_step}});
  check(!additive || context == ContextUse::initial,
        "[config] context is \"every_step\" where attention is \"additive\", which computes a context of its own for "
        "every "
        "step: allowed is context \"initial\", or attention \"none\"");
  return additive ? ContextUse::additive : context;
}

// Our own: no Hugging Face class reads it. Parameters have the names of PyTorch's torch.nn.GRU and LSTM.
void read_rnn(ConfigReader& reader, Config& config) {
  config.family = Family::rnn_seq2seq;
  config.only_limpid = true;
  RnnConfig& rnn = config.rnn;
  rnn.layers = reader.size("layers");
  rnn.embed = reader.size("embed_dim");
  rnn.hidden = reader.size("hidden_size");
  rnn.cell = reader.choice<CellKind>("cell", {{"gru", CellKind::gru}, {"lstm", CellKind::lstm}});
  rnn.context = read_context(reader);
  rnn.bidirectional = reader.flag("bidirectional", false);
  check(!rnn.bidirectional || rnn.context == ContextUse::additive,
        "[config] bidirectional is true where attention is \"none\": the decoder starts from the encoder's states, "
        "layer by "
        "layer, and there would be twice as many: allowed is false, or attention \"additive\"");
  rnn.reverse_source = reader.flag("reverse_source", false);
  check(!rnn.reverse_source || rnn.context != ContextUse::additive,
        "[config] reverse_source is true where attention is \"additive\", which looks at all words anyway: allowed is "
        "false, or attention \"none\"");
  config.width = rnn.hidden;
  config.positions = PositionKind::none;
  config.final_norm = false;
  config.activation = Activation::tanh;
  config.output_bias = true;
  config.tie_output = config.share_source_embedding = false;
  config.dropout.residual = reader.dropout("dropout", 0);
  config.initializer_range = reader.at_least_zero("initializer_range", 0.02);
  config.pad_token = reader.token("pad_token_id", config.vocab);
  config.bos_token = reader.token("bos_token_id", config.vocab);
  config.eos_token = reader.token("eos_token_id", config.vocab);
  config.decoder_start_token = reader.token("decoder_start_token_id", config.vocab);
  check(config.decoder_start_token.has_value(),
        "[config] decoder_start_token_id is missing: the token that a translation starts from");
}

}  // namespace

ConfigReader::Names<Activation> activation_names() {
  return {{"relu", Activation::relu},
          {"gelu", Activation::gelu},
          {"gelu_python", Activation::gelu},
          {"gelu_new", Activation::gelu_tanh},
          {"gelu_pytorch_tanh", Activation::gelu_tanh},
          {"gelu_fast", Activation::gelu_tanh},
          {"silu", Activation::silu},
          {"swish", Activation::silu},
          {"tanh", Activation::tanh},
          {"linear", Activation::none}};
}

void read_family(ConfigReader& reader, Config& config) {
  using Read = void (*)(ConfigReader&, Config&);
  const ConfigReader::Names<Read> families = {{"marian", read_seq2seq}, {"pegasus", read_seq2seq},
                                              {"gpt2", read_gpt2},      {"llama", read_llama},
                                              {"bert", read_bert},      {"rnn_seq2seq", read_rnn}};
  const Read read = reader.choice("model_type", families);
  config.model_type = reader.find("model_type")->get<std::string>();
  config.vocab = reader.size("vocab_size");
  read(reader, config);
}

}  // namespace limpid
