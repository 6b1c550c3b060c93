"""Random small configs of Hugging Face's classes: every key that changes what is computed, at its default as often as not."""

from class_choice import ABSENT, Choice


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
    return decoder(c, lambda c: {"sliding_window": c.window(5), "num_local_experts": 5,
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
    config = decoder(c, lambda c: experts(c) | {"shared_expert_intermediate_size": c.one(16, 40)})
    if c.release >= (4, 50):  # before, there always are some
        config["qkv_bias"] = c.flag()
    return with_windows(c, config) if c.newer else config


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
    config = decoder(c, lambda c: {"sliding_window": c.window(5), "pad_token_id": c.one(0, None)}, head=(16,),
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
    return decoder(c, lambda c: {"use_bias": c.flag(), "sliding_window": c.window(5)})


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
                                   "tie_word_embeddings": c.rarely(False)}


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
