#include "fuzz/seeds.h"

#include <zlib.h>

#include "base/error.h"
#include "base/file.h"
#include "base/temporary_folder.h"
#include "corpora/facts.h"
#include "formats/gguf_export.h"
#include "formats/model_folder.h"
#include "formats/quantize.h"
#include "formats/quantized_folder.h"
#include "formats/safetensors_writer.h"
#include "inspect/sae.h"
#include "text/sentencepiece_model.h"
#include "text/sentencepiece_tokenizer.h"
#include "text/token_store.h"
#include "text/tokenizer_training.h"
#include "training/checkpoint.h"
#include "training/manifest.h"
#include "training/run_progress.h"

namespace limpid::fuzz {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kLlama =
    R"({"model_type":"llama","vocab_size":288,"hidden_size":8,"intermediate_size":8,"num_hidden_layers":1,)"
    R"("num_attention_heads":2,"num_key_value_heads":1,"max_position_embeddings":16,"bos_token_id":1,"eos_token_id":2})";
constexpr const char* kGpt2 =
    R"({"model_type":"gpt2","vocab_size":23,"n_embd":8,"n_layer":1,"n_head":2,"n_positions":16})";
constexpr const char* kMarian =
    R"({"model_type":"marian","vocab_size":23,"d_model":8,"encoder_layers":1,"decoder_layers":1,)"
    R"("encoder_attention_heads":2,"decoder_attention_heads":2,"encoder_ffn_dim":8,"decoder_ffn_dim":8,)"
    R"("activation_function":"relu","max_position_embeddings":16,"pad_token_id":0,"eos_token_id":2,)"
    R"("decoder_start_token_id":0})";
constexpr const char* kBert =
    R"({"model_type":"bert","vocab_size":23,"hidden_size":8,"intermediate_size":8,"num_hidden_layers":1,)"
    R"("num_attention_heads":2,"max_position_embeddings":16,"type_vocab_size":2})";
constexpr const char* kRnn =
    R"({"model_type":"rnn_seq2seq","vocab_size":23,"embed_dim":4,"hidden_size":4,"cell":"gru","attention":"none",)"
    R"("context":"initial","bidirectional":false,"layers":1,"decoder_start_token_id":1})";

struct SmallModel {
  explicit SmallModel(const char* config)
      : model(make_model(parse_config(Json::parse(config)))),
        parameters([&](const WeightVisitor& visitor) { model->visit_parameters(visitor); }) {
    parameters.initialize(1);
  }
  std::unique_ptr<Model> model;
  Parameters parameters;
};

// A few lines of our own world of facts.
EachLine few_lines() {
  return [](const std::function<void(std::string_view)>& line) {
    const FactWorld world;
    for (uint64_t i = 0; i < 60; ++i) line(world.training(i).text());
  };
}

// As many pieces as kLlama's vocabulary: special tokens, bytes, letters. Without the compiled rules of normalisation
// that training puts into a file, a quarter of a megabyte.
std::string small_sentencepiece(bool bpe) {
  using Piece = SentencePiecePiece;
  SentencePieceModel model{
      .pieces = {{"<unk>", 0, Piece::unknown}, {"<s>", 0, Piece::control}, {"</s>", 0, Piece::control}}, .bpe = bpe};
  for (int byte = 0; byte < 256; ++byte) model.pieces.push_back({fmt::format("<0x{:02X}>", byte), 0, Piece::byte});
  for (const char* text : {"▁", "▁a", "ab"}) model.pieces.push_back({text, -1});
  for (char letter = 'a'; letter <= 'z'; ++letter) model.pieces.push_back({std::string(1, letter), -2});
  return sentencepiece_bytes(model);
}

// What the function writes into a file of a new folder.
template <class Write>
std::string written(const std::string& name, const Write& write) {
  const TemporaryFolder folder;
  write(folder.path());
  return read_text(folder / name);
}

std::string safetensors_of(const char* config) {
  return written("model.safetensors", [&](const fs::path& folder) {
    const SmallModel small(config);
    write_model(folder, small.model->config(), small.parameters);
  });
}

template <class T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string gzipped(const std::string& text) {
  z_stream stream = {};
  check(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK, "[fuzz] no gzip");
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  std::string copy = text;
  stream.next_in = reinterpret_cast<Bytef*>(copy.data());
  stream.avail_in = static_cast<uInt>(copy.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int result = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  check(result == Z_STREAM_END, "[fuzz] gzip failed");
  return packed;
}

}  // namespace

Seeds seeds_of_safetensors() { return {safetensors_of(kGpt2), safetensors_of(kBert)}; }

Seeds seeds_of_index() {
  return {R"({"metadata":{"total_size":64},"weight_map":{"wte.weight":"a.safetensors","ln_f.bias":"a.safetensors"}})",
          R"({"weight_map":{"wpe.weight":"a.safetensors"}})"};
}

Seeds seeds_of_gguf() {
  Seeds seeds;
  const Tokenizers tokenizers{std::make_shared<SentencePieceTokenizer>(small_sentencepiece(true), "[fuzz] seed")};
  for (const int bits : {32, 8, 4}) {
    SmallModel small(kLlama);
    const QuantizedModel quantized = quantize(*small.model, {.bits = bits, .for_gguf = true});
    seeds.push_back(written("x.gguf", [&](const fs::path& folder) {
      write_gguf(folder / "x.gguf", *quantized.model, bits == 4 ? Tokenizers{} : tokenizers, {.name = "seed"});
    }));
  }
  return seeds;
}

Seeds seeds_of_config() { return {kLlama, kGpt2, kMarian, kBert, kRnn}; }

Seeds seeds_of_folder() {
  Seeds seeds;
  for (const char* config : {kLlama, kGpt2, kMarian, kBert, kRnn})
    seeds.push_back(std::string(config) + '\0' + safetensors_of(config));
  for (const int bits : {8, 4}) {
    const TemporaryFolder folder;
    const SmallModel small(kLlama);
    const QuantizeOptions options{.bits = bits};
    write_quantized_folder(folder / "m", *quantize(*small.model, options).model, options);
    seeds.push_back(read_text(folder / "m/config.json") + '\0' + read_text(folder / "m/model.safetensors"));
  }
  return seeds;
}

Seeds seeds_of_generation_config() {
  return {R"({"num_beams":4,"max_length":20,"eos_token_id":[1,2],"bad_words_ids":[[3],[4,5]],"do_sample":true,)"
          R"("temperature":0.7,"top_k":5,"top_p":0.9,"repetition_penalty":1.1,"no_repeat_ngram_size":3})",
          R"({"suppress_tokens":[1,2],"begin_suppress_tokens":[3],"forced_bos_token_id":4,"forced_eos_token_id":1,)"
          R"("min_length":2,"length_penalty":1.0,"min_p":0.1,"max_new_tokens":7})"};
}

Seeds seeds_of_tokenizer_json() {
  Seeds seeds;
  for (const TokenizerKind kind : {TokenizerKind::words, TokenizerKind::characters})
    seeds.push_back(written("tokenizer.json", [&](const fs::path& folder) {
      save_tokenizers(folder, "pegasus", train_tokenizers({.kind = kind, .vocab = 40}, few_lines()));
    }));
  // Byte-level BPE and WordPiece as others write them.
  seeds.emplace_back(
      R"({"version":"1.0","added_tokens":[{"id":0,"content":"<|end|>","special":true}],"normalizer":null,)"
      R"("pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true},)"
      R"("post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<|end|>","type_id":0}},)"
      R"({"Sequence":{"id":"A","type_id":0}}],"pair":[],"special_tokens":{}},"decoder":{"type":"ByteLevel"},)"
      R"("model":{"type":"BPE","vocab":{"<|end|>":0,"a":1,"b":2,"ab":3,"Ġ":4,"Ġa":5},"merges":["a b","Ġ a"]}})");
  seeds.emplace_back(
      R"({"added_tokens":[{"id":0,"content":"[UNK]","special":true},{"id":1,"content":"[CLS]","special":true},)"
      R"({"id":2,"content":"[SEP]","special":true}],"normalizer":{"type":"BertNormalizer","lowercase":true},)"
      R"("pre_tokenizer":{"type":"BertPreTokenizer"},"post_processor":{"type":"BertProcessing","sep":["[SEP]",2],)"
      R"("cls":["[CLS]",1]},"decoder":{"type":"WordPiece","prefix":"##"},"model":{"type":"WordPiece",)"
      R"("unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100,)"
      R"("vocab":{"[UNK]":0,"[CLS]":1,"[SEP]":2,"ab":3,"##c":4,"word":5}}})");
  seeds.emplace_back(
      R"({"added_tokens":[],"normalizer":{"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"▁"},)"
      R"({"type":"Replace","pattern":{"String":" "},"content":"▁"}]},"pre_tokenizer":null,"post_processor":null,)"
      R"("decoder":{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},)"
      R"({"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]},)"
      R"("model":{"type":"BPE","byte_fallback":true,"unk_token":"<unk>","vocab":{"<unk>":0,"▁":1,"a":2,"▁a":3},)"
      R"("merges":[["▁","a"]]}})");
  return seeds;
}

