#pragma once
// PreTokenizer: cuts a text into parts before the model of a tokenizer looks at it; no token crosses a cut. Made from
// the object "pre_tokenizer" of a tokenizer.json; each step of it cuts the parts that the step before has left.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "text/regex.h"

namespace limpid {

class PreTokenizer {
 public:
  PreTokenizer() = default;  // one part
  // A step that Limpid does not know is an Error that begins with `where`.
  PreTokenizer(const nlohmann::ordered_json& json, const std::string& where);

  // Views into the text, which must be valid UTF-8.
  std::vector<std::string_view> split(std::string_view text) const;

  bool byte_level() const { return byte_level_; }      // the model's characters stand for bytes
  bool prefix_space() const { return prefix_space_; }  // a text that begins without a space gets one
  // "▁" for a space, where a step "Metaspace" writes it: "always", "first" or "never" before the text too.
  const std::string& space_mark() const { return space_mark_; }
  const std::string& space_prefix() const { return space_prefix_; }
  const nlohmann::ordered_json& json() const { return json_; }

 private:
  // What becomes of the stretches that match.
  enum class Behavior { isolated, removed, merged_with_previous, merged_with_next, contiguous };
  struct Rule {
    Regex regex;
    Behavior behavior = Behavior::isolated;
    bool invert = false;  // the stretches that do not match are meant
  };
  void read(const nlohmann::ordered_json& step, const std::string& where);
  void read_split(const nlohmann::ordered_json& step, const std::string& where);
  void read_metaspace(const nlohmann::ordered_json& step, const std::string& where);
  static Behavior behavior_named(const std::string& name, const std::string& where);
  static void apply(const Rule& rule, std::string_view part, std::vector<std::string_view>& parts);

  std::vector<Rule> rules_;
  bool byte_level_ = false, prefix_space_ = false;
  std::string space_mark_, space_prefix_;
  nlohmann::ordered_json json_;
};

// Pre-tokenizers by the names that GGUF files have for them ("tokenizer.ggml.pre"), as a tokenizer.json would say them.
// An unknown name is an Error that lists the known ones.
nlohmann::ordered_json named_pre_tokenizer(const std::string& name, const std::string& where);
// What goes with such a name unless the file says otherwise: parts that are tokens are taken whole, and a text begins
// with its token.
struct NamedHabits {
  bool whole_words = false, begins = false;
};
NamedHabits named_habits(const std::string& name, const std::string& where);

// What GPT-2's own pre-tokenizer matches: words with the space before them, numbers, signs, white space.
extern const char* const kGpt2Pattern;

}  // namespace limpid
