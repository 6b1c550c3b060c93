#pragma once
// What commands say of a model's weights as they are stored.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace limpid {

class Model;

// The bytes of a model file, or of the .safetensors files in a folder.
uintmax_t weight_bytes(const std::filesystem::path& path);

// How many numbers are stored in each type: {"Q8_0": 84934656, "F32": 19200}.
std::map<std::string, int64_t> stored_types(const Model& model);

}  // namespace limpid
