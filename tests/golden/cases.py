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
GRU = {
    "model_type": "rnn_seq2seq", "vocab_size": 17, "embed_dim": 4, "hidden_size": 5, "layers": 1, "cell": "gru",
    "attention": "none", "context": "initial", "bidirectional": False, "decoder_start_token_id": 1,
}
LSTM = GRU | {"cell": "lstm"}
ATTENTION = {"attention": "additive", "bidirectional": True, "layers": 2}
UNSHARED = {"share_encoder_decoder_embeddings": False}
UNTIED = {"tie_word_embeddings": False}

ALL = ["*"]  # activations
FEW = ["*.pattern", "*.resid_post"]
STATES = ["*.h"]


def limpid(**keys):
    return {"limpid": keys}


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
    # ---- encoders
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
