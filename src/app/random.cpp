// limpid random: a model of any config with random weights, to measure or to try things on.

#include <fmt/format.h>

#include "app/command.h"
#include "base/paths.h"
#include "formats/model_folder.h"

namespace limpid {

int run_random(int argc, char** argv) {
  CommandLine line("random",
                   "Writes a model folder of a given config with the random weights that training would start from.",
                   "limpid random bench/configs/llama-110m.json models/llama-110m");
  std::string config_path, out;
  uint64_t seed = 1;
  bool json = false;
  line.add_option("CONFIG", config_path, "a config.json, or a folder that holds one")->required();
  line.add_option("OUT,--out", out, "the folder to write; it must not hold a model yet")->required();
  line.add_option("--seed", seed, "of the random numbers")->capture_default_str();
  line.add_flag("--json", json, "print JSON, one object per line");
  if (const auto code = line.read(argc, argv)) return *code;

  const Config config = load_config(config_path);
  for (const std::string& note : config.notes) fmt::print(stderr, "limpid random: {}\n", note);
  const std::filesystem::path folder = out;
  for (const std::filesystem::path& path : paths_in(folder))
    check(path.filename() != "config.json" && path.extension() != ".safetensors",
          "[random] {} holds a model already: choose another folder or remove that one", out);
  const auto model = make_model(config);
  Parameters parameters([&](const WeightVisitor& visitor) { model->visit_parameters(visitor); });
  parameters.initialize(seed);
  make_folder(folder);
  write_model(folder, config, parameters);
  if (json) {
    fmt::print("{}\n", nlohmann::ordered_json{{"folder", out}, {"parameters", parameters.size()}}.dump());
    return 0;
  }
  fmt::print(stderr, "limpid random: {} parameters in {}\n", parameters.size(), out);
  return 0;
}

}  // namespace limpid
