#include "inference/languages.h"

#include <fmt/ranges.h>

#include <cctype>

#include "base/error.h"

namespace limpid {
namespace {

// "eng_Latn", "en_XX": letters, a line, letters.
bool has_script(std::string_view piece) {
  const size_t line = piece.find('_');
  if (line < 2 || line > 3 || piece.size() < line + 3 || piece.size() > line + 5) return false;
  for (const char c : piece)
    if (c != '_' && (static_cast<unsigned char>(c) >= 128 || !std::isalpha(static_cast<unsigned char>(c))))
      return false;
  return true;
}

bool is_language(std::string_view piece) {
  return has_script(piece) || (piece.starts_with("__") && piece.ends_with("__") && piece.size() > 4);
}

}  // namespace

int32_t language_token(const Tokenizer& tokenizer, const std::string& name) {
  std::vector<std::string> close;
  int32_t found = -1;
  for (int32_t id = 0; id < tokenizer.size(); ++id) {
    const std::string piece = tokenizer.piece(id);
    if (!is_language(piece)) continue;
    if (piece == name || piece == "__" + name + "__") return id;
    if (piece.starts_with(name + "_")) {
      close.push_back(piece);
      found = id;
    }
  }
  check(close.size() <= 1, "[translate] {} may be {}: name one of them", name, fmt::join(close, " or "));
  check(found >= 0,
        "[translate] the model has no token for the language {}: name it as its vocabulary does, such as "
        "eng_Latn, en_XX or en",
        name);
  return found;
}

void set_languages(LoadedModel& loaded, const std::string& source, const std::string& target) {
  if (source.empty() && target.empty()) return;
  check(loaded.config().has_source(), "[translate] only translators are told languages");
  if (!source.empty()) {
    const int32_t token = language_token(loaded.reader(), source);
    std::vector<int32_t>& after = loaded.tokenizers.after;
    // The first mBART reads the language behind the end of the text; those after it before the text.
    if (after.size() == 2 && is_language(loaded.reader().piece(after[1])))
      after[1] = token;
    else
      loaded.tokenizers.before = {token};
  }
  if (!target.empty()) loaded.generation.rules.forced_first = language_token(loaded.writer(), target);
}

}  // namespace limpid