Seeds seeds_of_sentencepiece() { return {small_sentencepiece(true), small_sentencepiece(false)}; }

Seeds seeds_of_llama2c() {
  // width 4, feed-forward 4, one layer, two heads, one of keys, five tokens, three positions; then zeros: 128 numbers,
  // and sines and cosines in the one, an output layer of its own in the other.
  std::string bytes;
  for (const int32_t size : {4, 4, 1, 2, 1, 5, 3}) append(bytes, size);
  bytes.resize(bytes.size() + 4 * (128 + 6));
  std::string headed;
  append(headed, int32_t{0x616b3432});
  append(headed, int32_t{1});
  for (const int32_t size : {4, 4, 1, 2, 1, 5, 3}) append(headed, size);
  headed.resize(256 + 4 * (128 + 20));
  return {bytes, headed};
}

Seeds seeds_of_llama2c_tokens() {
  std::string bytes;
  append(bytes, int32_t{4});
  for (const std::string text : {"<unk>", "\n<s>\n", "\n</s>\n", "a", "b", " a", "ab"}) {
    append(bytes, 0.5f);
    append(bytes, static_cast<int32_t>(std::min<size_t>(text.size(), 4)));
    bytes += text.substr(0, 4);
  }
  return {bytes};
}

Seeds seeds_of_npy() {
  const auto file = [](const std::string& type, const std::string& shape, size_t bytes) {
    std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
    header.resize(118, ' ');
    std::string all("\x93NUMPY\x01\x00", 8);
    append(all, static_cast<uint16_t>(header.size()));
    return all + header + std::string(bytes, '\1');
  };
  return {file("<f4", "(3,)", 12), file("<f8", "(2,)", 16)};
}

