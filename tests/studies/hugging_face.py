"""Hugging Face's modelling code from a clone of its repository, with Debian's torch alone.

    import_release(folder)      # a work tree of github.com/huggingface/transformers at some release (4.44 to 5.9 were tried)

What is not in Debian (huggingface_hub, tokenizers, safetensors) is stood in for by empty modules: nothing of it is needed to
compute. What newer releases expect of newer torch is stood in for by what torch 1.13 has.
"""

import dataclasses
import importlib
import importlib.machinery
import importlib.metadata
import json
import os
import struct
import sys
import types
import warnings
from pathlib import Path

import torch

ABSENT = ("huggingface_hub", "safetensors", "tokenizers", "typer", "httpx")
NEWER = ("torch.distributed.tensor", "torch.distributed.device_mesh", "torch.distributed.fsdp", "torch.nn.attention",
         "torch.distributed.checkpoint", "torch._dynamo", "torch.compiler")
VERSIONS = {"numpy": "1.26", "packaging": "23.0", "pyyaml": "6.0", "PyYAML": "6.0", "regex": "2026.1.1", "requests": "2.32.2",
            "tqdm": "4.67", "filelock": "3.9.0", "typer": "0.9"}
NAMES = {torch.float32: "F32", torch.int64: "I64", torch.bool: "BOOL", torch.uint8: "U8"}


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        numbers = tensor.detach().contiguous().numpy().tobytes()
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + len(numbers)]}
        data += numbers
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


