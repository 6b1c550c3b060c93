#include "text/tokenizer_json_models.h"

#include <unordered_map>

#include "base/base64.h"
#include "base/error.h"
#include "text/bpe_tokenizer.h"
#include "text/sentencepiece_model.h"
#include "text/sentencepiece_tokenizer.h"
#include "text/tokenizer_json.h"
#include "text/word_piece_tokenizer.h"

namespace limpid {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

ordered_json part_of(const json& file, const char* name) {
  const auto found = file.find(name);
  return found == file.end() ? ordered_json(nullptr) : ordered_json(*found);
}

struct Table {
  std::shared_ptr<const Vocabulary> vocabulary;
  std::vector<int32_t> added;  // tokens that are no special ones and are looked for in every text
  std::unordered_map<int32_t, AddedTokens::Rules> rules;  // of both kinds, where they have some
};

// The model's own tokens and those that were added to them.
Table table_of(json members, const json& file, const json& config, const std::string& where) {
  std::vector<std::string> special;
  Table table;
  for (const json& token : file.value("added_tokens", json::array())) {
    const auto content = token.at("content").get<std::string>();
    const auto id = token.at("id").get<int32_t>();
    const auto added = members.emplace(content, id);
    check(
        added.second || *added.first == id, "{}: gives the token \"{}\" the ids {} and {}: damaged?", where, content,
        [&] { return added.first->dump(); }, id);
    const bool is_special = token.value("special", false);
    const AddedTokens::Rules rules = {token.value("lstrip", false), token.value("rstrip", false),
                                      token.value("single_word", false), token.value("normalized", !is_special)};
    if (rules.lstrip || rules.rstrip || rules.single_word || rules.normalized) table.rules[id] = rules;
    if (is_special)
      special.push_back(content);
    else
      table.added.push_back(id);
  }
  const auto unknown = file.at("model").find("unk_token");
  if (unknown != file.at("model").end() && unknown->is_string() && members.contains(*unknown))
    special.push_back(unknown->get<std::string>());
  table.vocabulary = vocabulary_from_json(members, special, where, config);
  return table;
}

// Where tokenizer_config.json says something of a step of this type, it counts more than the step's own keys.
void overrule(ordered_json& step, std::string_view type, const json& config,
              std::initializer_list<std::pair<const char*, const char*>> keys) {
  if (!step.is_object() || step.value("type", "") != type) return;
  for (const auto& [stated, own] : keys)
    if (config.contains(stated) && config.at(stated).is_boolean()) step[own] = config.at(stated).get<bool>();
}

void refuse(const json& model, const char* key, const std::string& where) {
  const auto found = model.find(key);
  const bool set =
      found != model.end() && !found->is_null() && !(found->is_string() && found->get<std::string>().empty());
  check(!set, "{}: its model has {} = {}, which Limpid does not know: use another tokenizer", where, key,
        [&] { return set ? found->dump() : ""; });
}

// What a step writes one space for, or the mark of one: " " or the pattern of more; "": it does something else.
std::string replaced_by_space(const json& step) {
  const json& pattern = step.at("pattern");
  const auto text = pattern.value("Regex", pattern.value("String", std::string()));
  const auto content = step.at("content").get<std::string>();
  const bool spaces = text == " " || text == " {2,}" || text == "[ ]{2,}" || text == " +" || text == "\\s+";
  return spaces && (content == " " || content == "\u2581") ? text : "";
}

// What SentencePiece itself does to a text, said in the steps of a tokenizer.json.
struct SentencePieceSteps {
  std::string character_map;
  bool fold_spaces = false, dummy_prefix = false;
  json before = json::array();  // steps that a normaliser of ours takes before

  void read(const json& step, const std::string& where) {
    if (step.is_null()) return;
    const auto type = step.at("type").get<std::string>();
    if (type == "Sequence") {
      for (const char* list : {"normalizers", "pretokenizers"})
        for (const json& one : step.value(list, json::array())) read(one, where);
    } else if (type == "Precompiled") {
      if (step.at("precompiled_charsmap").is_string())
        character_map = bytes_of_base64(step.at("precompiled_charsmap").get<std::string>());
    } else if (type == "Metaspace") {
      dummy_prefix = dummy_prefix ||
                     step.value("prepend_scheme", step.value("add_prefix_space", true) ? "always" : "never") != "never";
    } else if (type == "Prepend") {
      dummy_prefix = true;
    } else if (type == "Strip" || type == "WhitespaceSplit") {
      fold_spaces = true;
    } else if (const std::string pattern = type == "Replace" ? replaced_by_space(step) : ""; !pattern.empty()) {
      if (pattern != " ") fold_spaces = true;
    } else if (type != "NFC" || character_map.empty()) {  // a compiled map composes too
      before.push_back(step);
    }
  }
};

}  // namespace

