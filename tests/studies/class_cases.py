#!/usr/bin/python3
"""Limpid beside Hugging Face's own classes: small models of random configs, computed by a release of transformers.

    tests/studies/class_cases.py LIMPID TRANSFORMERS OUT [FAMILY...] [--seed N] [--count N]

TRANSFORMERS is a work tree of github.com/huggingface/transformers at some release; OUT takes the cases, as `limpid verify`
reads them and as save_pretrained writes them, all weights random. Each is verified: it has to agree within the tolerance or to
be refused with the name of a key. Prints what differs, what is refused and how often; ends with 1 where something differs.
What a release itself cannot run is left out. Needs Debian's python3-torch, -numpy, -regex, -requests, -tqdm, -filelock,
-packaging, -yaml and -typing-extensions.
"""

import argparse
import importlib
import json
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent))
from class_configs import CONFIGS, random_config  # noqa: E402
from hugging_face import import_release, save_here, write_safetensors  # noqa: E402

BASES = {"llama": "Llama", "mistral": "Mistral", "mixtral": "Mixtral", "qwen2": "Qwen2", "qwen3": "Qwen3",
         "qwen2_moe": "Qwen2Moe", "qwen3_moe": "Qwen3Moe", "gemma": "Gemma", "gemma2": "Gemma2", "phi": "Phi", "phi3": "Phi3",
         "smollm3": "SmolLM3", "olmo": "Olmo", "olmo2": "Olmo2", "granite": "Granite", "starcoder2": "Starcoder2",
         "stablelm": "StableLm", "cohere": "Cohere", "gptj": "GPTJ", "gpt_neo": "GPTNeo", "gpt_neox": "GPTNeoX", "opt": "OPT",
         "bloom": "Bloom", "falcon": "Falcon", "bert": "Bert", "roberta": "Roberta", "xlm_roberta": "XLMRoberta",
         "camembert": "Camembert", "mpnet": "MPNet", "distilbert": "DistilBert", "modernbert": "ModernBert",
         "pegasus": "Pegasus", "bart": "Bart", "mbart": "MBart", "m2m_100": "M2M100", "t5": "T5", "mt5": "MT5"}
PICTURES = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 28,
            "patch_size": 14}
ENCODERS = ("bert", "roberta", "xlm_roberta", "camembert", "mpnet", "distilbert", "modernbert")


def classes_of(family):
    if family == "gemma3":
        return ["Gemma3ForCausalLM", "Gemma3TextModel", "Gemma3ForConditionalGeneration"]
    if family == "gpt2":
        return ["GPT2LMHeadModel", "GPT2Model"]
    if family == "marian":
        return ["MarianMTModel", "MarianModel"]
    base = BASES[family]
    if family in ENCODERS:
        further = ["ForPreTraining", "LMHeadModel"] if family == "bert" else []
        return [base + end for end in ["Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification"] + further]
    if family in ("t5", "mt5"):
        return [base + end for end in ("ForConditionalGeneration", "EncoderModel", "Model")]
    if family in ("pegasus", "bart", "mbart", "m2m_100"):
        return [base + end for end in ("ForConditionalGeneration", "Model")]
    return [base + end for end in ("ForCausalLM", "Model")]


def randomize(model, seed):
    """Weights of a usual size, with every bias and gain at work; gains of Gemma are 1 + w. Tables of sines stay."""
    draw = torch.Generator().manual_seed(seed)
    gain = 0 if type(model).__name__.startswith("Gemma") else 1
    numbers = list(model.named_parameters()) + [(n, b) for n, b in model.named_buffers() if n.endswith("final_logits_bias")]
    for name, weight in numbers:
        if "embed_positions" in name and type(model).__name__.startswith(("Marian", "Pegasus", "M2M")):
            continue
        normal = torch.randn(weight.shape, generator=draw)
        with torch.no_grad():
            if name.endswith("bias"):
                weight.copy_(0.3 * normal)
            elif weight.dim() < 2:
                weight.copy_(gain + 0.3 * normal)
            else:
                table = any(part in name for part in ("embed", "wte", "wpe", "shared.weight"))
                weight.copy_(normal * (0.7 if table else 0.8 / weight.shape[-1] ** 0.5))


