// What Limpid does not compute, and what it may ignore.

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "base/nearest.h"
#include "models/config_steps.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

// A key that changes the mathematics, and the values under which it changes nothing; null (or no key) always does. What
// a family has read itself is its own matter.
struct Limit {
  std::string_view model_types;  // that it applies to, or all
  std::string_view key;
  std::vector<Json> allowed;
};

const std::vector<Limit>& limits() {
  static const std::vector<Limit> table = {
      {"all", "pruned_heads", {Json::object()}},
      {"all",
       "quantization_config",  // docs/quantization.md; weights of other methods are not read
       {Json{{"quant_method", "limpid"}, {"bits", 8}}, Json{{"quant_method", "limpid"}, {"bits", 4}}}},
      {"all", "tie_encoder_decoder", {false}},
      {"all", "attn_logit_softcapping", {}},
      {"all", "final_logit_softcapping", {}},
      {"all", "query_pre_attn_scalar", {}},
      {"all", "attention_multiplier", {}},  // instead of 1/√d_k, so that not even 1 is neutral
      {"all", "embedding_multiplier", {1}},
      {"all", "residual_multiplier", {1}},
      {"all", "logits_scaling", {1}},
      {"all", "logit_scale", {1}},
      {"all", "partial_rotary_factor", {1}},
      {"all", "rope_interleaved", {false}},
      {"all", "alibi", {false}},
      {"all", "parallel_attn", {false}},
      {"all", "use_parallel_residual", {false}},
      {"all", "use_qk_norm", {false}},
      {"all", "qk_layernorm", {false}},
      {"all", "num_experts", {0, 1}},
      {"all", "num_local_experts", {0, 1}},
      {"all", "clip_qkv", {}},
      {"all", "scale_attn_by_inverse_layer_idx", {false}},
      {"all", "use_bidirectional_attention", {false}},
      {"all", "no_rope_layers", {}},
      {"all", "add_cross_attention", {false}},
      {"bert roberta xlm-roberta camembert", "is_decoder", {false}},
      {"gpt2 bert roberta xlm-roberta camembert", "position_embedding_type", {"absolute"}},
      {"llama", "position_embedding_type", {"rope", "rotary"}},
      {"marian pegasus", "normalize_embedding", {false}},
      {"marian pegasus", "static_position_embeddings", {true}},
      {"rnn_seq2seq", "tie_word_embeddings", {false}},
      {"rnn_seq2seq", "share_encoder_decoder_embeddings", {false}},
  };
  return table;
}

// Whether a list of words, separated by spaces, has the word.
bool has_word(std::string_view words, std::string_view word) {
  return fmt::format(" {} ", words).find(fmt::format(" {} ", word)) != std::string::npos;
}

void refuse_windows(ConfigReader& reader) {
  if (reader.was_asked("layer_types")) return;  // the family reads windows
  const bool used = reader.flag("use_sliding_window", true);
  if (const Json* window = reader.find("sliding_window"); window && used)
    reader.wrong("sliding_window", *window, "null, or use_sliding_window false");
  if (const Json* types = reader.find("layer_types")) {
    const bool full = types->is_array() && std::all_of(types->begin(), types->end(),
                                                       [](const Json& type) { return type == "full_attention"; });
    if (!full) reader.wrong("layer_types", *types, "a list of \"full_attention\"");
  }
}

void note_training_only(ConfigReader& reader, Config& config) {
  for (const char* key : {"encoder_layerdrop", "decoder_layerdrop", "layerdrop"})
    if (reader.dropout(key, 0) > 0)
      config.notes.push_back(fmt::format("{} is ignored: every layer is used at every step of training", key));
  if (reader.size("pretraining_tp", 1) > 1)
    config.notes.emplace_back("pretraining_tp is ignored: it only splits sums that are computed whole here");
}

// Keys that say nothing about the mathematics of one step: how the file came about, classification heads, search.
constexpr std::string_view kSilent =
    " add_bias_logits add_cross_attention architectures auto_map bad_words_ids begin_suppress_tokens"
    " chunk_size_feed_forward classif_dropout classifier_dropout cls_token_id cross_attention_hidden_size"
    " custom_pipelines decoder_start_token_id directionality diversity_penalty do_blenderbot_90_layernorm"
    " do_sample dtype early_stopping encoder_no_repeat_ngram_size exponential_decay_length_penalty"
    " extra_pos_embeddings finetuning_task force_bos_token_to_be_generated forced_bos_token_id"
    " forced_eos_token_id gradient_checkpointing id2label is_decoder is_encoder_decoder"
    " keys_to_ignore_at_inference label2id length_penalty mask_token_id max_length max_window_layers"
    " min_length model_max_length n_ctx no_repeat_ngram_size num_beam_groups num_beams num_labels"
    " num_return_sequences output_attentions output_hidden_states output_past output_scores pooler_fc_size"
    " pooler_num_attention_heads pooler_num_fc_layers pooler_size_per_head pooler_type prefix problem_type"
    " remove_invalid_values reorder_and_upcast_attn repetition_penalty return_dict return_dict_in_generate"
    " seq_classif_dropout sep_token_id suppress_tokens task_specific_params temperature tf_legacy_loss tokenizer_class"
    " top_k top_p torch_dtype torchscript transformers_version typical_p unk_token_id use_bfloat16 use_cache vocab_file"
    " cache_implementation classifier_pooling deterministic_flash_attn initializer_cutoff_factor"
    " original_max_position_embeddings output_router_logits qa_dropout repad_logits_with_grad"
    " reference_compile router_aux_loss_coef slow_but_exact sparse_pred_ignore_index sparse_prediction ";

bool silent(const std::string& key, const Config& config) {
  if (has_word(kSilent, key) || key.starts_with("_") || key.starts_with("summary_")) return true;
  // Marian and Pegasus repeat encoder_layers under this name.
  return key == "num_hidden_layers" && config.cross_attention();
}

// {"quant_method": "limpid", "type": "Q4_K_M", "types": {…}}: matrices of several types (docs/quantization.md).
bool is_mix(const Json& quantization) {
  return quantization.is_object() && quantization.value("quant_method", Json()) == "limpid" &&
         quantization.value("type", Json()).is_string() && quantization.value("types", Json()).is_object();
}

}  // namespace

void refuse_unsupported(ConfigReader& reader, Config& config) {
  for (const Limit& limit : limits()) {
    if (limit.model_types != "all" && !has_word(limit.model_types, config.model_type)) continue;
    if (reader.was_asked(limit.key)) continue;
    const Json* value = reader.find(limit.key);
    if (value && limit.key == "quantization_config" && is_mix(*value)) continue;
    if (!value || std::find(limit.allowed.begin(), limit.allowed.end(), *value) != limit.allowed.end()) continue;
    std::string allowed;
    for (const Json& each : limit.allowed) allowed += shown(each) + " or ";
    reader.wrong(limit.key, *value, allowed + "null: Limpid computes nothing else");
  }
  refuse_windows(reader);
  note_training_only(reader, config);
}

void note_ignored(const ConfigReader& reader, Config& config) {
  for (const std::string& key : reader.never_asked())
    if (!silent(key, config))
      config.notes.push_back(
          fmt::format("{} is ignored: Limpid does not know it{}", key, did_you_mean(key, reader.asked())));
}

}  // namespace limpid
