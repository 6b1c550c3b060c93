#pragma once
// The terminal: how wide it is, whether lines can be redrawn and coloured, and text that fits it.

#include <cstdint>
#include <string>
#include <string_view>

namespace limpid {

// How the program was called, for hints that can be pasted: "./limpid", "limpid".
const std::string& program_name();
void set_program_name(std::string name);

// Columns of the terminal at this file descriptor; else $COLUMNS; else 100.
int64_t terminal_width(int file);
// Whether lines can be overwritten there: a terminal, and TERM is not "dumb".
bool redraws(int file);
// Whether colours are welcome there: as above, and NO_COLOR is not set (https://no-color.org).
bool colors(int file);

// Breaks at spaces; lines after the first begin with so many spaces.
std::string wrapped(std::string_view text, int64_t width, int64_t indent);

// Where text is awaited from a terminal, says so, once.
void tell_waiting(std::string_view what = "text, one line at a time");

}  // namespace limpid
