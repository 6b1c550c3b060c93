// limpid params: how many parameters, and what for.

#include <fmt/format.h>

#include <filesystem>

#include "app/command.h"
#include "formats/model_folder.h"
#include "models/model.h"
#include "models/parameter_table.h"

namespace limpid {

int run_params(int argc, char** argv) {
  CommandLine line("params",
                   "Counts the parameters of a model by part: embedding, attention, feed-forward, norms, output.",
                   "limpid params config.json");
  std::string path;
  bool json = false;
  line.add_option("CONFIG", path, "a config.json, or a folder that holds one")->required();
  line.add_flag("--json", json, "for machines");
  if (const auto code = line.read(argc, argv)) return *code;

  const Config config = std::filesystem::is_directory(path) ? read_model_config(path) : load_config(path);
  for (const std::string& note : config.notes) fmt::print(stderr, "limpid params: {}\n", note);
  const auto model = make_model(config);
  const ParameterTable table = parameter_table([&](const WeightVisitor& visitor) { model->visit_parameters(visitor); });
  if (json)
    fmt::print("{}\n", to_json(table).dump());
  else
    fmt::print("{}", to_text(table));
  return 0;
}

}  // namespace limpid
