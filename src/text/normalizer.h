#pragma once
// Normalizer: what is done to a text's characters before it is cut and looked up. Made from the object "normalizer" of
// a tokenizer.json.

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace limpid {

class Normalizer {
 public:
  Normalizer() = default;  // leaves the text as it is
  // A step that Limpid does not know is an Error that begins with `where`.
  Normalizer(const nlohmann::ordered_json& json, const std::string& where);

  bool empty() const { return steps_.empty(); }
  std::string apply(std::string_view text) const;  // of valid UTF-8
  const nlohmann::ordered_json& json() const { return json_; }

 private:
  void read(const nlohmann::ordered_json& step, const std::string& where);

  std::vector<std::function<std::string(std::string)>> steps_;
  nlohmann::ordered_json json_;
};

// Unicode's normal forms: "NFC", "NFD", "NFKC", "NFKD".
std::string normal_form(const std::string& text, std::string_view form);

// Every character of category Mn (marks that lie over or under the letter before them) taken out; with `spacing` also
// those of Mc and Me, which take room of their own or stand around it.
std::string without_marks(std::string_view text, bool spacing);

// BERT's: control characters go, white space becomes spaces, ideographs stand between spaces, and where asked for marks
// go and letters become small.
struct BertNormalizing {
  bool clean = true, ideographs = true, strip_accents = true, lowercase = true;
};
std::string bert_normalized(std::string_view text, const BertNormalizing& options);

}  // namespace limpid
