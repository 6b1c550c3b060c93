#include "inference/generation_config.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "formats/json.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Reader {
 public:
  Reader(const json& file, int64_t vocab, std::string where) : file_(file), vocab_(vocab), where_(std::move(where)) {}

  std::optional<int64_t> whole(const char* key) const {
    const json* value = find(key);
    if (!value) return std::nullopt;
    if (!value->is_number_integer()) wrong(key, *value, "a whole number");
    return value->get<int64_t>();
  }
  std::optional<double> decimal(const char* key) const {
    const json* value = find(key);
    if (!value) return std::nullopt;
    if (!value->is_number()) wrong(key, *value, "a number");
    return value->get<double>();
  }
  std::optional<bool> flag(const char* key) const {
    const json* value = find(key);
    if (!value) return std::nullopt;
    if (!value->is_boolean()) wrong(key, *value, "true or false");
    return value->get<bool>();
  }
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

constexpr real kNever = -std::numeric_limits<real>::infinity();

void force(int32_t token, std::span<real> scores) {
  const real kept = scores[static_cast<size_t>(token)];
  std::fill(scores.begin(), scores.end(), kNever);
  scores[static_cast<size_t>(token)] = std::max(kept, std::numeric_limits<real>::lowest());
}

// Whether the next token would complete the word.
bool completes(const std::vector<int32_t>& word, std::span<const int32_t> written) {
  const size_t before = word.size() - 1;
  return before <= written.size() &&
         std::equal(word.begin(), word.end() - 1, written.end() - static_cast<ptrdiff_t>(before));
}

}  // namespace

GenerationConfig read_generation_config(const fs::path& folder, int64_t vocab) {
  fs::path path = folder / "generation_config.json";
  if (!fs::exists(path)) path = folder / "config.json";
  if (!fs::exists(path)) return {};
  const json file = read_json(path);
  check(file.is_object(), "[generation] {}: is not an object: is it the right file?", path.string());
  const Reader reader(file, vocab, "[generation] " + path.string());
  GenerationConfig config;
  config.bad_words = reader.lists("bad_words_ids");
  config.suppressed = reader.tokens("suppress_tokens");
  config.suppressed_first = reader.tokens("begin_suppress_tokens");
  config.forced_first = reader.token("forced_bos_token_id");
  config.forced_last = reader.token("forced_eos_token_id");
  config.ends = reader.tokens("eos_token_id");
  config.beams = reader.whole("num_beams");
  config.max_tokens = reader.whole("max_new_tokens");
  if (!config.max_tokens)
    if (const auto length = reader.whole("max_length")) config.max_tokens = std::max<int64_t>(*length - 1, 1);
  config.length_penalty = reader.decimal("length_penalty");
  config.temperature = reader.decimal("temperature");
  config.top_p = reader.decimal("top_p");
  config.top_k = reader.whole("top_k");
  config.draws = reader.flag("do_sample");
  return config;
}

void apply_token_rules(const GenerationConfig& config, std::span<const int32_t> written, bool last,
                       std::span<real> scores) {
  const auto forbid = [&](int32_t token) { scores[static_cast<size_t>(token)] = kNever; };
  for (const auto& word : config.bad_words)
    if (completes(word, written)) forbid(word.back());
  for (const int32_t token : config.suppressed) forbid(token);
  if (written.empty())
    for (const int32_t token : config.suppressed_first) forbid(token);
  if (written.empty() && config.forced_first) return force(*config.forced_first, scores);
  if (last && config.forced_last) force(*config.forced_last, scores);
}

}  // namespace limpid
