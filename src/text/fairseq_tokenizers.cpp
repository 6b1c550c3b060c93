#include "text/fairseq_tokenizers.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/paths.h"
#include "text/sentencepiece_tokenizer.h"
#include "text/tokenizer_json.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Names = std::vector<std::string>;

// In the order of their ids; mBART has the first 25.
constexpr size_t kLanguagesOfMbart = 25;
constexpr std::array kLanguagesOfMbart50 = {
    "ar_AR", "cs_CZ", "de_DE", "en_XX", "es_XX", "et_EE", "fi_FI", "fr_XX", "gu_IN", "hi_IN", "it_IT",
    "ja_XX", "kk_KZ", "ko_KR", "lt_LT", "lv_LV", "my_MM", "ne_NP", "nl_XX", "ro_RO", "ru_RU", "si_LK",
    "tr_TR", "vi_VN", "zh_CN", "af_ZA", "az_AZ", "bn_IN", "fa_IR", "he_IL", "hr_HR", "id_ID", "ka_GE",
    "km_KH", "mk_MK", "ml_IN", "mn_MN", "mr_IN", "pl_PL", "ps_AF", "pt_XX", "sv_SE", "sw_KE", "ta_IN",
    "te_IN", "th_TH", "tl_XX", "uk_UA", "ur_PK", "xh_ZA", "gl_ES", "sl_SI"};
constexpr std::array kLanguagesOfM2m = {
    "af", "am", "ar", "ast", "az", "ba",  "be", "bg", "bn", "br", "bs", "ca", "ceb", "cs", "cy", "da", "de",
    "el", "en", "es", "et",  "fa", "ff",  "fi", "fr", "fy", "ga", "gd", "gl", "gu",  "ha", "he", "hi", "hr",
    "ht", "hu", "hy", "id",  "ig", "ilo", "is", "it", "ja", "jv", "ka", "kk", "km",  "kn", "ko", "lb", "lg",
    "ln", "lo", "lt", "lv",  "mg", "mk",  "ml", "mn", "mr", "ms", "my", "ne", "nl",  "no", "ns", "oc", "or",
    "pa", "pl", "ps", "pt",  "ro", "ru",  "sd", "si", "sk", "sl", "so", "sq", "sr",  "ss", "su", "sv", "sw",
    "ta", "th", "tl", "tn",  "tr", "uk",  "ur", "uz", "vi", "wo", "xh", "yi", "yo",  "zh", "zu"};
constexpr std::array kLanguagesOfWmt21 = {"en", "ha", "is", "ja", "cs", "ru", "zh", "de"};

// The ids that fairseq puts before the pieces, and the tokens behind them. The model's first pieces are <unk>, <s> and
// </s>; all pieces have their own id and `offset` more, unless the id is taken.
struct Layout {
  Names first = {"<s>", "<pad>", "</s>", "<unk>"};
  int64_t offset = 1;
  Names languages = {};
  bool language_behind = false;  // the first mBART's stands behind the end of a text
};

Names some(const auto& list, size_t count) { return Names(list.begin(), list.begin() + static_cast<ptrdiff_t>(count)); }

Names further_names(const json& config) {
  Names names;
  for (const json& one : config.value("additional_special_tokens", json::array()))
    names.push_back(one.is_object() ? one.value("content", "") : one.is_string() ? one.get<std::string>() : "");
  return names;
}

Layout layout_of(const fs::path& folder, const json& config, int64_t pieces) {
  const std::string name = special_name(config, "tokenizer_class");
  const fs::path path = folder / "config.json";
  const json model = path_exists(path) ? read_tokenizer_file(path) : json::object();
  const std::string type = special_name(model, "model_type");
  const auto is = [&](std::string_view class_begins, std::string_view model_type) {
    return name.empty() ? type == model_type : name.starts_with(class_begins);
  };
  if (is("XLMRoberta", "xlm-roberta")) return {};
  if (is("Camembert", "camembert"))
    return {.first = {"<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED"}, .offset = 4};
  if (is("Nllb", "m2m_100")) {
    Names languages = further_names(config);
    check(!languages.empty(),
          "[tokenizer] {}: nothing names the languages: add special_tokens_map.json, or the model's tokenizer.json",
          folder);
    return {.languages = std::move(languages)};
  }
  check(is("MBart", "mbart"),
        "[tokenizer] {}: sentencepiece.bpe.model belongs to a tokenizer of the class {}: Limpid reads XLMRoberta, "
        "Camembert, MBart, MBart50, M2M100 and Nllb; or add the model's tokenizer.json",
        folder, in_quotes(name.empty() ? type : name));
  // Where no class is named, the size of the vocabulary tells.
  const int64_t vocab = model.is_object() ? model.value("vocab_size", int64_t{0}) : 0;
  const bool fifty = name.empty() ? vocab > pieces + 40 : name.starts_with("MBart50");
  return {.languages = some(kLanguagesOfMbart50, fifty ? kLanguagesOfMbart50.size() : kLanguagesOfMbart),
          .language_behind = !fifty};
}

