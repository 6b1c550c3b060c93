#pragma once
// Files that a command writes besides what it prints: checked before the work, announced after it.

#include <CLI/CLI.hpp>

#include <string>

namespace limpid {

// An option that names such a file; "-" is the standard output. An Error where nothing could be written there.
CLI::Option* add_output_option(CLI::App& line, const std::string& name, std::string& path, const std::string& what);

// Writes the text, or prints it where the path is "-", and says on stderr what was written.
void write_output(const std::string& path, const std::string& text);

}  // namespace limpid
