"""The families: how each one's config is read, and its names. Most are a change of one in configs.py."""

from types import SimpleNamespace

from configs import NAMES as BASE
from configs import read_bert, read_gpt2, read_llama, read_rnn, read_seq2seq
from rope import rope


def rope_of(json, head, **keys):
    return rope(json.get("rope_theta", 10000.0), head, json.get("rope_scaling"),
                positions=json["max_position_embeddings"], **keys)


# ---- like Llama


def read_mistral(json):
    return read_llama(json) | dict(windows=[json["sliding_window"]] * json["num_hidden_layers"])


def read_qwen2(json):
    windows = [json["sliding_window"] if json["use_sliding_window"] and i >= json["max_window_layers"] else 0
               for i in range(json["num_hidden_layers"])]
    return read_llama(json) | dict(attention_bias=True, attention_output_bias=False, windows=windows)


def read_qwen3(json):
    return read_llama(json) | dict(qk_norm="each_head")


def read_gemma(json):
    return read_llama(json) | dict(norm_offset=1.0, scale_embedding=True, tied=True, activation="gelu_pytorch_tanh")


def read_gemma2(json):
    return read_gemma(json) | dict(norm_place="both", score_scale=json["query_pre_attn_scalar"] ** -0.5,
                                   score_cap=json.get("attn_logit_softcapping"),
                                   logit_cap=json.get("final_logit_softcapping"),
                                   windows=[0 if i % 2 else json["sliding_window"]
                                            for i in range(json["num_hidden_layers"])])


def read_gemma3(json):
    """Layers with a window have rotary positions of their own, which nothing stretches."""
    local = [kind == "sliding_attention" for kind in json["layer_types"]]
    return read_gemma2(json) | dict(qk_norm="each_head", windows=[json["sliding_window"] * each for each in local],
                                    ropes=["local" if each else "usual" for each in local],
                                    rope=rope_of(json, json["head_dim"]),
                                    local_rope=rope(json["rope_local_base_freq"], json["head_dim"]))


def read_phi3(json):
    head = json["hidden_size"] // json["num_attention_heads"]
    scaling = json["rope_scaling"] | {
        "original_max_position_embeddings": json["original_max_position_embeddings"]}
    return read_llama(json) | dict(rope=rope_of(json | {"rope_scaling": scaling},
                                                int(head * json["partial_rotary_factor"])))


def read_smollm3(json):
    return read_llama(json) | dict(ropes=["usual" if turned else "none" for turned in json["no_rope_layers"]])


def read_olmo2(json):
    return read_llama(json) | dict(norm_place="output", qk_norm="all_heads")


def read_granite(json):
    return read_llama(json) | dict(embedding_factor=json["embedding_multiplier"],
                                   residual_factor=json["residual_multiplier"],
                                   score_scale=json["attention_multiplier"], logit_factor=1 / json["logits_scaling"])


def read_cohere(json):
    head = json["hidden_size"] // json["num_attention_heads"]
    return read_llama(json) | dict(norm="layer", norm_eps=json.get("layer_norm_eps", 1e-5), parallel="one norm",
                                   logit_factor=json["logit_scale"], tied=True,
                                   rope=rope_of(json, head, interleaved=True))


def read_mixtral(json):
    return read_mistral(json) | dict(experts=SimpleNamespace(
        router="block_sparse_moe.gate", prefix="block_sparse_moe.experts.{}", parts=["w3", "w1", "w2"],
        count=json["num_local_experts"], chosen=json["num_experts_per_tok"], features=json["intermediate_size"],
        normalise=True, shared=0))


def read_qwen2_moe(json):
    return read_qwen2(json) | dict(experts=SimpleNamespace(
        router="mlp.gate", prefix="mlp.experts.{}", parts=["up_proj", "gate_proj", "down_proj"],
        count=json["num_experts"], chosen=json["num_experts_per_tok"], features=json["moe_intermediate_size"],
        normalise=json["norm_topk_prob"], shared=json["shared_expert_intermediate_size"]))


# ---- like GPT-2, BART, BERT


def read_neox(json):
    side = SimpleNamespace(layers=json["num_hidden_layers"], heads=json["num_attention_heads"],
                           kv_heads=json["num_attention_heads"], ffn=json["intermediate_size"])
    head = json["hidden_size"] // side.heads
    return dict(width=json["hidden_size"], head=head, sides={"": side}, positions="rotary",
                max_positions=json["max_position_embeddings"], norm_eps=json.get("layer_norm_eps", 1e-5),
                rope=rope_of(json, int(head * json["rotary_pct"])), activation=json.get("hidden_act", "gelu"),
                fused="heads", parallel="two norms" if json.get("use_parallel_residual", True) else None, tied=False)


def read_bloom(json):
    side = SimpleNamespace(layers=json["n_layer"], heads=json["n_head"], kv_heads=json["n_head"],
                           ffn=4 * json["hidden_size"])
    return dict(width=json["hidden_size"], head=json["hidden_size"] // side.heads, sides={"": side}, positions="none",
                norm_eps=json.get("layer_norm_epsilon", 1e-5), activation="gelu_new", fused="heads",
                relative="slopes")


