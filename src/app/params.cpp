// limpid params: how many parameters, and what for.

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "app/command.h"
#include "app/terminal.h"
#include "formats/model_folder.h"
#include "inference/loaded_model.h"
#include "models/model.h"
#include "models/parameter_table.h"

namespace limpid {

namespace {

// The table where its five columns do not fit.
std::string narrow_text(const ParameterTable& table) {
  std::string text;
  const nlohmann::ordered_json json = to_json(table);
  for (const auto& part : json["parts"])
    text += fmt::format("{:<14}{:>16}{:>8.1f} %\n", part["part"].get<std::string>(),
                        with_separators(part["parameters"].get<int64_t>()), 100 * part["share"].get<double>());
  return text + fmt::format("{:<14}{:>16}\n", "total", with_separators(table.total()));
}

}  // namespace

int run_params(int argc, char** argv) {
  CommandLine line("params",
                   "Counts the parameters of a model by part: embedding, attention, feed-forward, norms, output.",
                   "limpid params my-translator");
  std::string path;
  bool json = false;
  line.add_option("CONFIG", path, "a config.json, a folder that holds one, a GGUF file, or a .bin of llama2.c")
      ->required();
  line.add_flag("--json", json, "print JSON, one object per line");
  if (const auto code = line.read(argc, argv)) return *code;

  std::error_code none;
  const bool model_file = std::filesystem::is_regular_file(path, none) && !path.ends_with(".json");
  const auto config = [&] {
    return std::filesystem::is_directory(path, none) ? read_model_config(path) : load_config(path);
  };
  const std::shared_ptr<const Model> model =
      model_file ? load_model(path, {.need_tokenizers = false}).model : make_model(config());
  for (const std::string& note : model->config().notes) fmt::print(stderr, "limpid params: {}\n", note);
  const ParameterTable table = parameter_table(*model);
  if (json)
    fmt::print("{}\n", to_json(table).dump());
  else
    fmt::print("{}", terminal_width(STDOUT_FILENO) < 80 ? narrow_text(table) : to_text(table));
  return 0;
}

}  // namespace limpid
