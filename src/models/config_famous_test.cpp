// What config.json files of well-known models say, in full: they must be understood, and without a note.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/config_examples.h"

namespace limpid {
namespace {

using ::testing::IsEmpty;

Config understood(const char* text) {
  Config config = parse_config(examples::Json::parse(text));
  EXPECT_THAT(config.notes, IsEmpty());
  EXPECT_FALSE(config.only_limpid);
  return config;
}

TEST(FamousConfig, Gpt2Small) {
  const Config config = understood(R"({
    "activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1, "bos_token_id": 50256,
    "embd_pdrop": 0.1, "eos_token_id": 50256, "initializer_range": 0.02, "layer_norm_epsilon": 1e-05,
    "model_type": "gpt2", "n_ctx": 1024, "n_embd": 768, "n_head": 12, "n_inner": null, "n_layer": 12, "n_positions": 1024,
    "reorder_and_upcast_attn": false, "resid_pdrop": 0.1, "scale_attn_by_inverse_layer_idx": false,
    "scale_attn_weights": true, "summary_activation": null, "summary_first_dropout": 0.1,
    "summary_proj_to_labels": true, "summary_type": "cls_index", "summary_use_proj": true,
    "task_specific_params": {"text-generation": {"do_sample": true, "max_length": 50}},
    "transformers_version": "4.30.0", "use_cache": true, "vocab_size": 50257})");
  EXPECT_EQ(config.decoder.ffn, 3072);
  EXPECT_EQ(config.head_size, 64);
  EXPECT_EQ(config.eos_token, 50256);
}

TEST(FamousConfig, Llama2Of7B) {
  const Config config = understood(R"({
    "_name_or_path": "meta-llama/Llama-2-7b-hf", "architectures": ["LlamaForCausalLM"], "bos_token_id": 1,
    "eos_token_id": 2, "hidden_act": "silu", "hidden_size": 4096, "initializer_range": 0.02, "intermediate_size": 11008,
    "max_position_embeddings": 4096, "model_type": "llama", "num_attention_heads": 32, "num_hidden_layers": 32,
    "num_key_value_heads": 32, "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_scaling": null,
    "tie_word_embeddings": false, "torch_dtype": "float16", "transformers_version": "4.31.0.dev0", "use_cache": true,
    "vocab_size": 32000})");
  EXPECT_EQ(config.head_size, 128);
  EXPECT_EQ(config.decoder.kv_heads, 32);
  EXPECT_EQ(config.norm_eps, static_cast<real>(1e-5));
}

TEST(FamousConfig, TinyLlama) {
  const Config config = understood(R"({
    "architectures": ["LlamaForCausalLM"], "attention_bias": false, "bos_token_id": 1, "eos_token_id": 2,
    "hidden_act": "silu", "hidden_size": 2048, "initializer_range": 0.02, "intermediate_size": 5632,
    "max_position_embeddings": 2048, "model_type": "llama", "num_attention_heads": 32, "num_hidden_layers": 22,
    "num_key_value_heads": 4, "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_scaling": null, "rope_theta": 10000.0,
    "tie_word_embeddings": false, "torch_dtype": "bfloat16", "transformers_version": "4.35.0", "use_cache": true,
    "vocab_size": 32000})");
  EXPECT_EQ(config.head_size, 64);
  EXPECT_EQ(config.decoder.kv_heads, 4);
}

TEST(FamousConfig, LlamaAsWrittenByTransformers5) {
  const Config config = understood(R"({
    "architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0, "bos_token_id": 0,
    "dtype": "bfloat16", "eos_token_id": [0, 2], "head_dim": 64, "hidden_act": "silu", "hidden_size": 576,
    "initializer_range": 0.041666666666666664, "intermediate_size": 1536, "is_llama_config": null,
    "max_position_embeddings": 8192, "mlp_bias": false, "model_type": "llama", "num_attention_heads": 9,
    "num_hidden_layers": 30, "num_key_value_heads": 3, "pad_token_id": null, "pretraining_tp": 1,
    "rms_norm_eps": 1e-05, "rope_interleaved": false,
    "rope_parameters": {"rope_theta": 100000, "rope_type": "default"}, "tie_word_embeddings": true,
    "transformers_version": "5.0.0", "use_cache": true, "vocab_size": 49152})");
  EXPECT_EQ(config.rope.theta, 100000);
  EXPECT_TRUE(config.tie_output);
  EXPECT_EQ(config.eos_token, 0);
}

TEST(FamousConfig, BertBaseUncased) {
  const Config config = understood(R"({
    "architectures": ["BertForMaskedLM"], "attention_probs_dropout_prob": 0.1, "gradient_checkpointing": false,
    "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "hidden_size": 768, "initializer_range": 0.02,
    "intermediate_size": 3072, "layer_norm_eps": 1e-12, "max_position_embeddings": 512, "model_type": "bert",
    "num_attention_heads": 12, "num_hidden_layers": 12, "pad_token_id": 0, "position_embedding_type": "absolute",
    "transformers_version": "4.6.0.dev0", "type_vocab_size": 2, "use_cache": true, "vocab_size": 30522})");
  EXPECT_EQ(config.head_size, 64);
  EXPECT_EQ(config.encoder.ffn, 3072);
}

