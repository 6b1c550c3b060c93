#pragma once
// Where a command puts a model.

#include <filesystem>
#include <string>

namespace limpid {

struct OutputPlace {
  std::string command;         // that asks
  std::filesystem::path from;  // the model that is read
  std::filesystem::path out;
  bool folder = false;  // a folder is written, not a file
  bool force = false;   // asked for: what is there may be replaced
};

// An Error where something is there that was not to be replaced; and where a folder is there that is no model's, or
// that of a run, which nothing replaces.
void check_output_place(const OutputPlace& place);

}  // namespace limpid
