#pragma once
// The tree of a template. Precedence and forms are those of Jinja 3; what has no place in chat templates (inheritance,
// includes, imports) is an Error that names it.

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/jinja_value.h"

namespace limpid::jinja {

struct Node;
using NodePtr = std::unique_ptr<Node>;

struct Node {
  enum class Kind {
    // expressions
    constant,   // value
    variable,   // name
    list,       // children
    dict,       // children: key, value, key, value, …
    attribute,  // children[0].name
    item,       // children[0][children[1]]
    slice,      // children[0][children[1]:children[2]:children[3]], each null where left out
    call,       // children[0](children[1…], named)
    filter,     // children[0] | name(children[1…], named)
    test,       // children[0] is name(children[1…])
    negative,
    positive,
    logical_not,
    logical_and,
    logical_or,
    binary,   // children[0] name children[1]
    compare,  // children[0] names[0] children[1] names[1] children[2] …
    choice,   // children: condition, then, otherwise (null: undefined)
    // statements
    block,         // children one after another
    text,          // value
    print,         // children[0]
    if_block,      // children: condition, body, condition, body, …, body of else
    for_loop,      // names: targets; children: iterable, condition or null, body, body of else or null
    set,           // names: targets, or name: a namespace and names[0] its member; children[0]: the value
    set_block,     // names[0]; children[0]: body; children[1…]: filters around it, their first child null
    macro,         // name; names: parameters; named: their defaults; children[0]: body
    call_block,    // names: parameters; children: call, body
    filter_block,  // children: filter with a first child of null, body
    with,          // named: variables; children[0]: body
    break_loop,
    continue_loop,
  };
  Kind kind;
  int line = 0;
  std::string name = {};
  std::vector<std::string> names = {};
  Value value = {};
  std::vector<NodePtr> children = {};
  std::vector<std::pair<std::string, NodePtr>> named = {};
};

// An Error names the line. Nesting is bounded.
NodePtr parse(std::string_view source);

}  // namespace limpid::jinja
