"""The golden cases by name. A variant is a family's config with some keys changed; what no Hugging Face config can say
stands in "limpid"."""

from typing import NamedTuple


class Case(NamedTuple):
    config: dict  # config.json
    activations: list  # patterns of the names of those that are kept
    # Of a matrix' numbers, times √inputs. Chosen so that no gradient is far below the largest, or it would go unseen.
    spread: float = 0.7


MARIAN = {
    "model_type": "marian", "vocab_size": 17, "d_model": 8, "encoder_layers": 1, "decoder_layers": 1,
    "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 12, "decoder_ffn_dim": 10,
    "activation_function": "relu", "scale_embedding": True, "max_position_embeddings": 8, "pad_token_id": 0,
    "eos_token_id": 2, "decoder_start_token_id": 0,
}
PEGASUS = MARIAN | {"model_type": "pegasus", "activation_function": "gelu", "scale_embedding": False}
GPT2 = {
    "model_type": "gpt2", "vocab_size": 17, "n_embd": 8, "n_layer": 1, "n_head": 2, "n_positions": 8, "n_inner": 12,
    "bos_token_id": 0, "eos_token_id": 2,
}
LLAMA = {
    "model_type": "llama", "vocab_size": 17, "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 1,
    "num_attention_heads": 2, "max_position_embeddings": 8, "bos_token_id": 1, "eos_token_id": 2,
}
BERT = {
    "model_type": "bert", "vocab_size": 19, "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 1,
    "num_attention_heads": 2, "max_position_embeddings": 8, "type_vocab_size": 2, "pad_token_id": 0,
}
NEOX = {
    "model_type": "gpt_neox", "vocab_size": 17, "hidden_size": 16, "intermediate_size": 12, "num_hidden_layers": 1,
    "num_attention_heads": 2, "max_position_embeddings": 8, "rotary_pct": 0.5, "bos_token_id": 0, "eos_token_id": 2,
}
GEMMA2 = {
    "model_type": "gemma2", "head_dim": 6, "sliding_window": 2, "query_pre_attn_scalar": 5,
    "attn_logit_softcapping": 2.0, "final_logit_softcapping": 3.0, "tie_word_embeddings": True, "pad_token_id": 0,
}
T5 = {
    "model_type": "t5", "vocab_size": 17, "d_model": 8, "d_kv": 5, "d_ff": 12, "num_layers": 1, "num_heads": 2,
    "relative_attention_num_buckets": 8, "relative_attention_max_distance": 6, "decoder_start_token_id": 0,
    "pad_token_id": 0, "eos_token_id": 1,
}
GRU = {
    "model_type": "rnn_seq2seq", "vocab_size": 17, "embed_dim": 4, "hidden_size": 5, "layers": 1, "cell": "gru",
    "attention": "none", "context": "initial", "bidirectional": False, "decoder_start_token_id": 1,
}
LSTM = GRU | {"cell": "lstm"}
ATTENTION = {"attention": "additive", "bidirectional": True, "layers": 2}
UNSHARED = {"share_encoder_decoder_embeddings": False}
UNTIED = {"tie_word_embeddings": False}
TWO_LAYERS = {"num_hidden_layers": 2}

ALL = ["*"]  # activations
FEW = ["*.pattern", "*.resid_post"]
ROTARY = ["*.pattern", "*.rot_?"]
STATES = ["*.h"]


def limpid(**keys):
    return {"limpid": keys}


def rope(**keys):
    return {"rope_scaling": keys}


