"""What the config of a family says, in one set of words, and the names that its parameters have at Hugging Face.
families.py has those that are a change of these."""

from types import SimpleNamespace

from rope import rope


def read_seq2seq(json):
    first = json.get("normalize_before", json["model_type"] == "pegasus")
    sides = {
        side: SimpleNamespace(layers=json[f"{side}_layers"], heads=json[f"{side}_attention_heads"],
                              kv_heads=json[f"{side}_attention_heads"], ffn=json[f"{side}_ffn_dim"])
        for side in ("encoder", "decoder")
    }
    if sides["encoder"].heads != sides["decoder"].heads:
        for side in sides.values():
            side.head = json["d_model"] // side.heads
            side.score_scale = side.head**-0.5
    return dict(width=json["d_model"], head=json["d_model"] // json["encoder_attention_heads"], sides=sides,
                max_positions=json["max_position_embeddings"], norm_place="before" if first else "after",
                final_norm=first, positions="sinusoidal", activation=json["activation_function"], output_bias=True,
                scale_embedding=json.get("scale_embedding", False), tied=json.get("tie_word_embeddings", True),
                shared=json.get("share_encoder_decoder_embeddings", True))


def read_gpt2(json):
    side = SimpleNamespace(layers=json["n_layer"], heads=json["n_head"], kv_heads=json["n_head"],
                           ffn=json.get("n_inner", 4 * json["n_embd"]))
    return dict(width=json["n_embd"], head=json["n_embd"] // json["n_head"], sides={"": side},
                max_positions=json["n_positions"], norm_eps=json.get("layer_norm_epsilon", 1e-5),
                positions="learned", activation=json.get("activation_function", "gelu_new"),
                scale_scores=json.get("scale_attn_weights", True), tied=json.get("tie_word_embeddings", True),
                transposed=True)


