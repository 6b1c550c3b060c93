"""llama.cpp's library by its C interface, as far as comparisons with it need.

The library is whatever folder holds libllama and libggml: a build of llama.cpp, or the `bins` of npm's
@node-llama-cpp/linux-x64. No header is needed: structs are passed with room to spare, and only those of their first
fields are set that have stood there for years, after a look at their usual values.
"""

import ctypes
from pathlib import Path

import numpy as np

ROOM = 1024  # bytes of a struct, more than any version has


class Params(ctypes.Structure):
    _fields_ = [("words", ctypes.c_uint32 * (ROOM // 4))]


class Batch(ctypes.Structure):
    _fields_ = [("n_tokens", ctypes.c_int32), ("token", ctypes.POINTER(ctypes.c_int32)), ("embd", ctypes.c_void_p),
                ("pos", ctypes.POINTER(ctypes.c_int32)), ("n_seq_id", ctypes.POINTER(ctypes.c_int32)),
                ("seq_id", ctypes.POINTER(ctypes.POINTER(ctypes.c_int32))), ("logits", ctypes.POINTER(ctypes.c_int8))]


class Library:
    def __init__(self, folder):
        folder = Path(folder)
        def path_of(name):
            found = sorted(folder.glob(f"lib{name}.*so*"))
            if not found:
                raise SystemExit(f"{folder}: has no lib{name}.so: name the folder of llama.cpp's libraries")
            return str(found[0])

        self.base = ctypes.CDLL(path_of("ggml-base"), mode=ctypes.RTLD_GLOBAL)
        self.ggml = ctypes.CDLL(path_of("ggml"), mode=ctypes.RTLD_GLOBAL)
        self.llama = ctypes.CDLL(path_of("llama"), mode=ctypes.RTLD_GLOBAL)
        self.quiet = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(self.keep_message)
        self.messages = []
        self.llama.llama_log_set(self.quiet, None)
        self.ggml.ggml_backend_load_all_from_path.argtypes = [ctypes.c_char_p]
        self.ggml.ggml_backend_load_all_from_path(str(folder).encode())
        pointer, params = ctypes.c_void_p, Params
        for name, result, arguments in (
                ("llama_model_default_params", params, []),
                ("llama_context_default_params", params, []),
                ("llama_model_quantize_default_params", params, []),
                ("llama_model_load_from_file", pointer, [ctypes.c_char_p, params]),
                ("llama_init_from_model", pointer, [pointer, params]),
                ("llama_model_get_vocab", pointer, [pointer]),
                ("llama_vocab_n_tokens", ctypes.c_int32, [pointer]),
                ("llama_model_n_embd", ctypes.c_int32, [pointer]),
                ("llama_batch_init", Batch, [ctypes.c_int32, ctypes.c_int32, ctypes.c_int32]),
                ("llama_batch_free", None, [Batch]),
                ("llama_decode", ctypes.c_int32, [pointer, Batch]),
                ("llama_encode", ctypes.c_int32, [pointer, Batch]),
                ("llama_get_logits_ith", ctypes.POINTER(ctypes.c_float), [pointer, ctypes.c_int32]),
                ("llama_get_embeddings_seq", ctypes.POINTER(ctypes.c_float), [pointer, ctypes.c_int32]),
                ("llama_set_embeddings", None, [pointer, ctypes.c_bool]),
                ("llama_set_n_threads", None, [pointer, ctypes.c_int32, ctypes.c_int32]),
                ("llama_model_quantize", ctypes.c_uint32, [ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(Params)]),
                ("llama_free", None, [pointer]),
                ("llama_model_free", None, [pointer])):
            function = getattr(self.llama, name)
            function.restype, function.argtypes = result, arguments

    def keep_message(self, level, text, _):
        self.messages = self.messages[-20:] + [text.decode(errors="replace").rstrip()]

    def failed(self, what):
        return RuntimeError(f"{what}: " + " / ".join(m for m in self.messages[-4:] if m))

    def quantize(self, source, target, file_type):
        params = self.llama.llama_model_quantize_default_params()
        params.words[0], params.words[1] = 2, file_type  # threads, type
        if self.llama.llama_model_quantize(str(source).encode(), str(target).encode(), ctypes.byref(params)):
            raise self.failed(f"llama.cpp does not quantise {source}")

    def dequantize(self, type_name, data, count):
        """The numbers of a row of blocks, as float32."""
        out = np.empty(count, np.float32)
        function = getattr(self.base, "dequantize_row_" + (type_name.lower() if type_name == "IQ4_NL" else type_name.replace("Q", "q")))
        function.argtypes, function.restype = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64], None
        data = np.ascontiguousarray(data)
        function(data.ctypes.data, out.ctypes.data, count)
        return out

    def open(self, path, context=512, threads=2):
        return Model(self, path, context, threads)


class Model:
    def __init__(self, library, path, context, threads):
        self.library, self.api = library, library.llama
        self.model = self.api.llama_model_load_from_file(str(path).encode(), self.api.llama_model_default_params())
        if not self.model:
            raise library.failed(f"llama.cpp does not open {path}")
        params = self.api.llama_context_default_params()
        if tuple(params.words[0:3]) != (512, 2048, 512):
            raise SystemExit("this version of llama.cpp has another struct llama_context_params")
        params.words[0] = params.words[1] = params.words[2] = context
        self.context = self.api.llama_init_from_model(self.model, params)
        if not self.context:
            raise library.failed(f"llama.cpp does not run {path}")
        self.api.llama_set_n_threads(self.context, threads, threads)
        self.vocab = self.api.llama_vocab_n_tokens(self.api.llama_model_get_vocab(self.model))
        self.past = 0

    def batch(self, ids, last_only=False):
        batch = self.api.llama_batch_init(len(ids), 0, 1)
        batch.n_tokens = len(ids)
        for i, token in enumerate(ids):
            batch.token[i], batch.pos[i], batch.n_seq_id[i] = token, self.past + i, 1
            batch.seq_id[i][0] = 0
            batch.logits[i] = not last_only or i + 1 == len(ids)
        return batch

    def read(self, ids, last_only=False):
        """Takes ids in."""
        batch = self.batch(ids, last_only)
        if self.api.llama_decode(self.context, batch):
            raise self.library.failed("llama_decode")
        self.past += len(ids)
        self.api.llama_batch_free(batch)

    def logits(self, ids, source=None):
        """A row of scores for each of the ids; of encoder-decoders they follow a source."""
        if source is not None:
            batch = self.batch(source)
            if self.api.llama_encode(self.context, batch):
                raise self.library.failed("llama_encode")
            self.api.llama_batch_free(batch)
        self.read(ids)
        return np.stack([np.ctypeslib.as_array(self.api.llama_get_logits_ith(self.context, i), (self.vocab,)).copy()
                         for i in range(len(ids))])

    def embedding(self, ids):
        """One vector for the text, pooled as the file says."""
        self.api.llama_set_embeddings(self.context, True)
        batch = self.batch(ids)
        if self.api.llama_encode(self.context, batch):
            raise self.library.failed("llama_encode")
        self.api.llama_batch_free(batch)
        vector = self.api.llama_get_embeddings_seq(self.context, 0)
        return np.ctypeslib.as_array(vector, (self.api.llama_model_n_embd(self.model),)).copy()

    def close(self):
        self.api.llama_free(self.context)
        self.api.llama_model_free(self.model)
