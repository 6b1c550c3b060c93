#pragma once
// The expressions of a template, from its tokens.

#include "text/jinja_lexer.h"
#include "text/jinja_parser.h"

namespace limpid::jinja {

class ExpressionParser {
 public:
  explicit ExpressionParser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

 protected:
  const Token& now() const { return tokens_[at_]; }
  const Token& ahead(size_t count) const { return tokens_[std::min(at_ + count, tokens_.size() - 1)]; }
  bool is_sign(std::string_view sign) const { return now().kind == Token::sign && now().value == sign; }
  bool is_name(std::string_view name) const { return now().kind == Token::name && now().value == name; }
  bool take_sign(std::string_view sign);
  bool take_name(std::string_view name);
  void expect_sign(std::string_view sign);
  std::string expect_name();
  void expect(Token::Kind kind, const char* what);
  Token take() { return tokens_[at_ < tokens_.size() - 1 ? at_++ : at_]; }
  [[noreturn]] void wrong(const std::string& what) const;
  NodePtr make(Node::Kind kind) const;

  NodePtr expression(bool with_choice = true);
  NodePtr expression_or_list(bool with_choice = true);  // "a, b" is a list
  NodePtr filters(NodePtr value);                       // | name(…) | name(…)
  NodePtr primary();
  void arguments(Node& call);  // after "("

  // Counts how deep one parse lies in another.
  class Depth {
   public:
    explicit Depth(ExpressionParser& parser);
    ~Depth() { --parser_.depth_; }

   private:
    ExpressionParser& parser_;
  };

 private:
  NodePtr logical_or();
  NodePtr logical_and();
  NodePtr logical_not();
  NodePtr comparison();
  NodePtr sum();
  NodePtr concatenation();
  NodePtr product();
  NodePtr power();
  NodePtr unary(bool with_filters = true);
  NodePtr postfix(NodePtr value);
  NodePtr subscript(NodePtr value);
  NodePtr list(const char* end);
  NodePtr dict();
  NodePtr filters_and_tests(NodePtr value);
  NodePtr filter(NodePtr value);
  NodePtr test(NodePtr value);
  NodePtr binary(std::string sign, NodePtr left, NodePtr right) const;

  std::vector<Token> tokens_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace limpid::jinja
