#!/usr/bin/python3
"""Reference cases as other classes and releases would have saved them: the same numbers must come out.

    tests/studies/variants.py LIMPID CASES [NAME...]

CASES is a folder of cases that `limpid verify` reads (config.json, model.safetensors, case.safetensors). Each is written again
  - without the prefix of the base model, and with it;
  - with buffers of old releases (masks, inverse frequencies, position ids, tables of sines);
  - with copies of what is tied, under the names that old files have;
  - with LayerNorm.gamma and LayerNorm.beta, as BERT's first files;
  - in shards with an index;
  - with keys of other releases in config.json (dtype for torch_dtype, nulls, several end tokens, settings of generation);
  - without the keys whose values are those of the family's class;
  - with sizes under the general names that some classes take for their own (hidden_size for n_embd);
and verified. Prints what fails; ends with 1 then.
"""

import json
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

PREFIXES = ("model.", "transformer.", "bert.", "roberta.", "distilbert.", "mpnet.", "gpt_neox.")
HEADS = ("lm_head", "cls.", "classifier", "embed_out", "final_logits_bias", "decoder.weight", "decoder.bias", "head.",
         "vocab_", "pre_classifier")


def read(path):
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    return {name: (info["dtype"], info["shape"], data[8 + length + info["data_offsets"][0] : 8 + length +
                                                      info["data_offsets"][1]])
            for name, info in header.items() if name != "__metadata__"}


def write(path, tensors):
    header, data = {}, b""
    for name, (dtype, shape, numbers) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(numbers)]}
        data += numbers
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def floats(*numbers):
    return ("F32", [len(numbers)], struct.pack(f"<{len(numbers)}f", *numbers))


def without_prefix(tensors, config):
    """As the base class saves it: no prefix, and no head. Without its head a masked model gives vectors: left alone."""
    for prefix in PREFIXES if config["model_type"] != "distilbert" else ("distilbert.",):
        if any(name.startswith(prefix) for name in tensors) and not any(name.startswith(HEADS) for name in tensors):
            return {name.removeprefix(prefix): tensor for name, tensor in tensors.items()}
    return None


def with_prefix(tensors, config):
    prefix = {"bert": "bert.", "gpt2": "transformer.", "distilbert": "distilbert.", "roberta": "roberta.",
              "xlm-roberta": "roberta.", "camembert": "roberta.", "mpnet": "mpnet."}.get(config["model_type"])
    if not prefix or any(name.startswith(prefix) for name in tensors):
        return None
    return {prefix + name: tensor for name, tensor in tensors.items()}


def with_buffers(tensors, config):
    new = dict(tensors)
    for name in tensors:
        block, _, part = name.rpartition(".self_attn.q_proj.weight")
        if block:
            new[block + ".self_attn.rotary_emb.inv_freq"] = floats(1.0, 0.1)
        for end in (".attention.query_key_value.weight", ".attn.c_attn.weight", ".attn.attention.q_proj.weight"):
            if name.endswith(end):
                scope = name[: name.rindex(".", 0, len(name) - len(".weight"))]
                new[scope + ".bias" if not scope + ".bias" in new else scope + ".mask"] = ("U8", [1, 1, 2, 2],
                                                                                           b"\1\0\1\1")
                new[scope + ".masked_bias"] = floats(-1e9)
                new[scope + ".rotary_emb.inv_freq"] = floats(1.0, 0.1)
        if name.endswith("embeddings.word_embeddings.weight"):
            new[name.replace("word_embeddings.weight", "position_ids")] = ("I64", [1, 2], struct.pack("<2q", 0, 1))
            new[name.replace("word_embeddings.weight", "token_type_ids")] = ("I64", [1, 2], struct.pack("<2q", 0, 0))
    if config["model_type"] in ("t5", "mt5") and "decoder.final_layer_norm.weight" in tensors:
        new["decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"] = floats(1.0, 2.0)
    if config["model_type"] in ("bert",):
        new["cls.seq_relationship.weight"] = floats(1.0)
        new["cls.seq_relationship.bias"] = floats(1.0)
    return new if len(new) > len(tensors) else None