Seeds seeds_of_recipe() {
  return {
      "description = \"x\"\nseed = 2\n[data]\ntrain = [\"a\", \"b\"]\n[model]\nmodel_type = \"marian\"\nd_model = 8\n"
      "limpid = { bias = false }\n[stop]\nsteps = 5\n[schedule]\nlearning_rate = 1e-3\n",
      "[model]\nmodel_type = 'gpt2'\n[data]\nunit = \"stream\"\n[batch]\nwindow = 4\n[stop]\nminutes = 0.5\n"};
}

Seeds seeds_of_interventions() {
  return {
      "[[intervention]]\nzero = \"blocks.0.attn.z[head 2]@-1\"\n",
      "[[intervention]]\nscale = \"blocks.*.ffn_out\"\nby = 2.0\n[[intervention]]\nsteer = \"blocks.1.resid_post@-1\"\n"
      "along = \"token:a\"\nby = 8\n[[intervention]]\npatch = \"embed@0\"\nfrom = \"other text\"\n"};
}

Seeds seeds_of_place() {
  return {"blocks.0.attn.z[head 2]@-1", "blocks.*.ffn.post[3,5..9]@2..4", "decoder.1.cross_attn.pattern[head 0, key 3]",
          "embed@a"};
}

Seeds seeds_of_sae() {
  const TemporaryFolder folder;
  LoadedSae sae = make_sae({.inputs = 4, .features = 6});
  sae.parameters->initialize(1);
  write_sae(folder / "sae", sae);
  return {read_text(folder / "sae/cfg.json") + '\0' + read_text(folder / "sae/sae_weights.safetensors")};
}

