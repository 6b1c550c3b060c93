#include "inference/generation_config.h"

#include "base/error.h"
#include "base/json.h"
#include "base/paths.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Reader {
 public:
  Reader(const json& file, int64_t vocab, std::string where) : file_(file), vocab_(vocab), where_(std::move(where)) {}

  std::optional<int64_t> integer(const char* key) const {
    return read<int64_t>(key, &json::is_number_integer, "a whole number");
  }
  std::optional<double> real(const char* key) const { return read<double>(key, &json::is_number, "a number"); }
  std::optional<bool> flag(const char* key) const { return read<bool>(key, &json::is_boolean, "true or false"); }
  std::optional<int32_t> token(const char* key) const {
    const json* value = find(key);
    return value ? std::optional(id(key, *value)) : std::nullopt;
  }
  // A token or a list of tokens.
  std::vector<int32_t> tokens(const char* key) const {
    const json* value = find(key);
    if (!value) return {};
    return value->is_array() ? list(key, *value) : std::vector{id(key, *value)};
  }
  std::vector<std::vector<int32_t>> lists(const char* key) const {
    std::vector<std::vector<int32_t>> result;
    const json* value = find(key);
    if (!value) return result;
    if (!value->is_array()) wrong(key, *value, "a list of lists of token ids");
    for (const json& one : *value) {
      if (!one.is_array() || one.empty()) wrong(key, one, "a list of token ids");
      result.push_back(list(key, one));
    }
    return result;
  }

 private:
  const json* find(const char* key) const {
    const auto found = file_.find(key);
    return found == file_.end() || found->is_null() ? nullptr : &*found;
  }
  template <class T>
  std::optional<T> read(const char* key, bool (json::*is_right)() const noexcept, const char* allowed) const {
    const json* value = find(key);
    if (!value) return std::nullopt;
    if (!(value->*is_right)()) wrong(key, *value, allowed);
    return value->get<T>();
  }
  std::vector<int32_t> list(const char* key, const json& value) const {
    std::vector<int32_t> ids;
    for (const json& one : value) ids.push_back(id(key, one));
    return ids;
  }
  int32_t id(const char* key, const json& value) const {
    const bool fits = value.is_number_integer() && value.get<int64_t>() >= 0 && value.get<int64_t>() < vocab_;
    if (!fits) wrong(key, value, fmt::format("a token id below {}", vocab_));
    return value.get<int32_t>();
  }
  [[noreturn]] void wrong(const char* key, const json& value, const std::string& allowed) const {
    fail("{}: {} is {}: allowed is {}", where_, key, in_quotes(value.dump()), allowed);
  }

  const json& file_;
  int64_t vocab_;
  std::string where_;
};

}  // namespace

GenerationConfig read_generation_config(const fs::path& folder, int64_t vocab) {
  fs::path path = folder / "generation_config.json";
  if (!path_exists(path)) path = folder / "config.json";
  if (!path_exists(path)) return {};
  const json file = read_json(path);
  check(file.is_object(), "[generation] {}: is not an object: is it the right file?", path);
  const Reader reader(file, vocab, "[generation] " + path.string());
  GenerationConfig config;
  TokenRules& rules = config.rules;
  rules.bad_words = reader.lists("bad_words_ids");
  rules.suppressed = reader.tokens("suppress_tokens");
  rules.suppressed_first = reader.tokens("begin_suppress_tokens");
  rules.forced_first = reader.token("forced_bos_token_id");
  rules.forced_last = reader.token("forced_eos_token_id");
  rules.ends = reader.tokens("eos_token_id");
  config.beams = reader.integer("num_beams");
  config.max_tokens = reader.integer("max_new_tokens");
  config.max_length = reader.integer("max_length");
  if (const auto length = reader.integer("min_length")) rules.least_tokens = *length - 1;
  if (const auto tokens = reader.integer("min_new_tokens")) rules.least_tokens = *tokens;
  rules.no_repeat_ngram = reader.integer("no_repeat_ngram_size").value_or(0);
  config.repetition_penalty = reader.real("repetition_penalty");
  config.min_p = reader.real("min_p");
  config.length_penalty = reader.real("length_penalty");
  config.temperature = reader.real("temperature");
  config.top_p = reader.real("top_p");
  config.top_k = reader.integer("top_k");
  config.do_sample = reader.flag("do_sample");
  return config;
}

}  // namespace limpid
