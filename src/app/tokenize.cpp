// limpid tokenize: text in, tokens and their ids out; or ids in, text out.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/input_lines.h"
#include "base/error.h"
#include "base/json.h"
#include "inference/chat_format.h"
#include "inference/loaded_model.h"
#include "inference/results_json.h"

namespace limpid {
namespace {

struct TokenizeOptions {
  std::string model;
  std::vector<std::string> words;  // of the text; none: the standard input
  bool ids = false, decode = false, special = false, target = false, whole = false, json = false;
  bool chat = false;
};

std::vector<int32_t> ids_in(std::string_view line, int64_t size) {
  std::vector<int32_t> ids;
  constexpr std::string_view separators = " \t,[]";
  for (size_t at = 0; (at = line.find_first_not_of(separators, at)) != line.npos;) {
    const std::string_view word = line.substr(at, line.find_first_of(separators, at) - at);
    int32_t id = -1;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    check(error == std::errc() && end == word.data() + word.size() && id >= 0 && id < size,
          "[tokenize] \"{}\" is no id of a vocabulary of {}: give whole numbers from 0", word, size);
    ids.push_back(id);
    at += word.size();
  }
  return ids;
}

// A conversation as the model reads it. The input is JSON: the messages, or an object with "messages" and what else the
// template is to see ("tools", "add_generation_prompt", "enable_thinking", …); "template" stands in for the model's
// own.
void show_chat(const TokenizeOptions& options) {
  InputLines input({});
  std::string text;
  while (auto line = input.next()) text += *line + "\n";
  nlohmann::ordered_json request = parse_ordered_json(text, "[tokenize] the conversation");
  if (request.is_array()) request = {{"messages", request}};
  check(request.is_object() && request.contains("messages"),
        "[tokenize] the conversation has no \"messages\": give a list of objects with \"role\" and \"content\"");
  std::optional<ChatFormat> format = ChatFormat::open(options.model);
  if (request.contains("template") && request["template"].is_string())
    format.emplace(ChatTemplate::parse(request["template"].get<std::string>()), special_names_of(options.model));
  check(format.has_value(), "[tokenize] {} has no chat template: take a model that was made for talking",
        options.model);
  ChatOptions chat;
  if (const auto wish = request.find("add_generation_prompt"); wish != request.end())
    chat.add_generation_prompt = *wish != false;
  if (request.contains("tools")) chat.tools = request["tools"];
  for (const auto& [name, value] : request.items())
    if (name != "messages" && name != "template" && name != "tools" && name != "add_generation_prompt")
      chat.extra[name] = value;
  if (!options.ids) return fmt::print("{}\n", format->text(request["messages"], chat));
  const Tokenizers tokenizers = open_tokenizers(options.model);
  fmt::print("{}\n", fmt::join(format->ids(*tokenizers.source, request["messages"], chat), " "));
}

class LineTokenizer {
 public:
  explicit LineTokenizer(const TokenizeOptions& options)
      : options_(options), tokenizers_(open_tokenizers(options.model)) {}

  void run() {
    if (!options_.words.empty()) return show(fmt::format("{}", fmt::join(options_.words, " ")));
    InputLines input({});
    if (options_.whole) return show(input.rest());
    while (auto line = input.next()) show(*line);
  }

 private:
  const Tokenizer& tokenizer() const { return options_.target ? *tokenizers_.target : *tokenizers_.source; }

  std::vector<int32_t> ids_of(const std::string& line) const {
    if (options_.decode) return ids_in(line, tokenizer().size());
    std::vector<int32_t> ids = tokenizer().encode(line);
    if (options_.special) {
      ids.insert(ids.begin(), tokenizers_.before.begin(), tokenizers_.before.end());
      ids.insert(ids.end(), tokenizers_.after.begin(), tokenizers_.after.end());
    }
    return ids;
  }

  void show(const std::string& line) {
    const std::vector<int32_t> ids = ids_of(line);
    if (options_.json) {
      fmt::print("{}\n", one_line(tokens_json(tokenizer(), ids)));
    } else if (options_.decode) {
      fmt::print("{}\n", tokenizer().decode(ids));
    } else if (options_.ids) {
      fmt::print("{}\n", fmt::join(ids, " "));
    } else {
      if (!first_) fmt::print("\n");  // between texts
      for (const int32_t id : ids) fmt::print("{:>7}  {}\n", id, tokenizer().piece(id));
    }
    first_ = false;
  }

  TokenizeOptions options_;
  Tokenizers tokenizers_;
  bool first_ = true;
};

}  // namespace

int run_tokenize(int argc, char** argv) {
  CommandLine line("tokenize", "Shows the tokens of a text and their ids, or the text of ids.",
                   "echo 'Hello world' | limpid tokenize MODEL");
  TokenizeOptions options;
  line.add_option("MODEL", options.model,
                  "a model (folder, .gguf, .bin), or its vocabulary: tokenizer.json, tokenizer.model, vocab.txt, …")
      ->required();
  line.add_option("TEXT", options.words, "the text; without one, the lines of the standard input");
  line.add_flag("--ids", options.ids, "print ids alone, a line for each text");
  line.add_flag("--decode", options.decode, "the input is ids; print their text");
  line.add_flag("--special", options.special, "with the special tokens that the model wants around a text");
  line.add_flag("--target", options.target, "the tokenizer of what the model writes, where it has two");
  line.add_flag("--whole", options.whole, "the whole standard input is one text, its line ends are part of it");
  line.add_flag("--json", options.json, "print JSON, one object per line: ids, tokens and text");
  line.add_flag("--chat", options.chat,
                "the standard input is a conversation as JSON; print it as the model's chat template writes it");
  if (const auto code = line.read(argc, argv)) return *code;
  if (options.chat) {
    show_chat(options);
    return 0;
  }
  LineTokenizer(options).run();
  return 0;
}

}  // namespace limpid