std::shared_ptr<const StorableTokenizer> read_bpe_json(const json& file, const json& config, const std::string& where) {
  const json& model = file.at("model");
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix", "dropout"}) refuse(model, key, where);
  Table table = table_of(model.at("vocab"), file, config, where);
  BpeParts parts;
  parts.vocabulary = std::move(table.vocabulary);
  for (const int32_t id : table.added) parts.added.push_back({id, table.rules[id]});
  for (const json& merge : model.at("merges")) {
    if (merge.is_array()) {
      parts.merges.emplace_back(merge.at(0).get<std::string>(), merge.at(1).get<std::string>());
      continue;
    }
    const auto& text = merge.get_ref<const std::string&>();
    const size_t space = text.find(' ', 1);
    check(space != text.npos, "{}: the merge \"{}\" is not two tokens: damaged?", where, text);
    parts.merges.emplace_back(text.substr(0, space), text.substr(space + 1));
  }
  parts.normalizer = Normalizer(part_of(file, "normalizer"), where);
  ordered_json pre_tokenizer = part_of(file, "pre_tokenizer");
  overrule(pre_tokenizer, "ByteLevel", config, {{"add_prefix_space", "add_prefix_space"}});
  parts.pre_tokenizer = PreTokenizer(pre_tokenizer, where);
  parts.decoder = part_of(file, "decoder");
  parts.byte_fallback = model.value("byte_fallback", false);
  parts.fuse_unknown = model.value("fuse_unk", false);
  parts.whole_words = model.value("ignore_merges", false);
  auto tokenizer = std::make_shared<BpeTokenizer>(std::move(parts), where);
  tokenizer->set_special_rules(std::move(table.rules));
  return tokenizer;
}

std::shared_ptr<const StorableTokenizer> read_word_piece_json(const json& file, const json& config,
                                                              const std::string& where) {
  const json& model = file.at("model");
  WordPieceParts parts;
  Table table = table_of(model.at("vocab"), file, config, where);
  parts.vocabulary = std::move(table.vocabulary);
  ordered_json normalizer = part_of(file, "normalizer");
  if (const std::string name = special_name(config, "tokenizer_class"); name != "PreTrainedTokenizerFast")
    overrule(normalizer, "BertNormalizer", config,
             {{"do_lower_case", "lowercase"},
              {"strip_accents", "strip_accents"},
              {"tokenize_chinese_chars", "handle_chinese_chars"}});
  parts.normalizer = Normalizer(normalizer, where);
  parts.pre_tokenizer = PreTokenizer(part_of(file, "pre_tokenizer"), where);
  parts.prefix = model.value("continuing_subword_prefix", "##");
  parts.longest_word = model.value("max_input_chars_per_word", int64_t{100});
  const ordered_json decoder = part_of(file, "decoder");
  parts.cleanup = decoder.is_object() && decoder.value("cleanup", true);
  auto tokenizer = std::make_shared<WordPieceTokenizer>(std::move(parts), where);
  tokenizer->set_special_rules(std::move(table.rules));
  return tokenizer;
}

std::shared_ptr<const StorableTokenizer> read_unigram_json(const json& file, const json& config,
                                                           const std::string& where) {
  const json& model = file.at("model");
  SentencePieceSteps steps;
  for (const char* part : {"normalizer", "pre_tokenizer"}) steps.read(file.value(part, json(nullptr)), where);
  SentencePieceModel made{.bpe = false, .dummy_prefix = steps.dummy_prefix, .fold_spaces = steps.fold_spaces};
  made.character_map = steps.character_map;
  json members = json::object();
  for (const json& entry : model.at("vocab")) {
    members[entry.at(0).get<std::string>()] = made.pieces.size();
    made.pieces.push_back({entry.at(0).get<std::string>(), entry.at(1).get<float>()});
  }
  for (const json& token : file.value("added_tokens", json::array()))
    if (const auto id = token.at("id").get<size_t>(); id < made.pieces.size())
      made.pieces[id].type =
          token.value("special", false) ? SentencePiecePiece::control : SentencePiecePiece::user_defined;
  if (model.value("byte_fallback", false))
    for (SentencePiecePiece& piece : made.pieces)
      if (byte_of_token(piece.text)) piece.type = SentencePiecePiece::byte;
  const auto unknown = model.value("unk_id", size_t{0});
  check(unknown < made.pieces.size(), "{}: its unk_id is {} of {} tokens: damaged?", where, unknown,
        made.pieces.size());
  made.pieces[unknown].type = SentencePiecePiece::unknown;
  Table table = table_of(members, file, config, where);
  auto tokenizer = std::make_shared<SentencePieceTokenizer>(
      sentencepiece_bytes(made), where, table.vocabulary,
      Normalizer(steps.before.empty() ? json(nullptr) : json{{"type", "Sequence"}, {"normalizers", steps.before}},
                 where));
  AddedTokens added;  // those that are no pieces
  for (const int32_t id : table.added)
    if (id >= std::ssize(made.pieces)) added.add(table.vocabulary->piece(id), id, table.rules[id]);
  tokenizer->look_for(std::move(added));
  tokenizer->set_special_rules(std::move(table.rules));
  return tokenizer;
}

}  // namespace limpid
