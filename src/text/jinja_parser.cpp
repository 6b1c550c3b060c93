#include "text/jinja_parser.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>

#include "base/error.h"
#include "base/json.h"
#include "text/jinja_expression_parser.h"

namespace limpid::jinja {
namespace {

using Kind = Node::Kind;

class Parser : ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

  NodePtr whole() {
    NodePtr node = body({});
    if (now().kind != Token::end) wrong(fmt::format("{} closes nothing", in_quotes(ahead(1).value)));
    return node;
  }

 private:
  using Ends = std::initializer_list<std::string_view>;

  // Everything up to a block tag with one of these names, whose "{%" and name are taken too.
  NodePtr body(Ends ends) {
    const Depth depth(*this);
    NodePtr node = make(Kind::block);
    while (now().kind != Token::end) {
      if (now().kind == Token::data) {
        NodePtr text = make(Kind::text);
        text->value = take().value;
        node->children.push_back(std::move(text));
      } else if (now().kind == Token::print_begin) {
        NodePtr print = make(Kind::print);
        take();
        print->children.push_back(expression_or_list());
        expect(Token::print_end, "\"}}\"");
        node->children.push_back(std::move(print));
      } else {
        const Token& name = ahead(1);
        if (std::find(ends.begin(), ends.end(), name.value) != ends.end()) {
          take();
          closed_by_ = take().value;
          return node;
        }
        if (name.value.starts_with("end") || name.value == "else" || name.value == "elif") {
          if (ends.size() == 0) return node;  // says what is wrong
          wrong(fmt::format("{} stands where {} should", in_quotes(name.value), fmt::join(ends, " or ")));
        }
        take();
        NodePtr made = statement();
        if (made) node->children.push_back(std::move(made));
      }
    }
    if (ends.size() > 0) wrong(fmt::format("the template ends before {}", fmt::join(ends, " or ")));
    return node;
  }
  void end_tag() { expect(Token::block_end, "\"%}\""); }

  NodePtr statement() {
    const std::string name = expect_name();
    if (name == "if") return if_block();
    if (name == "for") return for_loop();
    if (name == "set") return set();
    if (name == "macro") return macro();
    if (name == "call") return call_block();
    if (name == "filter") return filter_block();
    if (name == "with") return with();
    if (name == "generation") {  // marks what the model itself says, for training
      end_tag();
      NodePtr inside = body({"endgeneration"});
      end_tag();
      return inside;
    }
    if (name == "break" || name == "continue") {
      NodePtr node = make(name == "break" ? Kind::break_loop : Kind::continue_loop);
      end_tag();
      return node;
    }
    wrong(fmt::format("Limpid does not know the statement {}", in_quotes(name)));
  }

  NodePtr if_block() {
    NodePtr node = make(Kind::if_block);
    node->children.push_back(expression_or_list());
    end_tag();
    while (true) {
      node->children.push_back(body({"elif", "else", "endif"}));
      if (closed_by_ == "elif") {
        node->children.push_back(expression_or_list());
        end_tag();
        continue;
      }
      end_tag();
      if (closed_by_ == "endif") return node;
      node->children.push_back(body({"endif"}));
      end_tag();
      return node;
    }
  }

  std::vector<std::string> targets() {
    const bool bracket = take_sign("(");
    std::vector<std::string> names = {expect_name()};
    while (take_sign(",")) names.push_back(expect_name());
    if (bracket) expect_sign(")");
    return names;
  }

  NodePtr for_loop() {
    NodePtr node = make(Kind::for_loop);
    node->names = targets();
    if (!take_name("in")) wrong("a loop lacks its \"in\"");
    node->children.push_back(expression_or_list(false));
    node->children.push_back(take_name("if") ? expression() : nullptr);
    if (is_name("recursive")) wrong("Limpid does not know recursive loops");
    end_tag();
    node->children.push_back(body({"else", "endfor"}));
    end_tag();
    if (closed_by_ == "else") {
      node->children.push_back(body({"endfor"}));
      end_tag();
    } else {
      node->children.push_back(nullptr);
    }
    return node;
  }

  NodePtr set() {
    NodePtr node = make(Kind::set);
    if (ahead(1).kind == Token::sign && ahead(1).value == ".") {
      node->name = expect_name();
      take();
      node->names = {expect_name()};
    } else {
      node->names = targets();
    }
    if (take_sign("=")) {
      node->children.push_back(expression_or_list());
      end_tag();
      return node;
    }
    if (node->names.size() != 1 || !node->name.empty()) wrong("\"=\" is missing");
    node->kind = Kind::set_block;
    NodePtr around = filters(nullptr);
    end_tag();
    node->children.push_back(body({"endset"}));
    node->children.push_back(std::move(around));
    end_tag();
    return node;
  }

  void parameters(Node& node) {
    expect_sign("(");
    while (!take_sign(")")) {
      if (!node.names.empty()) expect_sign(",");
      if (take_sign(")")) return;
      node.names.push_back(expect_name());
      if (take_sign("=")) node.named.emplace_back(node.names.back(), expression());
    }
  }

  NodePtr macro() {
    NodePtr node = make(Kind::macro);
    node->name = expect_name();
    parameters(*node);
    end_tag();
    node->children.push_back(body({"endmacro"}));
    if (now().kind == Token::name) take();
    end_tag();
    return node;
  }

  NodePtr call_block() {
    NodePtr node = make(Kind::call_block);
    if (is_sign("(")) parameters(*node);
    node->children.push_back(expression());
    if (node->children[0]->kind != Kind::call) wrong("\"call\" wants a call of a macro");
    end_tag();
    node->children.push_back(body({"endcall"}));
    end_tag();
    return node;
  }

  NodePtr filter_block() {
    NodePtr node = make(Kind::filter_block);
    NodePtr outer = make(Kind::filter);
    outer->name = expect_name();
    outer->children.emplace_back();
    if (take_sign("(")) arguments(*outer);
    outer = filters(std::move(outer));
    end_tag();
    node->children.push_back(std::move(outer));
    node->children.push_back(body({"endfilter"}));
    end_tag();
    return node;
  }

  NodePtr with() {
    NodePtr node = make(Kind::with);
    while (now().kind == Token::name) {
      std::string name = take().value;
      expect_sign("=");
      node->named.emplace_back(std::move(name), expression());
      if (!take_sign(",")) break;
    }
    end_tag();
    node->children.push_back(body({"endwith"}));
    end_tag();
    return node;
  }

  std::string closed_by_;  // the name that ended the last body
};

}  // namespace

NodePtr parse(std::string_view source) { return Parser(lex(source)).whole(); }

}  // namespace limpid::jinja