Seeds seeds_of_lines() {
  const std::string text = "a line\nanother one\r\n\n끝\nno end";
  return {text, gzipped(text), gzipped(text) + gzipped("second member\n"), "\xef\xbb\xbfmark\n"};
}

Seeds seeds_of_token_store() {
  const TemporaryFolder folder;
  TokenStoreWriter writer(folder / "x");
  writer.add(std::vector<int32_t>{1, 2, 3}, std::vector<int32_t>{4});
  writer.add(std::vector<int32_t>{5}, std::vector<int32_t>{6, 7});
  writer.commit();
  return {std::string(1, '\2') + read_text(folder / "x.index") + read_text(folder / "x.tokens")};
}

void write_seed_checkpoint(const fs::path& path) {
  SmallModel small(kGpt2);
  Optimizer optimizer(small.parameters, {});
  write_checkpoint(path.parent_path(), path.filename().string(),
                   {.config = &small.model->config(),
                    .parameters = &small.parameters,
                    .optimizer = &optimizer,
                    .progress = RunProgress{.step = 1}.json()});
}

Json read_seed_checkpoint(const fs::path& path) {
  static SmallModel small(kGpt2);
  static Optimizer optimizer(small.parameters, {});
  write_manifest(path);
  TrainingState state{.parameters = &small.parameters, .optimizer = &optimizer};
  read_checkpoint(path, state);
  return state.progress;
}

namespace {

std::string part_of_checkpoint(const char* name) {
  const TemporaryFolder folder;
  write_seed_checkpoint(folder / "step-1");
  return read_text(folder / "step-1" / name);
}

}  // namespace

Seeds seeds_of_checkpoint() { return {part_of_checkpoint("manifest.json")}; }
Seeds seeds_of_state() { return {part_of_checkpoint("state.json")}; }
Seeds seeds_of_moments() { return {part_of_checkpoint("optimizer.safetensors")}; }

Seeds seeds_of_record() {
  return {R"({"command":"limpid train x","version":"0.1","seed":1,"dataset":{"settings":{"unit":"lines"},)"
          R"("train":[{"name":"a","xxh64":"0123456789abcdef"}],"valid":[],"tokenizer":{"tokenizer.json":"01"}},)"
          R"("finished":{"steps":10,"why":"10 steps","step":8,"epoch":1,"loss":0.5,"bleu":20.5,"exact":0.5}})",
          R"({"command":"","dataset":"0123456789abcdef","files_xxh64":{"a":"0123456789abcdef"}})"};
}

Seeds seeds_of_log() {
  return {
      "{\"event\":\"step\",\"step\":10,\"loss\":3.5,\"learning_rate\":0.001,\"gradient_norm\":1,"
      "\"tokens_per_second\":100.5,\"seconds\":2.5}\n"
      "{\"event\":\"validation\",\"step\":10,\"loss\":3.25,\"bleu\":1.5}\n"
      "{\"event\":\"finished\",\"step\":10}\n{\"event\":\"st"};
}