TEST(FamousConfig, BertBaseMultilingual) {
  understood(R"({
    "architectures": ["BertForMaskedLM"], "attention_probs_dropout_prob": 0.1, "classifier_dropout": null,
    "directionality": "bidi", "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "hidden_size": 768,
    "initializer_range": 0.02, "intermediate_size": 3072, "layer_norm_eps": 1e-12, "max_position_embeddings": 512,
    "model_type": "bert", "num_attention_heads": 12, "num_hidden_layers": 12, "pad_token_id": 0,
    "pooler_fc_size": 768, "pooler_num_attention_heads": 12, "pooler_num_fc_layers": 3, "pooler_size_per_head": 128,
    "pooler_type": "first_token_transform", "position_embedding_type": "absolute",
    "transformers_version": "4.24.0", "type_vocab_size": 2, "use_cache": true, "vocab_size": 119547})");
}

TEST(FamousConfig, OpusMt) {
  const Config config = understood(R"({
    "_name_or_path": "Helsinki-NLP/opus-mt-en-de", "_num_labels": 3, "activation_dropout": 0.0,
    "activation_function": "swish", "add_bias_logits": false, "add_final_layer_norm": false,
    "architectures": ["MarianMTModel"], "attention_dropout": 0.0, "bad_words_ids": [[58100]], "bos_token_id": 0,
    "classif_dropout": 0.0, "classifier_dropout": 0.0, "d_model": 512, "decoder_attention_heads": 8,
    "decoder_ffn_dim": 2048, "decoder_layerdrop": 0.0, "decoder_layers": 6, "decoder_start_token_id": 58100,
    "decoder_vocab_size": 58101, "dropout": 0.1, "encoder_attention_heads": 8, "encoder_ffn_dim": 2048,
    "encoder_layerdrop": 0.0, "encoder_layers": 6, "eos_token_id": 0, "extra_pos_embeddings": 0,
    "forced_eos_token_id": 0, "id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}, "init_std": 0.02,
    "is_encoder_decoder": true, "label2id": {"LABEL_0": 0, "LABEL_1": 1, "LABEL_2": 2}, "max_length": 512,
    "max_position_embeddings": 512, "model_type": "marian", "normalize_before": false, "normalize_embedding": false,
    "num_beams": 6, "num_hidden_layers": 6, "pad_token_id": 58100, "scale_embedding": true,
    "share_encoder_decoder_embeddings": true, "static_position_embeddings": true,
    "transformers_version": "4.22.0.dev0", "use_cache": true, "vocab_size": 58101})");
  EXPECT_EQ(config.activation, Activation::silu);
  EXPECT_EQ(config.norm_place, NormPlace::after);
  EXPECT_TRUE(config.scale_embedding);
  EXPECT_EQ(config.pad_token, 58100);
  EXPECT_EQ(config.decoder_start_token, 58100);
}

TEST(FamousConfig, PegasusXsum) {
  const Config config = understood(R"({
    "activation_dropout": 0.1, "activation_function": "relu", "add_bias_logits": false, "add_final_layer_norm": true,
    "architectures": ["PegasusForConditionalGeneration"], "attention_dropout": 0.1, "bos_token_id": 0,
    "classif_dropout": 0.0, "d_model": 1024, "decoder_attention_heads": 16, "decoder_ffn_dim": 4096,
    "decoder_layerdrop": 0.0, "decoder_layers": 16, "decoder_start_token_id": 0, "do_blenderbot_90_layernorm": false,
    "dropout": 0.1, "encoder_attention_heads": 16, "encoder_ffn_dim": 4096, "encoder_layerdrop": 0.0,
    "encoder_layers": 16, "eos_token_id": 1, "extra_pos_embeddings": 0, "force_bos_token_to_be_generated": false,
    "forced_eos_token_id": 1, "id2label": {"0": "LABEL_0"}, "init_std": 0.02, "is_encoder_decoder": true,
    "label2id": {"LABEL_0": 0}, "length_penalty": 0.6, "max_length": 64, "max_position_embeddings": 512,
    "model_type": "pegasus", "normalize_before": true, "normalize_embedding": false, "num_beams": 8,
    "num_hidden_layers": 16, "pad_token_id": 0, "save_step": null, "scale_embedding": true,
    "static_position_embeddings": true, "task_specific_params": {}, "vocab_size": 96103})");
  EXPECT_TRUE(config.final_norm);
  EXPECT_EQ(config.dropout.activation, 0.1);
}

}  // namespace
}  // namespace limpid