def computed(model, config, draw):
    """Ids and numbers under the names of a case."""
    padding, case = getattr(config, "pad_token_id", None), {}

    def ids(count):
        vocabulary = range(model.get_input_embeddings().num_embeddings)
        return [draw.choice([i for i in vocabulary if i != padding]) for _ in range(count)]

    translator = getattr(config, "is_encoder_decoder", False) and not type(model).__name__.endswith("EncoderModel")
    scored = re.search("CausalLM|LMHead|MaskedLM|SequenceClass|MTModel|Generation|PreTraining", type(model).__name__)
    for i, (length, target) in enumerate(((1, 0), (7, 5), (23, 10))):
        text = torch.tensor([ids(length)])
        further = {"use_cache": False} if "use_cache" in model.forward.__code__.co_varnames else {}
        if translator:
            start = torch.tensor([[config.decoder_start_token_id] + ids(target)])
            further["decoder_input_ids"] = start
            case |= {f"source.{i}": text[0], f"target.{i}": start[0]}
        else:
            case[f"ids.{i}"] = text[0]
        with torch.no_grad():
            out = model(input_ids=text, output_hidden_states=True, return_dict=True, **further)
        found = {f"logits.{i}": out.get("logits", out.get("prediction_logits")) if scored else None,
                 f"pooled.{i}": out.get("pooler_output"), f"encoder.{i}": out.get("encoder_last_hidden_state"),
                 f"hidden.{i}": None if translator else out.get("last_hidden_state")}
        for states in ("hidden_states", "encoder_hidden_states", "decoder_hidden_states"):
            found |= {f"{states}.{i}.{layer}": state for layer, state in enumerate(out.get(states) or ())}
        case |= {name: numbers[0].clone() for name, numbers in found.items() if numbers is not None}
    return case


def make(family, seed, release, folder):
    """Writes a case; says what is wrong where the release has no such class or cannot run it."""
    draw = random.Random(seed)
    try:
        module = importlib.import_module(f"transformers.models.{family}.modeling_{family}")
        save_here(module)
        kind = getattr(module, draw.choice(classes_of(family)))
        keys = random_config(family, seed, release)
        if kind.__name__ == "Gemma3ForConditionalGeneration":  # reads pictures too
            keys = {"text_config": keys | {"final_logit_softcapping": None}, "vision_config": PICTURES}  # it heeds no cap
        text_only = family == "gemma3" and "text_config" not in keys
        config = (module.Gemma3TextConfig if text_only else kind.config_class)(**keys)
        config._attn_implementation = "eager"
        if release >= (5,):
            config._experts_implementation = "eager"
        model = kind(config).eval()
        randomize(model, seed)
        case = computed(model, config, draw)
        if not all(torch.isfinite(numbers).all() for numbers in case.values()):
            raise ValueError("not a number")
    except Exception as problem:  # whatever it is: this release does not compute it
        return f"{type(problem).__name__}: {problem}"
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder, safe_serialization=True)
    write_safetensors(folder / "case.safetensors", case)
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("limpid", type=Path)
    parser.add_argument("transformers", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("families", nargs="*", metavar="FAMILY")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    release = import_release(arguments.transformers)
    families = arguments.families or list(CONFIGS)
    found, refused, skipped = Counter(), Counter(), Counter()
    for i in range(arguments.count):
        family, seed = families[i % len(families)], 1000 * arguments.seed + i
        folder = arguments.out / f"{release[0]}.{release[1]}-{family}-{seed}"
        if problem := make(family, seed, release, folder):
            found["left out"] += 1
            skipped[f"{family}: {problem[:90]}"] += 1
            continue
        done = subprocess.run([arguments.limpid, "verify", folder], capture_output=True, text=True)
        said = done.stderr.strip() or " / ".join(done.stdout.strip().splitlines()[-3:])
        if done.returncode == 0:
            found["agree"] += 1
        elif key := re.search(r"\[config\] (\S+)", said):
            found["refused"] += 1
            refused[f"{family}: {key[1]}"] += 1
        else:
            found["differ"] += 1
            print(f"{folder.name}: {said[:400]}", flush=True)
    for what, count in sorted(skipped.items()):
        print(f"left out {count}: {what}")
    for what, count in sorted(refused.items()):
        print(f"refused {count}: {what}")
    print(f"{'.'.join(map(str, release))}: " + ", ".join(f"{found[each]} {each}" for each in ("agree", "refused", "differ",
                                                                                             "left out")))
    return 1 if found["differ"] else 0


if __name__ == "__main__":
    sys.exit(main())