CASES = {
    # ---- encoder-decoders
    "marian": Case(MARIAN | {"decoder_layers": 2}, ["*embed", "encoder.*", "decoder.1.*"]),
    "marian-unshared": Case(MARIAN | UNSHARED, ["*embed", "*.resid_post"]),
    "marian-unshared-untied": Case(MARIAN | UNSHARED | UNTIED | {"activation_function": "silu"}, FEW),
    "marian-norm-before": Case(MARIAN | {"normalize_before": True}, ["*.norm?", "*.final_norm"]),
    "marian-interleaved": Case(MARIAN | limpid(sinusoids="interleaved"), ["*.pos_embed", "*.resid_post"]),
    "marian-batch-norm": Case(MARIAN | limpid(norm="batch"), FEW + ["*.norm?"]),
    "marian-no-residual": Case(MARIAN | limpid(residual=False), FEW + ["*.resid_mid*"], spread=2.0),
    "marian-no-scale": Case(MARIAN | limpid(scale_scores=False), ["*.scores", "*.pattern"]),
    "marian-not-causal": Case(MARIAN | limpid(causal=False), FEW),
    "marian-linear-no-bias": Case(MARIAN | limpid(activation="none", bias=False), FEW + ["*.ffn.*"]),
    "pegasus": Case(PEGASUS | {"encoder_layers": 2}, ["*embed", "*.final_norm", "encoder.1.*", "decoder.0.*"]),
    "pegasus-learned": Case(PEGASUS | UNTIED | limpid(positions="learned", activation="tanh"),
                            ["*.pos_embed", "*.ffn.post"]),
    "pegasus-rms-rotary-gated": Case(PEGASUS | limpid(norm="rms", positions="rotary", gated=True, activation="silu"),
                                     FEW + ["*.rot_?", "*.norm*", "*.ffn.gate"]),
    # ---- language models
    "gpt2": Case(GPT2 | {"n_layer": 2}, ["*embed", "final_norm", "blocks.1.*"]),
    "gpt2-untied": Case(GPT2 | UNTIED | {"activation_function": "gelu", "scale_attn_weights": False},
                        FEW + ["*.scores"]),
    "gpt2-no-bias-no-positions": Case(GPT2 | limpid(bias=False, positions="none"), FEW + ["*.norm*"]),
    "gpt2-rms-rotary": Case(GPT2 | limpid(norm="rms", positions="rotary"), FEW + ["*.rot_?", "*.norm*"]),
    "gpt2-attention-only": Case(GPT2 | {"n_layer": 2} | limpid(feed_forward=False), FEW + ["*.resid_pre"]),
    "gpt2-norm-after": Case(GPT2 | limpid(norm_place="after"), FEW),
    "gpt2-batch-norm": Case(GPT2 | limpid(norm="batch"), FEW + ["*norm*"]),
    "gpt2-sinusoidal": Case(GPT2 | limpid(positions="sinusoidal", sinusoids="interleaved"), FEW + ["pos_embed"]),
    "gpt2-gated": Case(GPT2 | limpid(gated=True, activation="silu"), FEW + ["*.ffn.*"]),
    "gpt2-not-causal": Case(GPT2 | limpid(causal=False), FEW),
    "llama": Case(LLAMA | {"num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 4,
                           "rope_theta": 500.0, "rms_norm_eps": 1e-5}, ["*embed", "final_norm", "blocks.1.*"]),
    "llama-tied-one-key": Case(LLAMA | {"num_key_value_heads": 1, "tie_word_embeddings": True, "attention_bias": True,
                                        "mlp_bias": True}, FEW + ["*.attn.?"]),
    "llama-layer-norm-learned": Case(LLAMA | limpid(norm="layer", positions="learned", activation="gelu", gated=False),
                                 FEW + ["pos_embed", "*norm*"]),
    # ---- rotary positions, stretched: the batch has texts within and beyond the positions of training
    "llama-rope-linear": Case(LLAMA | rope(rope_type="linear", factor=4.0), ROTARY),
    "llama-rope-dynamic": Case(LLAMA | {"hidden_size": 16, "max_position_embeddings": 3} |
                               rope(type="dynamic", factor=2.0), ROTARY),
    "llama-rope-llama3": Case(LLAMA | {"hidden_size": 16} |
                              rope(rope_type="llama3", factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0,
                                   original_max_position_embeddings=16), ROTARY),
    "llama-rope-yarn": Case(LLAMA | {"hidden_size": 16, "max_position_embeddings": 64} |
                            rope(rope_type="yarn", factor=4.0, original_max_position_embeddings=16), ROTARY),
    "phi3-longrope": Case(LLAMA | {"model_type": "phi3", "hidden_size": 16, "partial_rotary_factor": 0.5,
                                   "original_max_position_embeddings": 3, "rms_norm_eps": 1e-5, "pad_token_id": 0} |
                          rope(type="longrope", short_factor=[1.1, 1.2], long_factor=[2.0, 3.0]), ROTARY),
    # ---- mechanisms of later language models
    "mistral": Case(LLAMA | {"model_type": "mistral", "sliding_window": 2, "head_dim": 6}, FEW),
    "qwen2-window": Case(LLAMA | {"model_type": "qwen2", "use_sliding_window": True, "sliding_window": 2,
                                  "max_window_layers": 1} | TWO_LAYERS, FEW),
    "qwen3": Case(LLAMA | {"model_type": "qwen3", "head_dim": 6}, FEW + ["*_norm"]),
    "gemma2": Case(LLAMA | TWO_LAYERS | GEMMA2, FEW + ["*.scores", "*norm?", "*norm?_post"]),
    "gemma3": Case(LLAMA | TWO_LAYERS | GEMMA2 |
                   {"model_type": "gemma3_text", "rope_theta": 100.0, "rope_local_base_freq": 10.0,
                    "attn_logit_softcapping": None, "final_logit_softcapping": None,
                    "layer_types": ["sliding_attention", "full_attention"]} |
                   rope(rope_type="linear", factor=8.0), FEW + ["*_norm", "*.rot_?"]),
    "smollm3": Case(LLAMA | TWO_LAYERS | UNTIED |
                    {"model_type": "smollm3", "rope_theta": 100.0, "no_rope_layers": [1, 0]}, FEW),
    "olmo2": Case(LLAMA | {"model_type": "olmo2", "rms_norm_eps": 1e-5}, FEW + ["*_norm", "*_post"]),
    "granite": Case(LLAMA | {"model_type": "granite", "embedding_multiplier": 3.0, "attention_multiplier": 0.3,
                             "residual_multiplier": 0.6, "logits_scaling": 2.0}, FEW + ["embed"]),
    "cohere": Case(LLAMA | {"model_type": "cohere", "logit_scale": 0.5, "pad_token_id": 0}, FEW + ["*.norm1"]),
    "mixtral": Case(LLAMA | {"model_type": "mixtral", "rms_norm_eps": 1e-6, "rope_theta": 10000.0,
                             "num_local_experts": 3, "num_experts_per_tok": 2, "intermediate_size": 6,
                             "sliding_window": 4}, FEW + ["*.ffn.*"]),
    "qwen2-experts": Case(LLAMA | {"model_type": "qwen2_moe", "num_experts": 3, "num_experts_per_tok": 2,
                                   "moe_intermediate_size": 4, "shared_expert_intermediate_size": 5,
                                   "norm_topk_prob": False, "use_sliding_window": False}, FEW + ["*.ffn.*"]),
    "gpt-neox": Case(NEOX, FEW + ["*.norm?", "*.rot_?"]),
    "gpt-neox-sequential": Case(NEOX | {"use_parallel_residual": False}, FEW),
    "bloom": Case({"model_type": "bloom", "vocab_size": 17, "hidden_size": 8, "n_layer": 1, "n_head": 2,
                   "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 3}, FEW + ["embed_norm"]),
    "opt": Case({"model_type": "opt", "vocab_size": 17, "hidden_size": 8, "ffn_dim": 12, "num_hidden_layers": 1,
                 "num_attention_heads": 2, "max_position_embeddings": 8, "word_embed_proj_dim": 8},
                FEW + ["pos_embed"]),
    # ---- and of later encoder-decoders
    "bart": Case(MARIAN | {"model_type": "bart", "activation_function": "gelu", "scale_embedding": False},
                 FEW + ["*embed_norm", "*pos_embed"]),
    "bart-heads": Case(MARIAN | {"model_type": "bart", "activation_function": "quick_gelu", "decoder_attention_heads": 4},
                       FEW + ["*.ffn.*"]),
    "t5": Case(T5, FEW + ["*.scores"]),
    "t5-gated": Case(T5 | UNTIED | {"feed_forward_proj": "gated-gelu"}, FEW + ["*.ffn.*"]),
    # ---- encoders
    "roberta": Case(BERT | {"model_type": "roberta", "pad_token_id": 1, "type_vocab_size": 1,
                            "max_position_embeddings": 10}, FEW + ["pos_embed"]),
    "bert": Case(BERT | {"num_hidden_layers": 2}, ["*embed", "embed_norm", "blocks.1.*"]),
    "bert-rotary-no-bias": Case(BERT | UNTIED | {"hidden_act": "gelu_new"} |
                                limpid(norm_place="before", positions="rotary", bias=False),
                                FEW + ["embed_norm", "final_norm"]),
    "bert-labels": Case(BERT | {"num_labels": 3}, FEW + ["pooled"]),
    # ---- recurrent networks
    "gru": Case(GRU, ALL),
    "gru-every-step": Case(GRU | {"context": "every_step", "layers": 2}, STATES + ["context"]),
    "gru-attention": Case(GRU | ATTENTION, ALL, spread=2.0),
    "gru-attention-one-way": Case(GRU | {"attention": "additive"}, STATES + ["align", "context"], spread=2.0),
    "lstm": Case(LSTM | {"layers": 2}, ALL),
    "lstm-attention": Case(LSTM | ATTENTION, STATES + ["*.c", "align", "context"], spread=2.0),
}
