#pragma once
// Cuts a template of Jinja into text and tags, and tags into tokens, with the settings that Hugging Face uses: a line
// that holds nothing before a block tag loses its spaces (lstrip_blocks), and the line end after a block tag goes
// (trim_blocks).

#include <string>
#include <string_view>
#include <vector>

namespace limpid::jinja {

struct Token {
  enum Kind {
    data,         // text between tags
    block_begin,  // {%
    block_end,    // %}
    print_begin,  // {{
    print_end,    // }}
    name,
    text,  // in quotes
    integer,
    decimal,
    sign,  // an operator or bracket
    end
  };
  Kind kind = end;
  std::string value;
  int line = 1;
};

// An Error names the line.
std::vector<Token> lex(std::string_view source);

// "[chat template] line 7"
std::string place(int line);

}  // namespace limpid::jinja