Seeds seeds_of_tokenizer_files() {
  return {
      R"({"vocab.json":{"<|endoftext|>":0,"a":1,"b":2,"ab":3,"Ġ":4,"Ġa":6},"merges.txt":"#version: 0.2\na b\nĠ a\n",)"
      R"("special_tokens_map.json":{"eos_token":"<|endoftext|>"},"added_tokens.json":{"<x>":5},)"
      R"("tokenizer_config.json":{"add_bos_token":true,"model_max_length":16,"tokenizer_class":"GPT2Tokenizer"}})",
      R"({"vocab.txt":"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\nword\n","config.json":{"model_type":"bert"},)"
      R"("tokenizer_config.json":{"do_lower_case":true,"tokenizer_class":"BertTokenizer",)"
      R"("added_tokens_decoder":{"0":{"content":"[PAD]","special":true}}}})"};
}

Seeds seeds_of_fields() {
  return {R"({"model":"m","prompt":[1,2,3],"max_tokens":5,"temperature":0.5,"stop":["a","b"],"stream":false})",
          R"({"model":"m","prompt":"a","positions":[0,-1],"stop":"x","best_of":1,"user":"u"})"};
}

Seeds seeds_of_http() {
  return {"GET /v1/models/a%20b?x=1&y=%C3%A9 HTTP/1.1\r\nHost: localhost:8080\r\nOrigin: http://localhost\r\n\r\n",
          "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer key\r\nContent-Length: 15\r\n\r\n"
          "{\"prompt\": \"a\"}",
          "POST /translate HTTP/1.1\r\nHost: [::1]:8080\r\nContent-Type: application/x-www-form-urlencoded\r\n"
          "Transfer-Encoding: chunked\r\n\r\n5;a=b\r\nq=%41\r\n9\r\n&target=k\r\n0\r\nTrailer: x\r\n\r\n",
          "HEAD / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"};
}

Seeds seeds_of_chat_template() {
  return {
      "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'user' %}[INST] {{ message['content'] | "
      "trim }} "
      "[/INST]{% else %}{{ message.content ~ eos_token }}{% endif %}{% endfor %}",
      "{%- set ns = namespace(last=messages|length - 1) -%}\n{%- macro turn(m, first=false) -%}<|{{ m.role }}|>\n"
      "{%- if m.content is string -%}{{ m.content.strip().split(' ')[-1] | upper }}{%- else -%}"
      "{%- for part in m.content -%}{{ part.text | tojson }}{%- endfor -%}{%- endif -%}{%- endmacro -%}\n"
      "{%- for m in messages[1:] if m.role != 'system' -%}{{ turn(m, loop.first) }}{%- if loop.index0 >= ns.last -%}"
      "{{ raise_exception('too long') }}{%- endif -%}{%- endfor -%}{{ strftime_now('%Y') if tools else range(3) | list "
      "| join(', ') }}",
      "{% if messages[0]['role'] == 'system' and not (tools is defined and tools) %}{% set x = messages[0].content "
      "%}{% else %}"
      "{% set x = 'none' %}{% endif %}{# a comment #}{{ x[:5] ~ {'a': [1, 2.5, none]}.items() | list | length ~ -3 % 2 "
      "** 3 }}"
      "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"};
}

Seeds seeds_of_sentence_settings() {
  return {R"({"modules.json":[{"idx":0,"name":"0","path":"","type":"sentence_transformers.models.Transformer"},)"
          R"({"idx":1,"name":"1","path":"1_Pooling","type":"sentence_transformers.models.Pooling"},)"
          R"({"idx":2,"name":"2","path":"2_Normalize","type":"sentence_transformers.models.Normalize"}],)"
          R"("1_Pooling/config.json":{"word_embedding_dimension":8,"pooling_mode_mean_tokens":true},)"
          R"("sentence_bert_config.json":{"max_seq_length":16,"do_lower_case":false},)"
          R"("config_sentence_transformers.json":{"prompts":{"query":"query: "},"default_prompt_name":"query"}})"};
}

}  // namespace limpid::fuzz