class Empty(types.ModuleType):
    """A module in which every name is something harmless: a class, a decorator, a module."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if self.__name__ == "huggingface_hub" and name in ("constants", "utils", "errors", "dataclasses"):
            return importlib.import_module(f"{self.__name__}.{name}")
        if self.__name__.endswith("constants"):
            return "/nonexistent"
        if name == "as_validated_field":
            return lambda check: lambda default=dataclasses.MISSING, **_: dataclasses.field(default=default)
        if name[0].islower() or name[0] == "_":
            def decorator(*values, **named):
                return values[0] if len(values) == 1 and callable(values[0]) else lambda function=None: function
            setattr(self, name, decorator)
        else:
            setattr(self, name, type(name, (Exception,), {"__class_getitem__": classmethod(lambda own, _: own),
                                                   "__enter__": lambda self: self, "__exit__": lambda *_: None}))
        return vars(self)[name]


class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ABSENT or any(name == one or name.startswith(one + ".") for one in NEWER):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return Empty(spec.name)

    def exec_module(self, module):
        module.__version__ = VERSIONS.get(module.__name__, "1.0")


def stand_in(release):
    """For the versions that the release asks for, and what it calls of newer torch."""
    old = release < (4, 50)
    VERSIONS.update({"torch": "2.0.1" if old else "2.6.0", "safetensors": "0.7.0",
                     "tokenizers": "0.19.1" if old else "0.21.0" if release < (4, 55) else "0.22.2",
                     "huggingface-hub": "0.23.2" if old else "0.34.0" if release < (5,) else "1.9.0"})
    VERSIONS["huggingface_hub"] = VERSIONS["huggingface-hub"]
    version = importlib.metadata.version
    importlib.metadata.version = lambda name: VERSIONS.get(name) or version(name)
    sys.meta_path.insert(0, Finder())
    for name in NEWER:
        module = importlib.import_module(name)
        parent, _, last = name.rpartition(".")
        setattr(sys.modules[parent], last, module)
    torch.compiler.is_compiling = torch.compiler.is_exporting = torch._dynamo.is_compiling = lambda: False
    torch.compile = lambda function=None, **_: function if function else lambda other: other
    torch.is_autocast_enabled = lambda *_: False
    torch.get_default_device = lambda: torch.device("cpu")
    for name in ("float8_e4m3fn", "float8_e5m2", "uint16", "uint32", "uint64"):
        setattr(torch, name, getattr(torch, name, torch.uint8))
    for name in ("register_fake", "custom_op", "register_autograd", "register_kernel"):
        setattr(torch.library, name, lambda *_, **__: lambda function: function)
    for name in ("vmap", "xpu", "mps"):
        setattr(torch, name, getattr(torch, name, types.SimpleNamespace(is_available=lambda: False)))
    torch.utils._pytree.register_pytree_node = lambda *_, **__: None
    information = torch.finfo
    torch.finfo = lambda kind=torch.float32: information(kind if kind.is_floating_point else torch.float32)

    no_grad = torch.no_grad

    class NoGrad(no_grad):  # also as @torch.no_grad
        def __new__(cls, function=None):
            return no_grad()(function) if function else super().__new__(cls)

        def __init__(self, function=None):
            super().__init__()

    torch.no_grad = NoGrad
    without = lambda function, *dropped: lambda *values, **named: function(
        *values, **{key: value for key, value in named.items() if key not in dropped})
    for name in ("uniform_", "normal_", "trunc_normal_", "xavier_uniform_", "xavier_normal_", "kaiming_uniform_"):
        initial = without(getattr(torch.nn.init, name), "generator")
        initial.__name__ = name
        setattr(torch.nn.init, name, initial)
    torch.nn.Embedding.__init__ = without(torch.nn.Embedding.__init__, "_freeze")
    layer_norm = without(torch.nn.LayerNorm.__init__, "bias")

    def norm_with_bias_or_not(self, *values, bias=True, **named):
        layer_norm(self, *values, **named)
        if not bias:
            self.register_parameter("bias", None)

    torch.nn.LayerNorm.__init__ = norm_with_bias_or_not

    def members(kind):
        def named(self, prefix="", recurse=True, remove_duplicate=True):
            seen = set()
            for at, module in self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix,
                                                                                                                     self)]:
                for name, tensor in getattr(module, kind).items():
                    if tensor is None or (remove_duplicate and tensor in seen):
                        continue
                    seen.add(tensor)
                    yield f"{at}.{name}" if at else name, tensor
        return named

    torch.nn.Module.named_parameters, torch.nn.Module.named_buffers = members("_parameters"), members("_buffers")


class OneFile:
    """How save_pretrained is told to split a model: not at all."""

    is_sharded, metadata = False, {}

    def __init__(self, tensors, filename_pattern="model{suffix}.safetensors", **_):
        file = filename_pattern.format(suffix="")
        self.filename_to_tensors, self.tensor_to_filename = {file: list(tensors)}, dict.fromkeys(tensors, file)


def save_here(module):
    for name in ("save_file", "safe_save_file"):
        if name in vars(module):
            setattr(module, name, lambda tensors, path, metadata=None: write_safetensors(path, tensors))
    if "split_torch_state_dict_into_shards" in vars(module):
        module.split_torch_state_dict_into_shards = OneFile


def masks_without_vmap(module):
    def broadcast(rule, bh_indices=True):
        def mask(b, h, q, k):
            if not bh_indices:
                return rule(b, h, q[:, None], k[None, :])
            return rule(b[:, None, None, None], h[None, :, None, None], q[None, None, :, None],
                        k[None, None, None, :]).expand(len(b), len(h), len(q), len(k))
        return mask

    module._vmap_for_bhqkv = broadcast
    module._vmap_expansion_sdpa = broadcast
    for name in vars(module):
        if name.startswith("_is_torch_greater"):
            setattr(module, name, True)


def import_release(folder):
    """The release's number, as a tuple."""
    import typing_extensions

    text = (Path(folder) / "src" / "transformers" / "__init__.py").read_text()
    number = text.split('__version__ = "')[1].split('"')[0]
    release = tuple(int(part) for part in number.split(".")[:2] if part.isdigit())
    warnings.filterwarnings("ignore")
    os.environ["TRANSFORMERS_VERBOSITY"], os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "error", "1"
    typing_extensions.get_original_bases = lambda kind: kind.__dict__.get("__orig_bases__", kind.__bases__)
    stand_in(release)
    sys.path.insert(0, str(Path(folder) / "src"))
    save_here(importlib.import_module("transformers.modeling_utils"))
    try:
        masks_without_vmap(importlib.import_module("transformers.masking_utils"))
    except ModuleNotFoundError:
        pass  # older releases make their masks otherwise
    return release