def read_opt(json):
    side = SimpleNamespace(layers=json["num_hidden_layers"], heads=json["num_attention_heads"],
                           kv_heads=json["num_attention_heads"], ffn=json["ffn_dim"])
    return dict(width=json["hidden_size"], head=json["hidden_size"] // side.heads, sides={"": side},
                positions="learned", position_offset=2, max_positions=json["max_position_embeddings"],
                activation="relu")


def read_roberta(json):
    """Positions begin behind that of the padding token."""
    offset = json["pad_token_id"] + 1
    return read_bert(json) | dict(position_offset=offset, max_positions=json["max_position_embeddings"] - offset)


def read_bart(json):
    return read_seq2seq(json) | dict(positions="learned", position_offset=2)


def read_t5(json):
    side = SimpleNamespace(layers=json["num_layers"], heads=json["num_heads"], kv_heads=json["num_heads"],
                           ffn=json["d_ff"])
    gate, _, activation = json.get("feed_forward_proj", "relu").rpartition("-")
    tied = json.get("tie_word_embeddings", True)
    return dict(width=json["d_model"], head=json["d_kv"], sides=dict(encoder=side, decoder=side), norm="rms",
                norm_bias=False, norm_eps=json.get("layer_norm_epsilon", 1e-6), positions="none", relative="buckets",
                buckets=json["relative_attention_num_buckets"], longest=json["relative_attention_max_distance"],
                scale_scores=False, attention_bias=False, ffn_bias=False, gated=gate == "gated",
                activation={"gelu": "gelu_new"}.get(activation, activation) if gate else activation, tied=tied,
                logit_factor=json["d_model"] ** -0.5 if tied else 1.0)


READERS = {"marian": read_seq2seq, "pegasus": read_seq2seq, "bart": read_bart, "t5": read_t5, "gpt2": read_gpt2,
           "gpt_neox": read_neox, "bloom": read_bloom, "opt": read_opt, "llama": read_llama, "mistral": read_mistral,
           "mixtral": read_mixtral, "qwen2": read_qwen2, "qwen2_moe": read_qwen2_moe, "qwen3": read_qwen3,
           "gemma2": read_gemma2, "gemma3_text": read_gemma3, "phi3": read_phi3, "smollm3": read_smollm3,
           "olmo2": read_olmo2, "granite": read_granite, "cohere": read_cohere, "bert": read_bert,
           "roberta": read_roberta, "rnn_seq2seq": read_rnn}

LLAMA, BERT, BART = BASE["llama"], BASE["bert"], BASE["marian"]
T5 = dict(embedding="shared", block="{side}.block.{i}.", norm1="layer.0.layer_norm", norm_cross="layer.1.layer_norm",
          attn=["layer.0.SelfAttention." + p for p in "qkvo"], cross=["layer.1.EncDecAttention." + p for p in "qkvo"],
          final_norm="{side}.final_layer_norm", output="lm_head",
          relative="{side}.block.0.layer.0.SelfAttention.relative_attention_bias")
NEOX = dict(embedding="gpt_neox.embed_in", block="gpt_neox.layers.{i}.", norm1="input_layernorm",
            norm2="post_attention_layernorm", attn=["attention.query_key_value", "attention.dense"],
            up="mlp.dense_h_to_4h", down="mlp.dense_4h_to_h", final_norm="gpt_neox.final_layer_norm",
            output="embed_out")
FOUR_NORMS = dict(norm1_post="post_attention_layernorm", norm2="pre_feedforward_layernorm",
                  norm2_post="post_feedforward_layernorm")


NAMES = BASE | {
    "bart": BART | dict(embedding_norm="model.{side}.layernorm_embedding"),
    "gpt_neox": NEOX,
    "bloom": NEOX | dict(embedding="transformer.word_embeddings", block="transformer.h.{i}.",
                         embedding_norm="transformer.word_embeddings_layernorm", final_norm="transformer.ln_f",
                         attn=["self_attention.query_key_value", "self_attention.dense"]),
    "opt": BART | dict(embedding="model.decoder.embed_tokens", positions="model.decoder.embed_positions",
                       block="model.decoder.layers.{i}.", norm1="self_attn_layer_norm", norm2="final_layer_norm",
                       final_norm="model.decoder.final_layer_norm"),
    "gemma2": LLAMA | FOUR_NORMS,
    "gemma3_text": LLAMA | FOUR_NORMS,
    "olmo2": LLAMA | dict(norm1_post="post_attention_layernorm", norm2_post="post_feedforward_layernorm"),
    "phi3": LLAMA | dict(attn=["self_attn.qkv_proj", "self_attn.o_proj"], gate_up="mlp.gate_up_proj"),
    "roberta": {key: "roberta" + name[4:] if str(name).startswith("bert.") else name for key, name in BERT.items()} |
               dict(output="lm_head.decoder", output_bias="lm_head.bias", head="lm_head.dense",
                    head_norm="lm_head.layer_norm"),
}


def names_of(c, side=""):
    if c.type != "t5":
        return NAMES.get(c.type, LLAMA)
    layer = "layer.2." if side == "decoder" else "layer.1."  # the feed-forward network is the last of a block's parts
    dense = layer + "DenseReluDense."
    return T5 | dict(norm2=layer + "layer_norm", up=dense + ("wi_1" if c.gated else "wi"), gate=dense + "wi_0",
                     down=dense + "wo")
