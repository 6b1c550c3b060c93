// Encoders: BERT, DistilBERT, RoBERTa, XLM-RoBERTa, MPNet, ModernBERT, the encoder of T5.

#include "base/error.h"
#include "models/config_family.h"

namespace limpid {
namespace {

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

void read_labels(ConfigReader& reader, Config& config) {
  constexpr int64_t kUsual = 2;  // Hugging Face's number where nothing is said
  if (const auto* names = reader.find("id2label")) config.labels = read_label_names(reader, *names);
  const bool named = !config.labels.empty();
  const int64_t count = reader.size("num_labels", named ? static_cast<int64_t>(config.labels.size()) : kUsual);
  check(!named || count == static_cast<int64_t>(config.labels.size()),
        "[config] num_labels is {}, id2label has {}: allowed is the same number", count, config.labels.size());
  for (int64_t i = 0; !named && i < count; ++i) config.labels.push_back("LABEL_" + std::to_string(i));
  // How the scores are meant is for those who show them (inference/fill_mask.h).
  reader.choice<bool>(
      "problem_type", true,
      {{"single_label_classification", true}, {"multi_label_classification", true}, {"regression", true}});
  config.dropout.classifier = config.dropout.residual;
  for (const char* key : {"classifier_dropout", "seq_classif_dropout"})
    config.dropout.classifier = reader.dropout(key, config.dropout.classifier);
}

std::string class_name(ConfigReader& reader) {
  const auto* classes = reader.find("architectures");
  const auto* first =
      classes && classes->is_array() && !classes->empty() ? classes->front().get_ptr<const std::string*>() : nullptr;
  return first ? *first : "";
}

// What BERT and those after it have in common; their keys are the same but for DistilBERT's.
struct EncoderKeys {
  const char *width = "hidden_size", *layers = "num_hidden_layers", *heads = "num_attention_heads",
             *ffn = "intermediate_size", *activation = "hidden_act", *dropout = "hidden_dropout_prob",
             *attention_dropout = "attention_probs_dropout_prob";
};

void read_encoder(ConfigReader& reader, Config& config, const EncoderKeys& keys, double eps, bool has_pooler) {
  config.family = Family::encoder;
  StackConfig& stack = config.encoder;
  config.width = reader.size(keys.width);
  stack.layers = reader.size(keys.layers);
  stack.heads = stack.kv_heads = reader.size(keys.heads);
  config.head_size = share({keys.width, config.width}, {keys.heads, stack.heads});
  stack.ffn = reader.size(keys.ffn);
  config.max_positions = reader.size("max_position_embeddings");
  config.norm_place = NormPlace::after;
  config.norm_eps = static_cast<real>(eps);
  config.embedding_norm = true;
  config.final_norm = false;
  config.causal = false;
  config.activation = reader.choice(keys.activation, Activation::gelu, activation_names());
  config.output_bias = true;
  config.tie_output = reader.flag("tie_word_embeddings", true);
  config.dropout.embedding = config.dropout.residual = reader.dropout(keys.dropout, 0.1);
  config.dropout.attention = reader.dropout(keys.attention_dropout, 0.1);
  config.initializer_range = reader.at_least_zero("initializer_range", 0.02);
  config.mask_token = reader.token("mask_token_id", config.vocab);
  read_head(reader, config, has_pooler);
}

void read_bert(ConfigReader& reader, Config& config) {
  config.token_types = reader.size("type_vocab_size", 2);
  read_encoder(reader, config, {}, reader.positive("layer_norm_eps", 1e-12), true);
  read_tokens(reader, config, {.pad = 0, .bos = {}, .eos = {}});
}

// Positions begin behind that of the padding token.
void read_roberta(ConfigReader& reader, Config& config) {
  config.token_types = reader.size("type_vocab_size", 2);
  read_encoder(reader, config, {}, reader.positive("layer_norm_eps", 1e-12), true);
  read_tokens(reader, config, {.pad = 1, .bos = 0, .eos = 2});
  config.names = "roberta";
  // Whatever the blocks have, its class guesses words behind GELU.
  if (config.guesses_words()) config.head_activation = Activation::gelu;
  config.position_offset = config.pad_token.value_or(1) + 1;
  check(config.max_positions > config.position_offset,
        "[config] max_position_embeddings is {}: the first {} are for padding, and none is left", config.max_positions,
        config.position_offset);
  config.max_positions -= config.position_offset;
}

void read_mpnet(ConfigReader& reader, Config& config) {
  read_roberta(reader, config);
  config.names = "mpnet";
  config.token_types = 0;
  config.relative = RelativeKind::buckets;
  config.relative_buckets = reader.size("relative_attention_num_buckets", 32);
  if (config.relative_buckets != 32)
    reader.wrong("relative_attention_num_buckets", config.relative_buckets, "32, which its class takes in any case");
  config.relative_distance = 128;
}

void read_distilbert(ConfigReader& reader, Config& config) {
  read_encoder(reader, config,
               {.width = "dim",
                .layers = "n_layers",
                .heads = "n_heads",
                .ffn = "hidden_dim",
                .activation = "activation",
                .dropout = "dropout",
                .attention_dropout = "attention_dropout"},
               1e-12, false);
  if (config.classifies()) config.head_activation = Activation::relu;
  reader.find("sinusoidal_pos_embds");  // only says how the table of positions began
  read_tokens(reader, config, {.pad = 0, .bos = {}, .eos = {}});
}

void read_modernbert(ConfigReader& reader, Config& config) {
  const bool bias = reader.flag("attention_bias", false), norm_bias = reader.flag("norm_bias", false);
  read_encoder(
      reader, config,
      {.activation = "hidden_activation", .dropout = "embedding_dropout", .attention_dropout = "attention_dropout"},
      reader.positive("norm_eps", 1e-5), false);
  config.dropout.residual = config.dropout.attention;
  config.dropout.activation = reader.dropout("mlp_dropout", 0);
  config.norm_place = NormPlace::before;
  config.norm_bias = norm_bias;
  config.final_norm = true;
  config.first_norm = false;
  config.attention_bias = config.attention_output_bias = bias;
  config.ffn_bias = reader.flag("mlp_bias", false);
  config.gated = config.fused_gate = true;
  config.head_bias = reader.flag("classifier_bias", false);
  config.output_bias = config.classifies() || reader.flag("decoder_bias", true);
  config.head_activation = reader.choice("classifier_activation", Activation::gelu, activation_names());
  check(!config.classifies(),
        "[config] architectures names a class that classifies texts: of ModernBERT Limpid reads "
        "the encoder and the head that guesses words");
  read_rope(reader, config,
            {.theta = "global_rope_theta",
             .default_theta = 160000,
             .local_theta = "local_rope_theta",
             .default_local_theta = 10000});
  // Half of local_attention on each side of the token.
  const int64_t every = reader.size("global_attn_every_n_layers", 3), window = reader.size("local_attention", 128);
  read_windows(reader, config, window / 2 + 1, [&](int64_t layer) { return layer % every != 0; });
  read_tokens(reader, config, {.pad = 50283, .bos = 50281, .eos = 50282});
}

}  // namespace

void read_head(ConfigReader& reader, Config& config, bool has_pooler) {
  const std::string name = class_name(reader);
  const auto ends = [&](std::string_view end) { return name.ends_with(end); };
  if (name.empty())
    config.head = reader.has("id2label") || reader.has("num_labels") ? HeadKind::labels : HeadKind::words;
  else if (ends("ForMaskedLM") || ends("ForPreTraining") || ends("LMHeadModel"))
    config.head = HeadKind::words;
  else if (ends("ForSequenceClassification"))
    config.head = HeadKind::labels;
  else
    config.head = ends("Model") && has_pooler ? HeadKind::pooler : HeadKind::none;
  if (config.head == HeadKind::none && !ends("Model"))
    config.notes.push_back(fmt::format("the head of {} is not read: the model gives vectors", name));
  if (config.head == HeadKind::labels) read_labels(reader, config);
  config.head_activation = config.head == HeadKind::words ? config.activation : Activation::tanh;
}

FamilyReaders encoder_readers() {
  return {{"bert", read_bert},
          {"distilbert", read_distilbert},
          {"roberta", read_roberta},
          {"xlm-roberta", read_roberta},
          {"camembert", read_roberta},
          {"mpnet", read_mpnet},
          {"modernbert", read_modernbert}};
}

}  // namespace limpid
