// limpid export: the same model in another format.

#include <fmt/format.h>

#include <filesystem>

#include "app/command.h"
#include "app/output_place.h"
#include "app/stored_weights.h"
#include "app/terminal.h"
#include "base/error.h"
#include "base/file.h"
#include "base/folder_aside.h"
#include "base/paths.h"
#include "formats/gguf_export.h"
#include "formats/llama2c_writer.h"
#include "formats/model_folder.h"
#include "formats/plain_model.h"
#include "formats/quantize.h"
#include "formats/quantized_folder.h"
#include "inference/gguf_pooling.h"
#include "inference/loaded_model.h"
#include "text/tokenizer_training.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

std::string format_of(const fs::path& out, const std::string& asked) {
  if (asked != "auto") return asked;
  if (out.extension() == ".gguf") return "gguf";
  return out.extension() == ".bin" ? "llama2.c" : "folder";
}

void write_folder(const fs::path& from, const fs::path& out, LoadedModel& loaded, DType type) {
  const PlainModel plain = plain_model(*loaded.model);
  FolderAside aside(out);
  write_model(aside.path(), plain.model->config(), *plain.parameters, type);
  if (fs::is_directory(from))
    copy_companions(from, aside.path());
  else if (loaded.tokenizers.source)
    save_tokenizers(aside.path(), loaded.config().model_type, loaded.tokenizers);
  aside.put_in_place();
}

// The tokens have their name by their number alone: those of another model may be there.
std::string write_llama2c_vocabulary(const fs::path& tokens, const Tokenizer& tokenizer, bool force) {
  const fs::path aside = tokens.string() + ".part";
  try {
    write_llama2c_tokens(aside, tokenizer);
  } catch (const Error& error) {
    return fmt::format("Its tokens could not be written: {}", error.what());
  }
  if (!force && path_exists(tokens) && read_text(tokens) != read_text(aside)) {
    remove_path(aside);
    fail("[export] {} has other tokens: write into another folder, or replace it by --force", tokens.string());
  }
  move_path(aside, tokens);
  return fmt::format("Its tokens are in {} (llama2.c: -z).", tokens.string());
}

std::string write_llama2c_files(const fs::path& out, LoadedModel& loaded, bool force) {
  const PlainModel plain = plain_model(*loaded.model);
  std::string note = "It has no tokenizer; llama2.c needs one (-z).";
  if (loaded.tokenizers.source)
    note = write_llama2c_vocabulary(out.parent_path() / fmt::format("tok{}.bin", loaded.config().vocab),
                                    *loaded.tokenizers.source, force);
  write_llama2c(out, *plain.model);
  return note;
}

}  // namespace

int run_export(int argc, char** argv) {
  CommandLine line("export",
                   "Writes a model in another format: a Hugging Face folder, a GGUF file, or a file of llama2.c. What "
                   "it reads can be any of the three. limpid quantize makes smaller ones.",
                   "limpid export my-writer my-writer.gguf\n         limpid export model.gguf my-folder");
  std::string model, out, format = "auto";
  int bits = 32;
  line.add_option("MODEL", model, "a folder or file that holds a model")->required();
  line.add_option("OUT,--out", out, "what to write: NAME.gguf, NAME.bin (llama2.c), else a folder")->required();
  line.add_option("--format", format, "what to write, whatever its name is")
      ->check(CLI::IsMember({"auto", "folder", "gguf", "llama2.c"}))
      ->capture_default_str();
  line.add_option("--bits", bits, "of a number; 16: half the size (folder: bf16, GGUF: F16)")
      ->check(CLI::IsMember({16, 32}))
      ->capture_default_str();
  bool force = false, json = false;
  line.add_flag("--force", force, "replace the model that OUT is");
  line.add_flag("--json", json, "print JSON, one object per line");
  if (const auto code = line.read(argc, argv)) return *code;

  format = format_of(out, format);
  check_output_place({"export", model, out, format == "folder", force});
  LoadedModel loaded = load_model(model, {.need_tokenizers = false});
  std::string note;
  if (format == "gguf") {
    PlainModel plain = plain_model(*loaded.model);
    QuantizedModel rows = quantize(*plain.model, {.bits = bits, .output_bits = bits, .for_gguf = true});
    write_gguf(out, *rows.model, loaded.tokenizers,
               {.name = fs::path(model).stem().string(),
                .pooling = loaded.config().writes() ? 0 : gguf_pooling(loaded.sentence.embedding)});
  } else if (format == "llama2.c") {
    note = write_llama2c_files(out, loaded, force);
  } else {
    write_folder(model, out, loaded, bits == 16 ? DType::bf16 : DType::f32);
  }
  const uintmax_t bytes = weight_bytes(out);
  if (json) {
    nlohmann::ordered_json result{{"out", out}, {"format", format}, {"bytes", bytes}};
    if (!note.empty()) result["note"] = note;
    fmt::print("{}\n", result.dump());
    return 0;
  }
  fmt::print("Wrote {} ({}, {}).{}{}\nTry: {} info {}\n", out, format, bytes_text(bytes), note.empty() ? "" : " ", note,
             program_name(), out);
  return 0;
}

}  // namespace limpid