def with_copies(tensors, config):
    new = dict(tensors)
    for shared, copies in (("shared.weight", ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight")),
                           ("model.shared.weight", ("model.encoder.embed_tokens.weight",
                                                    "model.decoder.embed_tokens.weight"))):
        if shared in tensors:
            for copy in copies + (() if "lm_head.weight" in tensors else ("lm_head.weight",)):
                new.setdefault(copy, tensors[shared])
    for table in ("model.embed_tokens.weight", "transformer.wte.weight", "model.decoder.embed_tokens.weight",
                  "transformer.word_embeddings.weight"):
        if table in tensors and "lm_head.weight" not in tensors:
            new["lm_head.weight"] = tensors[table]
    for table, copy in (("bert.embeddings.word_embeddings.weight", "cls.predictions.decoder.weight"),
                        ("roberta.embeddings.word_embeddings.weight", "lm_head.decoder.weight"),
                        ("distilbert.embeddings.word_embeddings.weight", "vocab_projector.weight")):
        if table in tensors and copy.replace("weight", "bias").replace("decoder.bias", "bias") in tensors:
            new[copy] = tensors[table]
            if "decoder" in copy:
                new[copy.replace("weight", "bias")] = tensors[copy.replace("decoder.weight", "bias")]
    return new if len(new) > len(tensors) else None


def old_norms(tensors, config):
    new = {name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor
           for name, tensor in tensors.items()}
    return new if set(new) != set(tensors) and config["model_type"] == "bert" else None


def same(tensors, config):
    return tensors


def other_keys(config):
    new = dict(config)
    if "torch_dtype" in new:
        new["dtype"] = new.pop("torch_dtype")
    for key in ("rope_scaling", "sliding_window", "head_dim", "quantization_config", "pretraining_tp"):
        new.setdefault(key, None)
    if isinstance(new.get("eos_token_id"), int):
        new["eos_token_id"] = [new["eos_token_id"], 3]
    new |= {"use_cache": True, "transformers_version": "4.36.2", "_name_or_path": "someone/model", "max_length": 20,
            "bad_words_ids": [[1]], "num_beams": 4, "auto_map": {"AutoModel": "x.Y"}, "gradient_checkpointing": False}
    return new


# Where they are absent, classes of these families take the same values.
USUAL = {"attention_dropout": 0.0, "use_cache": True, "initializer_range": 0.02, "init_std": 0.02, "attention_bias": False,
         "mlp_bias": False, "rope_scaling": None, "output_hidden_states": False, "scale_attn_weights": True,
         "scale_attn_by_inverse_layer_idx": False, "do_layer_norm_before": True, "enable_bias": True,
         "layer_norm_elementwise_affine": True, "use_sliding_window": False, "activation_dropout": 0.0,
         "relative_attention_num_buckets": 32, "relative_attention_max_distance": 128, "embd_pdrop": None,
         "multi_query": True, "parallel_attn": True, "alibi": False, "new_decoder_architecture": False}
USUAL_OF = {
    ("llama", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text", "smollm3", "granite", "qwen2_moe", "qwen3_moe"):
        {"rms_norm_eps": 1e-6},
    ("mixtral", "olmo2", "phi3"): {"rms_norm_eps": 1e-5},
    ("llama", "mistral", "mixtral", "qwen2", "qwen3", "qwen2_moe", "qwen3_moe", "phi3", "smollm3", "olmo", "olmo2", "granite",
     "stablelm", "cohere"): {"hidden_act": "silu"},
    ("bert", "roberta", "xlm-roberta", "mpnet", "gpt_neox"): {"hidden_act": "gelu"},
    ("bert", "roberta", "xlm-roberta", "mpnet"): {"layer_norm_eps": 1e-12, "type_vocab_size": 2},
    ("gpt_neox", "phi", "stablelm", "cohere"): {"layer_norm_eps": 1e-5},
    ("gpt2", "gptj", "gpt_neo"): {"activation_function": "gelu_new", "layer_norm_epsilon": 1e-5},
    ("bart", "mbart"): {"activation_function": "gelu", "scale_embedding": False},
    ("llama", "mistral", "mixtral", "qwen2", "qwen3", "phi3", "phi", "olmo", "olmo2", "granite", "gpt_neox", "gptj",
     "stablelm", "mt5"): {"tie_word_embeddings": False},
    ("gpt2", "gpt_neo", "bert", "roberta", "gemma", "gemma2", "gemma3_text", "starcoder2", "cohere", "opt", "bloom", "bart",
     "mbart", "m2m_100", "pegasus", "t5"): {"tie_word_embeddings": True},
    ("llama", "mistral", "qwen2", "gemma", "gemma2", "phi", "phi3", "olmo", "olmo2", "granite", "starcoder2", "stablelm",
     "cohere", "falcon"): {"rope_theta": 10000.0},
    ("mixtral", "gemma3_text"): {"rope_theta": 1000000.0},
}


def without_usual(config):
    usual = dict(USUAL)
    for types, values in USUAL_OF.items():
        if config["model_type"] in types:
            usual |= values
    # An absent window is the usual one, not none; of releases from 5 on, T5 writes tie_word_embeddings for all.
    newer = str(config.get("transformers_version", "4")).split(".")[0] >= "5"
    return {key: value for key, value in config.items()
            if not (key in usual and value == usual[key] and not (newer and key == "tie_word_embeddings"))}


GENERAL = {
    ("gpt2", "gptj"): {"n_embd": "hidden_size", "n_layer": "num_hidden_layers", "n_head": "num_attention_heads",
                       "n_positions": "max_position_embeddings"},
    ("gpt_neo",): {"num_layers": "num_hidden_layers", "num_heads": "num_attention_heads"},
    ("distilbert",): {"dim": "hidden_size", "n_layers": "num_hidden_layers", "n_heads": "num_attention_heads"},
    ("t5", "mt5"): {"d_model": "hidden_size", "num_layers": "num_hidden_layers", "num_heads": "num_attention_heads",
                    "d_kv": "head_dim"},
    ("bart", "mbart", "m2m_100", "marian", "pegasus"): {"d_model": "hidden_size",
                                                        "encoder_attention_heads": "num_attention_heads"},
}


def general_names(config):
    names = next((names for types, names in GENERAL.items() if config["model_type"] in types), {})
    return {names.get(key, key): value for key, value in config.items()
            if key in names or key not in names.values()} if names else config


def verified(limpid, case, folder, tensors, config, shards=1):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy(case / "case.safetensors", folder)
    (folder / "config.json").write_text(json.dumps(config))
    if shards == 1:
        write(folder / "model.safetensors", tensors)
    else:
        names = sorted(tensors)
        where = {}
        for i in range(shards):
            file = f"model-{i + 1:05}-of-{shards:05}.safetensors"
            part = names[i::shards]
            write(folder / file, {name: tensors[name] for name in part})
            where |= {name: file for name in part}
        (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": where}))
    done = subprocess.run([limpid, "verify", folder], capture_output=True, text=True)
    return "" if done.returncode == 0 else (done.stderr.strip() or done.stdout.strip().splitlines()[-2])


def main():
    limpid, cases, names = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    tried = failed = 0
    with tempfile.TemporaryDirectory() as work:
        for case in sorted(cases.iterdir()):
            if not (case / "case.safetensors").exists() or (names and case.name not in names):
                continue
            tensors, config = read(case / "model.safetensors"), json.loads((case / "config.json").read_text())
            for change in (without_prefix, with_prefix, with_buffers, with_copies, old_norms):
                new = change(tensors, config)
                if new is None:
                    continue
                tried += 1
                problem = verified(limpid, case, Path(work) / case.name, new, config)
                failed += bool(problem)
                if problem:
                    print(f"{case.name} {change.__name__}: {problem}")
            for what, arguments in (("shards", dict(config=config, shards=3)),
                                    ("other keys", dict(config=other_keys(config))),
                                    ("without usual keys", dict(config=without_usual(config))),
                                    ("general names", dict(config=general_names(config)))):
                tried += 1
                problem = verified(limpid, case, Path(work) / case.name, tensors, **arguments)
                failed += bool(problem)
                if problem:
                    print(f"{case.name} {what}: {problem}")
    print(f"{tried} variants, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
