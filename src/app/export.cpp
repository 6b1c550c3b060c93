// limpid export: the same model in another format.

#include <fmt/format.h>

#include <filesystem>

#include "app/command.h"
#include "app/stored_weights.h"
#include "app/terminal.h"
#include "base/error.h"
#include "base/file.h"
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

void check_place(const fs::path& from, const fs::path& out, const std::string& format) {
  std::error_code none;
  check(!fs::equivalent(from, out, none), "[export] {} is the model itself: name another place", out);
  check(format == "folder" || !fs::is_directory(out, none), "[export] {} is a folder: name the file to write", out);
  const bool empty = !fs::exists(out, none) || (fs::is_directory(out, none) && fs::is_empty(out, none));
  check(format != "folder" || empty, "[export] {} holds something already: name a new or empty folder", out);
}

void write_folder(const fs::path& from, const fs::path& out, LoadedModel& loaded, DType type) {
  const PlainModel plain = plain_model(*loaded.model);
  make_folder(out);
  write_model(out, plain.model->config(), *plain.parameters, type);
  if (fs::is_directory(from))
    copy_companions(from, out);
  else if (loaded.tokenizers.source)
    save_tokenizers(out, loaded.config().model_type, loaded.tokenizers);
}

std::string write_llama2c_files(const fs::path& out, LoadedModel& loaded) {
  const PlainModel plain = plain_model(*loaded.model);
  write_llama2c(out, *plain.model);
  if (!loaded.tokenizers.source) return "It has no tokenizer; llama2.c needs one (-z).";
  const fs::path tokens = out.parent_path() / fmt::format("tok{}.bin", loaded.config().vocab);
  try {
    write_llama2c_tokens(tokens, loaded.reader());
  } catch (const Error& error) {
    return fmt::format("Its tokens could not be written: {}", error.what());
  }
  return fmt::format("Its tokens are in {} (llama2.c: -z).", tokens.string());
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
  bool json = false;
  line.add_flag("--json", json, "print JSON, one object per line");
  if (const auto code = line.read(argc, argv)) return *code;

  format = format_of(out, format);
  check_place(model, out, format);
  LoadedModel loaded = load_model(model, {.need_tokenizers = false});
  std::string note;
  if (format == "gguf") {
    PlainModel plain = plain_model(*loaded.model);
    QuantizedModel rows = quantize(*plain.model, {.bits = bits, .output_bits = bits, .for_gguf = true});
    write_gguf(out, *rows.model, loaded.tokenizers,
               {.name = fs::path(model).stem().string(),
                .pooling = loaded.config().writes() ? 0 : gguf_pooling(loaded.sentence.embedding.pooling)});
  } else if (format == "llama2.c") {
    note = write_llama2c_files(out, loaded);
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