def read_llama(json):
    heads = json["num_attention_heads"]
    side = SimpleNamespace(layers=json["num_hidden_layers"], heads=heads, ffn=json["intermediate_size"],
                           kv_heads=json.get("num_key_value_heads", heads))
    return dict(width=json["hidden_size"], head=json.get("head_dim", json["hidden_size"] // heads), sides={"": side},
                max_positions=json.get("max_position_embeddings", 2048), norm="rms", norm_bias=False,
                norm_eps=json.get("rms_norm_eps", 1e-6), positions="rotary", gated=True,
                activation=json.get("hidden_act", "silu"), attention_bias=json.get("attention_bias", False),
                ffn_bias=json.get("mlp_bias", False), tied=json.get("tie_word_embeddings", False))


def read_bert(json):
    heads = json["num_attention_heads"]
    side = SimpleNamespace(layers=json["num_hidden_layers"], heads=heads, kv_heads=heads,
                           ffn=json["intermediate_size"])
    return dict(width=json["hidden_size"], head=json["hidden_size"] // heads, sides={"": side}, causal=False,
                max_positions=json["max_position_embeddings"], segments=json["type_vocab_size"],
                norm_place="after", norm_eps=json.get("layer_norm_eps", 1e-12), final_norm=False,
                positions="learned", activation=json.get("hidden_act", "gelu"), output_bias=True,
                labels=json.get("num_labels", 0),
                tied=json.get("tie_word_embeddings", True))


def read_rnn(json):
    return dict(cell=json["cell"], layers=json["layers"], embed=json["embed_dim"], hidden=json["hidden_size"],
                attention=json.get("attention", "none"), context=json.get("context", "initial"),
                bidirectional=json.get("bidirectional", False))


def spec_of(json, read):
    spec = dict(norm="layer", norm_place="before", norm_eps=1e-5, norm_bias=True, norm_offset=0.0, final_norm=True,
                segments=0, sinusoids="halves", rope=None, local_rope=None, ropes=[], windows=[], position_offset=0,
                relative=None, gated=False, feed_forward=True, experts=None, parallel=None, residual=True,
                residual_factor=1.0, scale_scores=True, score_scale=None, score_cap=0, qk_norm=None, causal=True,
                fused="parts", attention_bias=True, attention_output_bias=None, ffn_bias=True, output_bias=False,
                transposed=False, scale_embedding=False, embedding_factor=1.0, logit_factor=1.0, logit_cap=0,
                labels=0, tied=True, shared=True)
    spec |= read(json)
    variant = dict(json.get("limpid", {}))
    if "norm" in variant:
        spec["norm_bias"] = variant["norm"] != "rms"
    if "norm_place" in variant:
        spec["final_norm"] = variant["norm_place"] == "before"
    if not variant.pop("bias", True):
        spec |= dict(attention_bias=False, ffn_bias=False, norm_bias=False, output_bias=False)
    return spec | variant


def read_config(json, read):
    c = SimpleNamespace(**spec_of(json, read), type=json["model_type"], vocab=json["vocab_size"],
                        start=json.get("decoder_start_token_id"))
    if c.type == "rnn_seq2seq":
        return c
    if c.attention_output_bias is None:
        c.attention_output_bias = c.attention_bias
    if c.score_scale is None:
        c.score_scale = c.head**-0.5 if c.scale_scores else 1.0
    if c.positions == "rotary" and not c.rope:
        c.rope = rope(json.get("rope_theta", 10000.0), c.head, json.get("rope_scaling"), positions=c.max_positions)

    def layer(i):
        """Window (0: none) and rotary positions of a layer's self-attention"""
        kind = c.ropes[i] if c.ropes else "usual"
        return SimpleNamespace(window=c.windows[i] if c.windows else 0,
                               rope=dict(usual=c.rope, local=c.local_rope, none=None)[kind])

    c.layer = layer
    return c


BART = dict(embedding="model.shared", source="model.encoder.embed_tokens", target="model.decoder.embed_tokens",
            positions="model.{side}.embed_positions", block="model.{side}.layers.{i}.", norm1="self_attn_layer_norm",
            norm_cross="encoder_attn_layer_norm", norm2="final_layer_norm",
            attn=["self_attn." + p for p in ("q_proj", "k_proj", "v_proj", "out_proj")],
            cross=["encoder_attn." + p for p in ("q_proj", "k_proj", "v_proj", "out_proj")],
            up="fc1", gate="fc_gate", down="fc2", final_norm="model.{side}.layer_norm", output="lm_head",
            output_bias="final_logits_bias")
NAMES = {
    "marian": BART,
    "pegasus": BART,
    "gpt2": dict(embedding="wte", positions="wpe", block="h.{i}.", norm1="ln_1", norm2="ln_2",
                 attn=["attn.c_attn", "attn.c_proj"], up="mlp.c_fc", gate="mlp.c_gate", down="mlp.c_proj",
                 final_norm="ln_f", output="lm_head"),
    "llama": dict(embedding="model.embed_tokens", positions="model.embed_positions", block="model.layers.{i}.",
                  norm1="input_layernorm", norm2="post_attention_layernorm",
                  attn=["self_attn." + p for p in ("q_proj", "k_proj", "v_proj", "o_proj")],
                  up="mlp.up_proj", gate="mlp.gate_proj", down="mlp.down_proj", final_norm="model.norm",
                  output="lm_head"),
    "bert": dict(embedding="bert.embeddings.word_embeddings", positions="bert.embeddings.position_embeddings",
                 segments="bert.embeddings.token_type_embeddings", embedding_norm="bert.embeddings.LayerNorm",
                 block="bert.encoder.layer.{i}.", norm1="attention.output.LayerNorm", norm2="output.LayerNorm",
                 attn=["attention.self.query", "attention.self.key", "attention.self.value",
                       "attention.output.dense"],
                 up="intermediate.dense", gate="intermediate.gate", down="output.dense",
                 final_norm="bert.encoder.final_norm", output="cls.predictions.decoder",
                 output_bias="cls.predictions.bias", head="cls.predictions.transform.dense",
                 head_norm="cls.predictions.transform.LayerNorm"),
}
