// What is refused, and that messages name the field, its value and what is allowed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/config_examples.h"

namespace limpid {
namespace {

using examples::error_of;
using examples::Json;
using examples::least;
using examples::parsed;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

struct Refused {
  const char *model_type, *keys, *begin, *rest;
};

void expect_refused(const std::vector<Refused>& cases) {
  for (const Refused& each : cases)
    EXPECT_THAT(error_of(each.model_type, each.keys),
                AllOf(StartsWith(std::string("[config] ") + each.begin), HasSubstr(each.rest)))
        << each.model_type << " " << each.keys;
}

TEST(ConfigErrors, ModelTypeMustBeOneOfOurs) {
  EXPECT_THAT(error_of("gpt2", R"({"model_type": "mamba"})"),
              AllOf(StartsWith("[config] model_type is \"mamba\": allowed is "), HasSubstr("\"marian\", \"pegasus\""),
                    HasSubstr("\"rnn_seq2seq\"")));
  EXPECT_THAT(error_of("gpt2", R"({"model_type": null})"),
              AllOf(StartsWith("[config] model_type is missing"), HasSubstr("\"llama\"")));
}

TEST(ConfigErrors, SizesMustBeThere) {
  for (const char* type : {"marian", "pegasus", "gpt2", "llama", "bert", "rnn_seq2seq"}) {
    const Json whole = least(type);
    for (const auto& item : whole.items()) {
      Json broken = whole;
      broken.erase(item.key());
      const bool optional = std::string(type) == "pegasus" && item.key() == "decoder_start_token_id";
      EXPECT_THAT(error_of([&] { parse_config(broken); }),
                  StartsWith(optional ? "" : "[config] " + item.key() + " is missing"))
          << type;
      broken[item.key()] = Json::array();
      EXPECT_THAT(error_of([&] { parse_config(broken); }),
                  StartsWith("[config] " + item.key() + " is []: allowed is "));
    }
  }
  EXPECT_EQ(error_of([] {
              parse_config({{"model_type", "gpt2"}, {"vocab_size", 61}, {"n_head", 4}});
            }),
            "[config] n_embd, n_layer, n_positions are missing: gpt2 has no model without them");
  Json misspelt = least("gpt2");
  misspelt.erase("n_layer");
  misspelt["n_layers"] = 2;
  EXPECT_THAT(error_of([&] { parse_config(misspelt); }),
              AllOf(StartsWith("[config] n_layer is missing"), HasSubstr("did you mean n_layers?")));
}

TEST(ConfigErrors, WrongTypesAndRanges) {
  expect_refused({
      {"gpt2", R"({"n_layer": "2"})", "n_layer is \"2\": ", "a whole number from 1"},
      {"gpt2", R"({"n_layer": 2.5})", "n_layer is 2.5: ", "a whole number from 1"},
      {"gpt2", R"({"n_layer": 0})", "n_layer is 0: ", "a whole number from 1"},
      {"gpt2", R"({"n_embd": -16})", "n_embd is -16: ", "a whole number from 1"},
      {"gpt2", R"({"vocab_size": 3000000000})", "vocab_size is 3000000000: ", "to 2147483647"},
      {"gpt2", R"({"vocab_size": 18446744073709551615})", "vocab_size is 18446744073709551615: ", "to 2147483647"},
      {"gpt2", R"({"vocab_size": 1e30})", "vocab_size is 1e+30: ", "a whole number"},
      {"gpt2", R"({"n_inner": 0})", "n_inner is 0: ", "a whole number from 1"},
      {"gpt2", R"({"tie_word_embeddings": 1})", "tie_word_embeddings is 1: ", "true or false"},
      {"gpt2", R"({"resid_pdrop": 1})", "resid_pdrop is 1", "from 0 to below 1"},
      {"gpt2", R"({"embd_pdrop": -0.1})", "embd_pdrop is -0.1: ", "from 0 to below 1"},
      {"gpt2", R"({"attn_pdrop": "no"})", "attn_pdrop is \"no\": ", "from 0 to below 1"},
      {"gpt2", R"({"layer_norm_epsilon": 0})", "layer_norm_epsilon is 0", "above 0"},
      {"gpt2", R"({"layer_norm_epsilon": "1e-5"})", "layer_norm_epsilon is \"1e-5\": ", "above 0"},
      {"gpt2", R"({"initializer_range": -1})", "initializer_range is -1", "from 0"},
      {"gpt2", R"({"activation_function": "relu2"})", "activation_function is \"relu2\": ", "\"gelu_new\""},
      {"llama", R"({"hidden_act": 3})", "hidden_act is 3: ", "\"silu\""},
      {"llama", R"({"hidden_act": "none"})", "hidden_act is \"none\": ", "\"linear\""},
      {"llama", R"({"rope_theta": 0})", "rope_theta is 0", "above 0"},
      {"marian", R"({"dropout": 1.5})", "dropout is 1.5: ", "below 1"},
      {"bert", R"({"hidden_dropout_prob": 1.5})", "hidden_dropout_prob is 1.5: ", "below 1"},
  });
}

TEST(ConfigErrors, Contradictions) {
  expect_refused({
      {"gpt2", R"({"n_head": 7})", "n_head 7 does not divide n_embd 16: ", "equal part"},
      {"bert", R"({"num_attention_heads": 3})", "num_attention_heads 3 does not divide hidden_size 16: ", "equal part"},
      {"marian", R"({"encoder_attention_heads": 5})", "encoder_attention_heads 5 does not divide d_model 16", ""},
      {"marian", R"({"decoder_attention_heads": 5})", "decoder_attention_heads 5 does not divide d_model 16", ""},
      {"llama", R"({"num_attention_heads": 7})", "num_attention_heads 7 does not divide hidden_size 32: ", "head_dim"},
      {"llama", R"({"num_key_value_heads": 3})", "num_key_value_heads 3 does not divide num_attention_heads 4: ", ""},
      {"llama", R"({"head_dim": 7})", "a head has 7 numbers", "even"},
      {"llama", R"({"hidden_size": 36})", "a head has 9 numbers (hidden_size 36)", "even"},
      {"marian", R"({"d_model": 15, "encoder_attention_heads": 3, "decoder_attention_heads": 3})",
       "d_model is 15: ", "even"},
      {"marian", R"({"decoder_vocab_size": 58})",
       "decoder_vocab_size 58 differs from vocab_size 57: ", "one vocabulary"},
      {"marian", R"({"add_final_layer_norm": true})", "add_final_layer_norm is true: allowed is false", ""},
      {"pegasus", R"({"add_final_layer_norm": false})", "add_final_layer_norm is false: allowed is true", ""},
      {"marian", R"({"activation_function": "tanh", "activation_dropout": 0.5})", "dropout on activations is 0.5",
       "tanh"},
      {"gpt2", R"({"n_layer": 10001})", "the model has 10001 layers: allowed are 10000", ""},
      {"marian", R"({"decoder_layers": 2147483647})", "the model has 2147483647 layers: allowed are 10000", ""},
      {"rnn_seq2seq", R"({"layers": 2147483647})", "the model has 2147483647 layers: allowed are 10000", ""},
      {"gpt2", R"({"n_embd": 2147483646, "n_layer": 10000, "n_head": 2})", "the sizes ask for ", "parameters"},
      {"llama", R"({"head_dim": 2147483646, "num_attention_heads": 2147483647})", "the sizes ask for ", "parameters"},
      {"llama", R"({"num_attention_heads": 2147483647, "num_key_value_heads": 1, "head_dim": 2})",
       "2 layers of 2147483647 heads of 2 numbers: allowed are 16777216 numbers in all", ""},
      {"llama", R"({"model_type": "mixtral", "num_local_experts": 3000000})",
       "2 layers of 3000000 experts: allowed are 131072 experts in all", ""},
      {"rnn_seq2seq", R"({"hidden_size": 2147483647, "layers": 10000})", "the sizes ask for ", "parameters"},
      {"rnn_seq2seq", R"({"attention": "additive", "context": "every_step"})", "context is \"every_step\"",
       "\"initial\""},
      {"rnn_seq2seq", R"({"bidirectional": true})", "bidirectional is true", "\"additive\""},
      {"rnn_seq2seq", R"({"attention": "additive", "reverse_source": true})", "reverse_source is true", "\"none\""},
      {"rnn_seq2seq", R"({"cell": "rnn"})", "cell is \"rnn\": allowed is \"gru\", \"lstm\"", ""},
      {"rnn_seq2seq", R"({"attention": "dot"})", "attention is \"dot\": allowed is \"none\", \"additive\"", ""},
      {"rnn_seq2seq", R"({"context": "additive"})", "context is \"additive\": allowed is \"initial\", \"every_step\"",
       ""},
  });
  EXPECT_EQ(error_of("llama", R"({"num_attention_heads": 5, "head_dim": 8})"), "");
}

TEST(ConfigErrors, TokensOutsideTheVocabulary) {
  for (const char* key : {"pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id"}) {
    Json json = least("marian");
    for (const Json& value :
         {Json(57), Json(-2), Json("2"), Json(1.5), Json(Json::array()), Json(Json::array({1, 57}))}) {
      json[key] = value;
      if (value == 57 && key != std::string("decoder_start_token_id")) continue;  // many files name such tokens
      EXPECT_THAT(
          error_of([&] { parse_config(json); }),
          AllOf(StartsWith(std::string("[config] ") + key + " is " + value.dump()), HasSubstr("below vocab_size 57")));
    }
    json[key] = 56;
    EXPECT_EQ(error_of([&] { parse_config(json); }), "");
  }
  EXPECT_THAT(error_of("rnn_seq2seq", R"({"decoder_start_token_id": 47})"),
              StartsWith("[config] decoder_start_token_id is 47"));
  EXPECT_THAT(error_of("bert", R"({"mask_token_id": 53})"), StartsWith("[config] mask_token_id is 53"));
}

TEST(ConfigErrors, MathematicsThatIsNotSupported) {
  expect_refused({
      {"llama", R"({"rope_scaling": {"rope_type": "wavy", "factor": 8.0}})",
       "rope_scaling.rope_type is \"wavy\": ", "\"llama3\""},
      {"llama", R"({"rope_scaling": {"type": "linear"}})", "rope_scaling.factor is missing", "above 0"},
      {"llama", R"({"rope_scaling": {"type": "linear", "factor": 2.0, "curve": 3}})",
       "rope_scaling.curve is 3: ", "nothing else"},
      {"llama", R"({"rope_scaling": {"type": "longrope", "short_factor": [1, 2], "long_factor": [1, 2, 3, 4]}})",
       "rope_scaling.short_factor is [1,2]: ", "a list of 4 numbers"},
      {"llama", R"({"rope_scaling": "yarn"})", "rope_scaling is \"yarn\": ", "object"},
      {"llama", R"({"rope_parameters": {"partial_rotary_factor": 0.5}})",
       "rope_parameters.partial_rotary_factor is 0.5", ""},
      {"llama", R"({"rope_theta": 1e4, "rope_parameters": {"rope_theta": 5e5}})", "rope_theta 10000 differs from ",
       "500000"},
      {"llama", R"({"partial_rotary_factor": 0.5})", "partial_rotary_factor is 0.5: allowed is 1 or null", ""},
      {"llama", R"({"sliding_window": 4096})", "sliding_window is 4096: allowed is null", ""},
      {"llama", R"({"sliding_window": 4096, "use_sliding_window": true})", "sliding_window is 4096: ", ""},
      {"llama", R"({"layer_types": ["full_attention", "sliding_attention"]})", "layer_types is ", "\"full_attention\""},
      {"llama", R"({"attn_logit_softcapping": 50.0})", "attn_logit_softcapping is 50.0: allowed is null", ""},
      {"llama", R"({"final_logit_softcapping": 30.0})", "final_logit_softcapping is 30.0: allowed is null", ""},
      {"llama", R"({"query_pre_attn_scalar": 256})", "query_pre_attn_scalar is 256: allowed is null", ""},
      {"llama", R"({"embedding_multiplier": 12.0})", "embedding_multiplier is 12.0: allowed is 1 or null", ""},
      {"llama", R"({"residual_multiplier": 0.22})", "residual_multiplier is 0.22: allowed is 1 or null", ""},
      {"llama", R"({"attention_multiplier": 0.0078125})", "attention_multiplier is 0.0078125: ", ""},
      {"llama", R"({"logits_scaling": 8.0})", "logits_scaling is 8.0: allowed is 1 or null", ""},
      {"llama", R"({"quantization_config": {"bits": 4}})", "quantization_config is {\"bits\":4}: allowed is ",
       "or null"},
      {"llama", R"({"num_local_experts": 8})", "num_local_experts is 8: ", "0 or 1 or null"},
      {"llama", R"({"scale_attn_by_inverse_layer_idx": true})",
       "scale_attn_by_inverse_layer_idx is true: allowed is false", ""},
      {"gpt2", R"({"add_cross_attention": true})", "add_cross_attention is true: allowed is false", ""},
      {"gpt2", R"({"pruned_heads": {"0": [1]}})", "pruned_heads is {\"0\":[1]}: allowed is {}", ""},
      {"bert", R"({"is_decoder": true})", "is_decoder is true: allowed is false", ""},
      {"bert", R"({"add_cross_attention": true})", "add_cross_attention is true: allowed is false", ""},
      {"bert", R"({"position_embedding_type": "relative_key"})",
       "position_embedding_type is \"relative_key\": ", "\"absolute\""},
      {"marian", R"({"normalize_embedding": true})", "normalize_embedding is true: allowed is false", ""},
      {"marian", R"({"static_position_embeddings": false})", "static_position_embeddings is false: allowed is true",
       ""},
      {"rnn_seq2seq", R"({"tie_word_embeddings": true})", "tie_word_embeddings is true: allowed is false", ""},
  });
}

TEST(ConfigErrors, ValuesThatChangeNothingPass) {
  for (const char* keys : {R"({"sliding_window": 4096, "use_sliding_window": false})", R"({"sliding_window": null})",
                           R"({"layer_types": ["full_attention", "full_attention"]})", R"({"logits_scaling": 1.0})",
                           R"({"partial_rotary_factor": 1})", R"({"rope_scaling": {"rope_type": "default"}})",
                           R"({"num_experts": 0})", R"({"pruned_heads": {}})", R"({"attn_logit_softcapping": null})",
                           R"({"rope_parameters": {"rope_theta": 1e4, "partial_rotary_factor": 1.0}})"})
    EXPECT_THAT(parsed("llama", keys).notes, IsEmpty()) << keys;
}

TEST(ConfigNotes, UnknownKeysAreNotedOnceEach) {
  EXPECT_THAT(parsed("gpt2", R"({"favourite_colour": "blue", "use_cache": true, "tie_word_embedding": false})").notes,
              ElementsAre("favourite_colour is ignored: Limpid does not know it",
                          "tie_word_embedding is ignored: Limpid does not know it; did you mean tie_word_embeddings?"));
  EXPECT_THAT(parsed("gpt2", R"({"num_hidden_layers": 2})").notes,
              ElementsAre(HasSubstr("num_hidden_layers is ignored")));
  EXPECT_THAT(parsed("marian", R"({"num_hidden_layers": 2})").notes, IsEmpty());
}

TEST(ConfigNotes, TrainingMethodsThatLimpidDoesWithout) {
  EXPECT_THAT(parsed("marian", R"({"encoder_layerdrop": 0.1, "decoder_layerdrop": 0})").notes,
              ElementsAre(HasSubstr("encoder_layerdrop is ignored")));
  EXPECT_THAT(parsed("llama", R"({"pretraining_tp": 2})").notes, ElementsAre(HasSubstr("pretraining_tp is ignored")));
}

}  // namespace
}  // namespace limpid
