// limpid info: what a model or a file is, and whether it can be opened.

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "app/command.h"
#include "app/stored_weights.h"
#include "app/terminal.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "formats/gguf.h"
#include "inference/loaded_model.h"
#include "models/parameter_table.h"
#include "text/utf8.h"
#include "training/run_log.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string family_text(const Config& config) {
  const auto stack = [&](const StackConfig& one) { return fmt::format("{} layers, {} heads", one.layers, one.heads); };
  if (config.recurrent())
    return fmt::format("recurrent encoder-decoder: hidden size {}, {} layers", config.rnn.hidden, config.rnn.layers);
  if (config.has_source())
    return fmt::format("encoder-decoder ({}): width {}, encoder {}, decoder {}", config.model_type, config.width,
                       stack(config.encoder), stack(config.decoder));
  if (config.continues_text())
    return fmt::format("language model ({}): width {}, {}, context of {} tokens", config.model_type, config.width,
                       stack(config.decoder), config.max_positions);
  return fmt::format("encoder ({}): width {}, {}{}", config.model_type, config.width, stack(config.encoder),
                     config.labels.empty() ? "" : fmt::format(", {} labels", config.labels.size()));
}

// What a file is by its first bytes and its name, where no model can be made of it.
std::string kind_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string begin(4096, '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<size_t>(file.gcount()));
  if (begin.starts_with("GGUF")) return "a GGUF file";
  if (begin.starts_with("\x1f\x8b")) return "a gzip file";
  if (begin.starts_with("PK")) return "a zip archive (PyTorch's .pt and .bin are such: save it as safetensors first)";
  if (begin.starts_with("\x80\x02") || begin.starts_with("\x80\x04"))
    return "a Python pickle (it can run code when opened: save it as safetensors first)";
  if (begin.size() > 9 && begin[8] == '{') return "a safetensors file: name the folder it lies in, with config.json";
  if (path.extension() == ".json" && begin.find("\"vocab\"") != std::string::npos) return "a tokenizer";
  if (path.extension() == ".toml") return fmt::format("a recipe: {} train trains by it", program_name());
  size_t cut = begin.size();  // the last character may be cut in two
  while (cut > 0 && (static_cast<unsigned char>(begin[cut - 1]) & 0xC0) == 0x80) --cut;
  if (!invalid_utf8(std::string_view(begin).substr(0, cut > 0 ? cut - 1 : 0))) return "a text file";
  return "a file of unknown kind";
}

void add_training(Json& info, const fs::path& folder) {
  std::error_code none;
  if (fs::exists(folder / "training.json", none)) {
    const Json training = read_json(folder / "training.json");
    for (const auto& [name, key] : {std::pair{"trained_by", "command"}, {"version", "version"}})
      if (training.is_object() && training.contains(key) && training[key].is_string()) info[name] = training[key];
  }
  if (!fs::exists(folder / "log.jsonl", none)) return;
  const RunLog log = read_run_log(folder);
  info["steps"] = log.step;
  info["seconds"] = log.seconds;
  info["finished"] = log.finished;
  for (const auto& [name, curve] : log.curves)
    if (name.starts_with("valid/") && !curve.values.empty()) info["score"][name.substr(6)] = curve.values.back();
}

Json info_of(const fs::path& path) {
  std::error_code none;
  check(fs::exists(path, none), "[info] there is no {}", path);
  Json info = {{"path", path.string()}};
  try {
    const LoadedModel loaded = load_model(path, {.need_tokenizers = false});
    const Config& config = loaded.config();
    const ParameterTable table = parameter_table(*loaded.model);
    info["opens"] = true;
    info["is"] = fs::is_directory(path, none) ? "a model folder" : kind_of_file(path);
    info["model"] = family_text(config);
    info["parameters"] = table.total();
    info["numbers"] = stored_types(*loaded.model);
    info["vocabulary"] = config.vocab;
    info["tokenizer"] = loaded.tokenizers.source ? fmt::format("{} tokens", loaded.tokenizers.source->size())
                                                 : std::string("none: it takes ids");
    info["only_limpid"] = config.only_limpid;
    if (!config.notes.empty()) info["notes"] = config.notes;
    if (fs::is_directory(path, none)) add_training(info, path);
  } catch (const Error& error) {
    info["opens"] = false;
    info["is"] = fs::is_directory(path, none) ? "a folder" : kind_of_file(path);
    info["why"] = error.what();
  }
  return info;
}

void print_info(const Json& info) {
  const int64_t width = terminal_width(STDOUT_FILENO);
  const auto row = [&](const char* name, const std::string& text) {
    if (!text.empty()) fmt::print("{:12} {}\n", name, wrapped(text, width, 13));
  };
  row("what", info["is"]);
  if (!info["opens"].get<bool>()) return row("opens", "no: " + info["why"].get<std::string>());
  row("model", info["model"]);
  std::string numbers;
  for (const auto& [type, count] : info["numbers"].items())
    numbers += fmt::format("{}{} {}", numbers.empty() ? "" : ", ", with_separators(count.get<int64_t>()), type);
  row("parameters", fmt::format("{} ({})", with_separators(info["parameters"].get<int64_t>()), numbers));
  row("tokenizer", fmt::format("{}; the model has {}", info["tokenizer"].get<std::string>(),
                               with_separators(info["vocabulary"].get<int64_t>())));
  if (info["only_limpid"].get<bool>()) row("note", "only Limpid opens it");
  const Json notes = info.value("notes", Json::array());
  for (const auto& note : notes) row("note", note);
  row("trained by", info.value("trained_by", ""));
  if (info.contains("steps"))
    row("steps", fmt::format("{}{}", with_separators(static_cast<int64_t>(info["steps"].get<double>())),
                             info["finished"].get<bool>() ? "" : ", not finished"));
  std::string score;
  const Json scores = info.value("score", Json::object());
  for (const auto& [name, value] : scores.items())
    score += fmt::format("{}{} {:.4g}", score.empty() ? "" : ", ", name, value.get<double>());
  row("validation", score);
}

}  // namespace

int run_info(int argc, char** argv) {
  CommandLine line("info",
                   "Says what a model or a file is: family, size, tokenizer, how it was trained and its score; and "
                   "whether it can be opened, or why not.",
                   "limpid info my-translator");
  std::vector<std::string> paths;
  bool json = false;
  line.add_option("MODEL", paths, "model folders, GGUF files, .bin files of llama2.c, or any file")->required();
  line.add_flag("--json", json, "print JSON, one object per line");
  if (const auto code = line.read(argc, argv)) return *code;
  bool opens = true;
  for (size_t i = 0; i < paths.size(); ++i) {
    const Json info = info_of(paths[i]);
    opens = opens && info["opens"].get<bool>();
    if (json) {
      fmt::print("{}\n", info.dump());
      continue;
    }
    if (paths.size() > 1) fmt::print("{}{}\n", i > 0 ? "\n" : "", paths[i]);
    print_info(info);
  }
  return opens ? 0 : 1;
}

}  // namespace limpid