int32_t language_id(const Vocabulary& table, const json& config, const std::string& usual, const std::string& where) {
  std::string name = special_name(config, "src_lang");
  if (name.empty()) name = usual;
  int32_t id = table.find(name);
  if (id < 0) id = table.find("__" + name + "__");
  check(id >= 0, "{}: src_lang is {}, which is none of its languages", where, in_quotes(name));
  return id;
}

// What stands around a text, with the source's language where there are languages.
Tokenizers around(std::shared_ptr<const StorableTokenizer> tokenizer, int32_t language, bool behind) {
  const SpecialIds special = tokenizer->special();
  Tokenizers result{tokenizer, tokenizer, {}, {special.end}, true};
  if (behind)
    result.after.push_back(language);
  else
    result.before.push_back(language >= 0 ? language : special.begin);
  return result;
}

Tokenizers load_offset(const fs::path& folder, const json& config) {
  const fs::path path = folder / "sentencepiece.bpe.model";
  const std::string where = "[tokenizer] " + path.string(), model = read_text(path);
  const SentencePieceTokenizer own(model, where);
  const Layout layout = layout_of(folder, config, own.size());
  Names pieces = layout.first, special = layout.first;
  std::set<std::string, std::less<>> known(pieces.begin(), pieces.end());
  pieces.resize(static_cast<size_t>(own.size() + layout.offset));  // an empty one is an id that nobody uses
  for (int32_t id = 0; id < own.size(); ++id) {
    const std::string& piece = own.vocabulary().piece(id);
    std::string& place = pieces[static_cast<size_t>(id + layout.offset)];
    if (!place.empty() || !known.insert(piece).second) continue;
    place = piece;
    if (own.vocabulary().is_special(id)) special.push_back(piece);
  }
  const auto add = [&](const std::string& name) {
    if (name.empty() || !known.insert(name).second) return;
    pieces.push_back(name);
    special.push_back(name);
  };
  for (const std::string& name : layout.languages) add(name);
  add("<mask>");
  const auto table = std::make_shared<Vocabulary>(std::move(pieces), special, where);
  const auto tokenizer = std::make_shared<SentencePieceTokenizer>(model, where, table);
  if (layout.languages.empty()) return around(tokenizer, -1, false);
  const std::string english = table->find("eng_Latn") >= 0 ? "eng_Latn" : "en_XX";
  return around(tokenizer, language_id(*table, config, english, where), layout.language_behind);
}

// The pieces have their ids in a table; the languages follow it.
Tokenizers load_m2m(const fs::path& folder, const json& config) {
  const std::string where = "[tokenizer] " + (folder / "vocab.json").string();
  json members = read_tokenizer_file(folder / "vocab.json");
  const bool few = special_name(config, "language_codes") == "wmt21";
  const Names languages =
      few ? some(kLanguagesOfWmt21, kLanguagesOfWmt21.size()) : some(kLanguagesOfM2m, kLanguagesOfM2m.size());
  std::shared_ptr<const Vocabulary> table;
  try {
    Names special;
    for (const auto& [piece, id] : members.items())
      if (is_special_name(piece)) special.push_back(piece);
    const size_t pieces = members.size();
    for (size_t i = 0; i < languages.size(); ++i) {
      special.push_back("__" + languages[i] + "__");
      members.emplace(special.back(), pieces + i);
    }
    table = vocabulary_from_json(members, special, where);
  } catch (const json::exception& error) {
    fail("{}: is not a table of tokens and ids ({}): is it the right file?", where, json_reason(error));
  }
  check(table->special().unknown >= 0 && table->special().end >= 0,
        "{}: lacks \"<unk>\" or \"</s>\": is it the vocabulary of this model?", where);
  const fs::path path = folder / "sentencepiece.bpe.model";
  const auto tokenizer =
      std::make_shared<SentencePieceTokenizer>(read_text(path), "[tokenizer] " + path.string(), table);
  return around(tokenizer, language_id(*table, config, "en", where), false);
}

}  // namespace

Tokenizers load_fairseq(const fs::path& folder) {
  const json config = read_tokenizer_config(folder);
  return path_exists(folder / "vocab.json") ? load_m2m(folder, config) : load_offset(folder, config);
}

}  // namespace limpid
