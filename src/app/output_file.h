#pragma once
// Files that a command writes besides what it prints: checked before the work, announced after it.

#include <string>

namespace limpid {

// An Error where nothing could be written there. "" and "-" (the standard output) are fine; nothing is changed.
void check_writable(const std::string& path);

// Writes the text, or prints it where the path is "-", and says on stderr what was written.
void write_output(const std::string& path, const std::string& text);

}  // namespace limpid
