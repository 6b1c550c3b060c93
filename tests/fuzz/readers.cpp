#include "fuzz/readers.h"

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/temporary_folder.h"
#include "formats/llama2c.h"
#include "formats/safetensors_folder.h"
#include "fuzz/seeds.h"
#include "inference/generation_config.h"
#include "inference/loaded_model.h"
#include "inference/sentence_settings.h"
#include "inspect/direction.h"
#include "inspect/intervention.h"
#include "inspect/sae.h"
#include "models/config.h"
#include "server/http.h"
#include "server/json_fields.h"
#include "server/transport.h"
#include "text/chat_template.h"
#include "text/line_reader.h"
#include "text/sentencepiece_tokenizer.h"
#include "text/token_store.h"
#include "text/tokenizer_json.h"
#include "text/tokenizer_training.h"
#include "training/checkpoint.h"
#include "training/dataset_record.h"
#include "training/recipe.h"
#include "training/run_log.h"
#include "training/run_progress.h"
#include "training/run_record.h"

namespace limpid::fuzz {
namespace {

namespace fs = std::filesystem;

// One folder for all inputs of the process: making one each time would be most of the work.
const TemporaryFolder& folder() {
  static const TemporaryFolder folder;
  return folder;
}

// The bytes as a file. Not written by AtomicFile, which waits for the disk.
fs::path as_file(const fs::path& name, std::string_view bytes) {
  fs::path path = folder() / name;
  fs::create_directories(path.parent_path());
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  check(file != nullptr, "[fuzz] {}: cannot be written", path.string());
  const bool whole = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  check(std::fclose(file) == 0 && whole, "[fuzz] {}: cannot be written", path.string());
  return path;
}

std::span<const std::byte> as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

constexpr std::string_view kText = "Abc é ﬁ Ａ 가나다  \t<s> 12345 word";

// What users do with a tokenizer once it is open.
void use(const Tokenizer& tokenizer) {
  const std::vector<int32_t> ids = tokenizer.encode(kText);
  tokenizer.decode(ids);
  for (const int32_t id : ids) tokenizer.piece(id);
}

void read_safetensors(std::string_view bytes) {
  const SafetensorsContents contents = parse_safetensors(as_bytes(bytes), "[fuzz]");
  std::vector<real> numbers;
  for (const SafetensorsEntry& entry : contents.entries) {
    if (!entry.type || is_blocked(*entry.type) || entry.count() > 1 << 16) continue;
    numbers.resize(static_cast<size_t>(entry.count()));
    read_reals(entry, numbers.data());
  }
}

void read_index(std::string_view bytes) {
  const fs::path index = as_file("shards/model.safetensors.index.json", bytes);
  const auto shard = index.parent_path() / "a.safetensors";
  if (!fs::exists(shard)) as_file("shards/a.safetensors", seeds_of_safetensors()[0]);
  const SafetensorsFolder opened(index.parent_path());
}

// A vocabulary that is refused does not keep the model from being read.
void read_model(const fs::path& path) {
  try {
    use(*open_tokenizers(path).source);
  } catch (const Error&) {
  }
  load_model(path, {.need_tokenizers = false});
}

void read_gguf(std::string_view bytes) { read_model(as_file("file.gguf", bytes)); }

// All that a config asks for is built, as limpid params does.
void read_config(std::string_view bytes) { make_model(load_config(as_file("config.json", bytes).string())); }

// The part before the first zero byte as one file, that behind it as another; the folder they lie in.
fs::path as_two_files(std::string_view bytes, const fs::path& first, const fs::path& second) {
  const size_t border = std::min(bytes.find('\0'), bytes.size());
  as_file(second, bytes.substr(std::min(border + 1, bytes.size())));
  return as_file(first, bytes.substr(0, border)).parent_path();
}

// Float and quantised weights: what the config says of them decides.
void read_folder(std::string_view bytes) {
  load_model(as_two_files(bytes, "model/config.json", "model/model.safetensors"), {.need_tokenizers = false});
}

void read_generation(std::string_view bytes) {
  read_generation_config(as_file("generation/generation_config.json", bytes).parent_path(), 100);
}

void read_fast_tokenizer(std::string_view bytes) {
  use(*read_tokenizer_json(as_file("fast/tokenizer.json", bytes)).source);
}

void read_sentencepiece(std::string_view bytes) {
  const SentencePieceTokenizer tokenizer(std::string(bytes), "[fuzz]");
  use(tokenizer);
}

void read_llama2c(std::string_view bytes) { read_model(as_file("model.bin", bytes)); }

void read_llama2c_vocabulary(std::string_view bytes) { use(*read_llama2c_tokens(as_file("tok.bin", bytes))); }

void read_npy(std::string_view bytes) { read_npy_vector(as_file("vector.npy", bytes)); }

void read_recipe(std::string_view bytes) { dump_recipe(parse_recipe(std::string(bytes), "fuzz")); }

void read_interventions(std::string_view bytes) { parse_interventions(std::string(bytes), "fuzz"); }

void read_place(std::string_view bytes) {
  const Place place = parse_place(bytes);
  chosen_positions(place, 16, std::vector<std::string>(16, "a"));
}

// The config, a zero byte, the weights.
void read_sae_folder(std::string_view bytes) {
  read_sae(as_two_files(bytes, "sae/cfg.json", "sae/sae_weights.safetensors"));
}

void read_lines(std::string_view bytes) {
  LineReader reader(as_file("lines.gz", bytes));
  for (int64_t lines = 0; lines < 100000 && reader.next(); ++lines) {
  }
}

// The index (a whole number of entries), then ids: its first byte says how many entries there are.
void read_tokens(std::string_view bytes) {
  const size_t entries = bytes.empty() ? 0 : static_cast<unsigned char>(bytes[0]);
  const size_t border = std::min(bytes.size(), 1 + entries * sizeof(ExampleEntry));
  const fs::path index = as_file(
      "store.index", bytes.substr(std::min<size_t>(1, bytes.size()), border - std::min<size_t>(1, bytes.size())));
  as_file("store.tokens", bytes.substr(border));
  const TokenStore store(fs::path(index).replace_extension());
  for (int64_t i = 0; i < store.size(); ++i) store.example(i);
  store.check_ids(1000, 1000);
}

// A checkpoint that is whole but for one file.
fs::path checkpoint_with(const std::string& name, std::string_view bytes) {
  write_seed_checkpoint(folder() / ("with-" + name));
  return as_file("with-" + name + "/" + name, bytes).parent_path();
}

void read_manifest(std::string_view bytes) {
  static const fs::path checkpoint = checkpoint_with("manifest.json", "");
  as_file(checkpoint / "manifest.json", bytes);
  verify_checkpoint(checkpoint);
}

// Its checksum is right: what it says is wrong.
void read_state(std::string_view bytes) {
  static const fs::path checkpoint = checkpoint_with("state.json", "");
  as_file(checkpoint / "state.json", bytes);
  RunProgress::from(read_seed_checkpoint(checkpoint));
}

void read_moments(std::string_view bytes) {
  static const fs::path checkpoint = checkpoint_with("optimizer.safetensors", "");
  as_file(checkpoint / "optimizer.safetensors", bytes);
  read_seed_checkpoint(checkpoint);
}

void read_record(std::string_view bytes) {
  const fs::path run = as_file("run/training.json", bytes).parent_path();
  read_finished(run);
  trained_dataset(run);
}

void read_log(std::string_view bytes) { read_run_log(as_file("log/log.jsonl", bytes).parent_path()); }

// An object with the files of a tokenizer: their names, and what they hold as text or as JSON.
void read_tokenizer_files(std::string_view bytes) {
  const nlohmann::json files = parse_json(bytes, "[fuzz]");
  check(files.is_object(), "[fuzz] no object");
  for (const char* name : {"config.json", "vocab.json", "merges.txt", "vocab.txt", "tokenizer_config.json",
                           "special_tokens_map.json", "added_tokens.json"}) {
    const fs::path path = folder() / "tokenizer" / name;
    if (!files.contains(name))
      fs::remove(path);
    else if (files[name].is_string())
      as_file(path, files[name].get<std::string>());
    else
      as_file(path, files[name].dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  use(*load_tokenizers(folder() / "tokenizer").source);
}

// The fields of a request, each asked for as the routes do.
void read_fields(std::string_view bytes) {
  JsonFields fields(parse_body(std::string(bytes)));
  fields.number("temperature", 0, 2);
  fields.whole("max_tokens", 16, 1, 4096);
  fields.flag("stream");
  fields.texts("stop");
  fields.wholes("positions");
  if (fields.has("prompt") && fields.any("prompt")->is_array()) fields.ids("prompt", 100);
  fields.text("model");
  fields.unless("best_of", 1);
  fields.ignore({"user"});
  fields.finish();
}

// What a connection reads, and the form that its body may be.
void read_http(std::string_view bytes) {
  const auto request = parse_request(bytes, {.header_bytes = 4096, .body_bytes = 4096});
  check(request.has_value(), "[fuzz] no request");
  parse_form(request->body);
  request->header("host");
}

// A conversation with a system's words, two turns and a tool, by the template.
void read_chat_template(std::string_view bytes) {
  static const nlohmann::ordered_json messages = nlohmann::ordered_json::parse(
      R"([{"role":"system","content":"Be brief."},{"role":"user","content":"Hello"},)"
      R"({"role":"assistant","content":"Hi","tool_calls":[{"function":{"name":"f","arguments":{"x":1}}}]},)"
      R"({"role":"user","content":[{"type":"text","text":"끝"}]}])");
  const ChatTemplate parsed = ChatTemplate::parse(std::string(bytes));
  parsed.render(messages, {.special = {{"bos_token", "<s>"}, {"eos_token", "</s>"}}, .now = std::time_t{0}});
}

// An object with the files of a sentence-transformers folder that are JSON.
void read_settings_of_vectors(std::string_view bytes) {
  const nlohmann::json files = parse_json(bytes, "[fuzz]");
  check(files.is_object(), "[fuzz] no object");
  for (const char* name : {"modules.json", "sentence_bert_config.json", "config_sentence_transformers.json",
                           "1_Pooling/config.json", "2_Dense/config.json"})
    as_file(
        std::string("vectors/") + name,
        files.contains(name) ? files.at(name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) : "{}");
  read_sentence_settings(folder() / "vectors");
}

constexpr Reader kReaders[] = {
    {"safetensors", Shape::safetensors, read_safetensors, seeds_of_safetensors},
    {"safetensors_index", Shape::json, read_index, seeds_of_index},
    {"gguf", Shape::gguf, read_gguf, seeds_of_gguf},
    {"config", Shape::json, read_config, seeds_of_config},
    {"folder", Shape::folder, read_folder, seeds_of_folder},
    {"generation_config", Shape::json, read_generation, seeds_of_generation_config},
    {"tokenizer_json", Shape::json, read_fast_tokenizer, seeds_of_tokenizer_json},
    {"sentencepiece", Shape::protobuf, read_sentencepiece, seeds_of_sentencepiece},
    {"llama2c", Shape::bytes, read_llama2c, seeds_of_llama2c},
    {"llama2c_tokens", Shape::bytes, read_llama2c_vocabulary, seeds_of_llama2c_tokens},
    {"npy", Shape::bytes, read_npy, seeds_of_npy},
    {"recipe", Shape::bytes, read_recipe, seeds_of_recipe},
    {"interventions", Shape::bytes, read_interventions, seeds_of_interventions},
    {"place", Shape::bytes, read_place, seeds_of_place},
    {"sae", Shape::folder, read_sae_folder, seeds_of_sae},
    {"lines", Shape::bytes, read_lines, seeds_of_lines},
    {"token_store", Shape::bytes, read_tokens, seeds_of_token_store},
    {"checkpoint", Shape::json, read_manifest, seeds_of_checkpoint},
    {"checkpoint_state", Shape::json, read_state, seeds_of_state},
    {"checkpoint_moments", Shape::safetensors, read_moments, seeds_of_moments},
    {"run_record", Shape::json, read_record, seeds_of_record},
    {"run_log", Shape::bytes, read_log, seeds_of_log},
    {"tokenizer_files", Shape::json, read_tokenizer_files, seeds_of_tokenizer_files},
    {"http", Shape::bytes, read_http, seeds_of_http},
    {"request_fields", Shape::json, read_fields, seeds_of_fields},
    {"chat_template", Shape::bytes, read_chat_template, seeds_of_chat_template},
    {"sentence_settings", Shape::json, read_settings_of_vectors, seeds_of_sentence_settings},
};

}  // namespace

std::span<const Reader> readers() { return kReaders; }

const Reader* find_reader(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kReaders), std::end(kReaders), [&](const Reader& r) { return r.name == name; });
  return found == std::end(kReaders) ? nullptr : found;
}

bool try_reader(const Reader& reader, std::string_view bytes) {
  try {
    reader.read(bytes);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace limpid::fuzz
