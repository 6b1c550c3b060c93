"""Random small configs of Hugging Face's classes: every key that changes what is computed, at its default as often as not."""

import random

ABSENT = object()  # the key is left out: the class's default
ACTIVATIONS = ("gelu", "gelu_new", "relu", "silu", "swish", "gelu_pytorch_tanh", "gelu_fast", "tanh", "quick_gelu")


class Choice:
    """`release` (4, 51) changes how some keys are written."""

    def __init__(self, seed, release):
        self.random, self.release, self.newer = random.Random(seed), release, release >= (5,)

    def one(self, *values):
        return self.random.choice(values)

    def perhaps(self, *values):
        return self.random.choice((ABSENT, *values))

    def flag(self):
        return self.perhaps(True, False)

    def rarely(self, value):
        return value if self.random.random() < 0.15 else ABSENT

    def activation(self):
        return self.one(ABSENT, ABSENT, self.one(*ACTIVATIONS))

    def sizes(self, head=(4, 8, 12, 16), layers=(2, 3, 4, 5), keys=True, head_dim=True):
        heads, size = self.one(2, 4, 6, 8), self.one(*head)
        config = {"hidden_size": heads * size, "num_attention_heads": heads, "num_hidden_layers": self.one(*layers),
                  "intermediate_size": self.one(40, 56, 80), "vocab_size": self.one(89, 97, 120)}
        if keys:
            config["num_key_value_heads"] = self.one(*[k for k in (1, 2, heads) if heads % k == 0])
        if head_dim and self.random.random() < 0.5:
            size = config["head_dim"] = self.one(8, 16, 20)
        return config, size

    def scaling(self, turned, kinds=("linear", "dynamic", "llama3", "yarn", "longrope")):
        kind = self.one(*kinds)
        config = {"rope_type": kind, "factor": self.one(1.5, 2.0, 4.0)}
        if not self.newer and kind in ("linear", "dynamic", "yarn") and self.random.random() < 0.3:
            config["type"] = config.pop("rope_type")
        if kind in ("llama3", "yarn", "longrope"):
            config["original_max_position_embeddings"] = self.one(8, 16)
        if kind == "llama3":
            config |= {"low_freq_factor": self.one(1.0, 1.5), "high_freq_factor": self.one(3.0, 4.0)}
        if kind == "yarn":
            config |= {key: value for key, value in (
                ("beta_fast", self.perhaps(16.0, 4.0)), ("beta_slow", self.perhaps(2.0)), ("truncate", self.perhaps(False)),
                ("attention_factor", self.perhaps(1.2, 0.7)), ("mscale", self.perhaps(0.707)),
                ("mscale_all_dim", self.perhaps(0.8))) if value is not ABSENT}
        if kind == "longrope":
            for key in ("short_factor", "long_factor"):
                config[key] = [round(1 + 2 * self.random.random(), 2) for _ in range(turned // 2)]
        return config

    def rope(self, config, size, partial=None, key="partial_rotary_factor", theta="rope_theta", scaled=0.4, since=(4, 50),
             kinds=("linear", "dynamic", "llama3", "yarn")):
        """Rotary positions as the release writes them; older ones than `since` ignore what stretches them."""
        share = self.one(*partial) if partial else ABSENT
        turned = int(size * (share if share is not ABSENT else partial[0] if partial else 1))
        stretched = self.random.random() < scaled and self.release >= since
        # Releases before 5 ask config.json itself, not rope_scaling, how long the texts of training were.
        further = ("longrope",) if self.newer and len(kinds) == 4 else ()
        scaling = self.scaling(turned, (*kinds, *further)) if stretched else None
        base = self.perhaps(500000.0, 1000.0)
        config["max_position_embeddings"] = self.one(16, 40, 64)
        if self.newer:
            if scaling or base is not ABSENT or share is not ABSENT:
                rope = {"rope_type": "default", "rope_theta": 10000.0 if base is ABSENT else base} | (scaling or {})
                config["rope_parameters"] = rope if share is ABSENT else rope | {"partial_rotary_factor": share}
            return
        config |= {theta: base if theta == "rope_theta" or base is ABSENT else int(base), key: share}
        if scaling:
            config["rope_scaling"] = scaling

    def layer_types(self, config):
        if self.release >= (4, 56) and self.random.random() < 0.4:
            config["layer_types"] = [self.one("sliding_attention", "full_attention")
                                     for _ in range(config["num_hidden_layers"])]


def decoder(c, own=lambda c: {}, tied=True, activation="hidden_act", head=(4, 8, 12, 16), head_dim=False, **rope):
    config, size = c.sizes(head, head_dim=head_dim)
    if not isinstance(head_dim, bool):
        size = config["head_dim"] = c.one(*head_dim)
    c.rope(config, size, **rope)
    config |= {activation: c.activation(), "tie_word_embeddings": c.flag() if tied else ABSENT}
    return config | own(c)


def llama(c):
    return decoder(c, lambda c: {"attention_bias": c.flag(), "mlp_bias": c.flag(), "rms_norm_eps": c.perhaps(1e-5)},
                   head_dim=c.release >= (4, 51), since=(4, 44))


def mistral(c):
    return decoder(c, lambda c: {"sliding_window": c.perhaps(None, 5, 9)}, head_dim=True)


def mixtral(c):
    return decoder(c, lambda c: {"sliding_window": c.perhaps(None, 5), "num_local_experts": 5,
                                 "num_experts_per_tok": c.one(1, 2, 5)}, scaled=0.2)


def with_windows(c, config, window=(5, 8)):
    if c.release < (4, 55):
        return config  # whose eager attention looks at no windows, or has them in every layer
    config |= {"use_sliding_window": c.flag(), "sliding_window": c.one(*window), "max_window_layers": c.perhaps(0, 1, 2)}
    c.layer_types(config)
    return config


def qwen2(c):
    return with_windows(c, decoder(c))


def qwen3(c):
    return with_windows(c, decoder(c, lambda c: {"attention_bias": c.flag()}, head_dim=(8, 12, 16)))


def experts(c):
    return {"num_experts": 5, "num_experts_per_tok": c.one(1, 2, 5), "moe_intermediate_size": c.one(16, 24),
            "norm_topk_prob": c.flag(), "decoder_sparse_step": c.rarely(2), "mlp_only_layers": c.rarely([1])}


def qwen2_moe(c):
    config = decoder(c, lambda c: experts(c) | {"shared_expert_intermediate_size": c.one(16, 40), "qkv_bias": c.flag()})
    return with_windows(c, config)


def qwen3_moe(c):
    config = decoder(c, lambda c: experts(c) | {"attention_bias": c.flag()}, head_dim=(8, 16))
    return config | {"use_sliding_window": c.flag(), "sliding_window": 5}


def gemma(c):
    config = decoder(c, lambda c: {"attention_bias": c.flag()}, head_dim=(8, 12, 16), scaled=0.3)
    if config["hidden_act"] is not ABSENT:  # which of the two counts hangs on the release
        config["hidden_activation"] = config["hidden_act"]
    return config


def gemma2(c):
    config = decoder(c, lambda c: {"attention_bias": c.flag(), "sliding_window": c.one(5, 8),
                                   "query_pre_attn_scalar": c.perhaps(16, 24),
                                   "final_logit_softcapping": c.perhaps(None, 5.0),
                                   "attn_logit_softcapping": c.perhaps(None, 5.0)},
                     activation="hidden_activation", head_dim=(8, 12, 16), scaled=0.2, since=(4, 51))
    c.layer_types(config)
    return config


def gemma3(c):
    config = gemma2(c)
    for key in ("rope_parameters", "rope_scaling", "rope_theta"):
        config.pop(key, None)
    config["num_hidden_layers"] = c.one(2, 3, 7)
    config.pop("layer_types", None)
    c.layer_types(config)
    scaling = c.scaling(config["head_dim"], ("linear", "yarn", "llama3")) if c.random.random() < 0.4 else {}
    if c.newer:
        config["rope_parameters"] = {"full_attention": {"rope_type": "default", "rope_theta": 5e4} | scaling,
                                     "sliding_attention": {"rope_type": "default", "rope_theta": c.one(1e4, 500.0)}}
        return config
    config |= {"rope_theta": c.perhaps(5e4), "rope_local_base_freq": c.perhaps(500.0)}
    if scaling:
        config["rope_scaling"] = scaling
    return config | ({"sliding_window_pattern": c.perhaps(2, 3)} if c.release < (4, 56) else {})


def phi(c):
    return decoder(c, lambda c: {"qk_layernorm": c.rarely(True), "layer_norm_eps": c.perhaps(1e-6)}, head=(16,),
                   partial=(0.5, 0.25, 1.0), scaled=0.3, kinds=("linear", "dynamic"))


def phi3(c):
    config = decoder(c, lambda c: {"sliding_window": c.perhaps(5, None), "pad_token_id": c.one(0, None)}, head=(16,),
                     partial=(1.0, 0.75, 0.5) if c.release >= (4, 51) else None, kinds=("longrope",), scaled=0.5, since=(4, 44))
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    if "long_factor" in rope:
        config["original_max_position_embeddings"] = rope.pop("original_max_position_embeddings")
        config["max_position_embeddings"] = 64
        if not c.newer:
            rope.pop("factor")
            rope["type"] = rope.pop("rope_type", "longrope")
    return config


def smollm3(c):
    config = decoder(c, lambda c: {"pad_token_id": c.one(0, None), "attention_bias": c.flag(), "mlp_bias": c.flag(),
                                   "use_sliding_window": c.flag(), "sliding_window": 5,
                                   "no_rope_layer_interval": c.perhaps(2, 3)}, scaled=0.3)
    config["no_rope_layers"] = c.perhaps([c.one(0, 1) for _ in range(config["num_hidden_layers"])])
    c.layer_types(config)
    return config


def olmo(c):
    return decoder(c, lambda c: {"attention_bias": c.flag(), "clip_qkv": c.perhaps(None, 0.5)},
                   kinds=("linear", "dynamic"))


def olmo2(c):
    return decoder(c, lambda c: {"attention_bias": c.flag(), "rms_norm_eps": c.perhaps(1e-6)}, kinds=("linear", "dynamic"))


def granite(c):
    return decoder(c, lambda c: {"attention_bias": c.flag(), "mlp_bias": c.flag(),
                                 "embedding_multiplier": c.perhaps(12.0), "logits_scaling": c.perhaps(8.0),
                                 "residual_multiplier": c.perhaps(0.22), "attention_multiplier": c.perhaps(0.1)})


def starcoder2(c):
    return decoder(c, lambda c: {"use_bias": c.flag(), "sliding_window": c.perhaps(5, None)})


def stablelm(c):
    return decoder(c, lambda c: {"use_qkv_bias": c.flag(), "qk_layernorm": c.rarely(True),
                                 "use_parallel_residual": c.flag()}, head=(16,), partial=(0.25, 0.5, 1.0),
                   kinds=("linear", "dynamic"), scaled=0.3)


def cohere(c):
    return decoder(c, lambda c: {"attention_bias": c.flag(), "use_qk_norm": c.rarely(True),
                                 "logit_scale": c.perhaps(1.0)})


def encoder(c):
    config, _ = c.sizes(keys=False, head_dim=False)
    relative = c.rarely("relative_key") if c.release < (5,) else ABSENT
    return config | {"hidden_act": c.activation(), "max_position_embeddings": 40, "type_vocab_size": c.perhaps(1, 3),
                     "layer_norm_eps": c.perhaps(1e-5), "num_labels": 2, "classifier_dropout": c.perhaps(0.2),
                     "problem_type": c.perhaps("regression"), "position_embedding_type": relative,
                     "tie_word_embeddings": c.rarely(False)}


def bert(c):
    return encoder(c) | {"is_decoder": c.rarely(True)}


def roberta(c):
    return encoder(c) | {"pad_token_id": c.perhaps(0, 3)}


def mpnet(c):
    return encoder(c) | {"type_vocab_size": ABSENT, "relative_attention_num_buckets": c.rarely(40)}


def renamed(config, names):
    return {names.get(key, key): value for key, value in config.items()}


def distilbert(c):
    config, _ = c.sizes(keys=False, head_dim=False)
    return renamed(config, {"hidden_size": "dim", "num_attention_heads": "n_heads", "num_hidden_layers": "n_layers",
                            "intermediate_size": "hidden_dim"}) | {
        "activation": c.activation(), "max_position_embeddings": 40, "num_labels": 2, "sinusoidal_pos_embds": c.flag(),
        "tie_word_embeddings": c.rarely(False)}


def modernbert(c):
    config, _ = c.sizes(keys=False, head_dim=False)
    config |= {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2,
               "hidden_activation": c.activation(), "norm_bias": c.flag(), "attention_bias": c.flag(), "mlp_bias": c.flag(),
               "local_attention": c.one(8, 6), "decoder_bias": c.flag(), "classifier_bias": c.flag(),
               "classifier_activation": c.activation(), "classifier_pooling": c.perhaps("mean"), "num_labels": 2,
               "max_position_embeddings": 64, "reference_compile": False, "tie_word_embeddings": c.rarely(False)}
    if c.newer:
        c.layer_types(config)
        config["rope_parameters"] = c.perhaps({"full_attention": {"rope_type": "default", "rope_theta": 5e4},
                                               "sliding_attention": {"rope_type": "default", "rope_theta": 500.0}})
        return config
    return config | {"global_attn_every_n_layers": c.perhaps(1, 2), "global_rope_theta": c.perhaps(5e4),
                     "local_rope_theta": c.perhaps(500.0)}


GPT = {"hidden_size": "n_embd", "num_attention_heads": "n_head", "num_hidden_layers": "n_layer",
       "intermediate_size": "n_inner"}


def gpt2(c):
    config, _ = c.sizes(keys=False, head_dim=False)
    return renamed(config, GPT) | {"n_positions": 40, "n_inner": c.perhaps(40), "activation_function": c.activation(),
                                   "scale_attn_weights": c.flag(), "scale_attn_by_inverse_layer_idx": c.flag(),
                                   "reorder_and_upcast_attn": c.flag(), "tie_word_embeddings": c.rarely(False)}


def gptj(c):
    config, size = c.sizes((8, 16), keys=False, head_dim=False)
    return renamed(config, GPT) | {"n_positions": 40, "n_inner": c.perhaps(40), "activation_function": c.activation(),
                                   "rotary_dim": c.one(4, size), "tie_word_embeddings": c.rarely(True)}


def gpt_neo(c):
    config, _ = c.sizes(layers=(2, 4), keys=False, head_dim=False)
    kinds = c.one(["global", "local"], ["local", "global"])
    return renamed(config, {"num_attention_heads": "num_heads", "num_hidden_layers": "num_layers"}) | {
        "attention_types": [[kinds, config["num_hidden_layers"] // 2]], "window_size": c.one(5, 8),
        "intermediate_size": c.perhaps(40), "activation_function": c.activation(), "max_position_embeddings": 40,
        "tie_word_embeddings": c.rarely(False)}


def gpt_neox(c):
    config, size = c.sizes((16,), keys=False, head_dim=False)
    c.rope(config, size, (0.25, 0.5, 1.0), "rotary_pct", "rotary_emb_base", kinds=("linear", "dynamic"), scaled=0.3)
    return config | {"hidden_act": c.activation(), "use_parallel_residual": c.flag(), "attention_bias": c.flag(),
                     "tie_word_embeddings": c.rarely(True)}


def opt(c):
    config, _ = c.sizes(keys=False, head_dim=False)
    return renamed(config, {"intermediate_size": "ffn_dim"}) | {
        "max_position_embeddings": 40, "do_layer_norm_before": c.flag(), "_remove_final_layer_norm": c.rarely(True),
        "word_embed_proj_dim": c.perhaps(16), "activation_function": c.activation(), "enable_bias": c.flag(),
        "layer_norm_elementwise_affine": c.flag(), "tie_word_embeddings": c.rarely(False)}


def bloom(c):
    config, _ = c.sizes(keys=False, head_dim=False)
    return renamed(config, {"num_attention_heads": "n_head", "num_hidden_layers": "n_layer"}) | {
        "intermediate_size": ABSENT, "apply_residual_connection_post_layernorm": c.rarely(True),
        "pretraining_tp": c.perhaps(2), "tie_word_embeddings": c.rarely(False)}


def falcon(c):
    config, size = c.sizes(keys=False, head_dim=False)
    c.rope(config, size, scaled=0.3, kinds=("linear", "dynamic"))  # ALiBi: releases differ
    return config | {"intermediate_size": ABSENT, "new_decoder_architecture": c.flag(), "multi_query": c.flag(),
                     "parallel_attn": c.flag(), "bias": c.flag(), "num_kv_heads": c.perhaps(2),
                     "num_ln_in_parallel_attn": c.perhaps(1, 2), "ffn_hidden_size": c.perhaps(40),
                     "activation": c.activation(), "tie_word_embeddings": c.rarely(False)}


def translator(c):
    heads = c.one(2, 4)
    return {"d_model": heads * c.one(8, 16), "encoder_layers": c.one(1, 2, 3), "decoder_layers": c.one(1, 2, 3),
            "encoder_attention_heads": heads, "decoder_attention_heads": c.one(heads, heads, heads, 2 * heads),
            "encoder_ffn_dim": c.one(40, 56), "decoder_ffn_dim": c.one(40, 56), "vocab_size": c.one(89, 97),
            "max_position_embeddings": 40, "activation_function": c.activation(), "scale_embedding": c.flag(),
            "tie_word_embeddings": c.rarely(False), "normalize_before": c.flag(), "add_final_layer_norm": c.flag(),
            "decoder_start_token_id": 2}


def marian(c):
    return translator(c) | {"pad_token_id": c.one(0, 88), "eos_token_id": 1, "decoder_start_token_id": c.one(0, 88)}


def m2m_100(c):
    return translator(c) | {"pad_token_id": c.perhaps(0)}


def t5(c):
    return {"d_model": c.one(32, 48), "d_kv": c.one(6, 8, 16), "d_ff": 40, "num_heads": c.one(2, 4), "num_layers": 2,
            "num_decoder_layers": c.perhaps(1, 3), "vocab_size": 97, "relative_attention_num_buckets": c.perhaps(8, 16),
            "relative_attention_max_distance": c.perhaps(16, 64), "tie_word_embeddings": c.flag(),
            "feed_forward_proj": c.perhaps("relu", "gated-gelu", "gated-silu", "gelu", "gelu_new", "gated-relu"),
            "decoder_start_token_id": 0}


MAKERS = [llama, mistral, mixtral, qwen2, qwen3, qwen2_moe, qwen3_moe, gemma, gemma2, gemma3, phi, phi3, smollm3, olmo, olmo2,
          granite, starcoder2, stablelm, cohere, bert, roberta, mpnet, distilbert, modernbert, gpt2, gptj, gpt_neo, gpt_neox,
          opt, bloom, falcon, marian, m2m_100, t5]
# Family → what makes its configs.
CONFIGS = {make.__name__: make for make in MAKERS} | {"xlm_roberta": roberta, "camembert": roberta, "pegasus": translator,
                                                      "bart": translator, "mbart": translator, "mt5": t5}


def random_config(family, seed, release):
    config = CONFIGS[family](Choice(seed, release))
    return {key: value for key, value in config.items() if value is not ABSENT}
