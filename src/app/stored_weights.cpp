#include "app/stored_weights.h"

#include "models/model.h"

namespace limpid {

uintmax_t weight_bytes(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return std::filesystem::file_size(path);
  uintmax_t bytes = 0;
  for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(path))
    if (entry.path().extension() == ".safetensors") bytes += entry.file_size();
  return bytes;
}

std::map<std::string, int64_t> stored_types(const Model& model) {
  std::map<std::string, int64_t> types;
  model.each_parameter([&](const Weight& weight) { types[std::string(name_of(weight.type))] += weight.size(); });
  return types;
}

}  // namespace limpid
