#pragma once
// Help as a page for people: what the command does, examples, its arguments and options in plain words, at the width of
// the terminal.

#include <memory>

namespace CLI {
class FormatterBase;
}

namespace limpid {

std::shared_ptr<CLI::FormatterBase> help_formatter();

}  // namespace limpid
