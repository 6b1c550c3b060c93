#include "text/tokenizer_json.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/paths.h"
#include "text/character_tokenizer.h"
#include "text/tokenizer_json_models.h"
#include "text/word_tokenizer.h"

namespace limpid {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

ordered_json added_tokens(const Vocabulary& vocabulary) {
  ordered_json tokens = ordered_json::array();
  for (int32_t id = 0; id < vocabulary.size(); ++id)
    if (vocabulary.is_special(id))
      tokens.push_back({{"id", id},
                        {"content", vocabulary.piece(id)},
                        {"single_word", false},
                        {"lstrip", false},
                        {"rstrip", false},
                        {"normalized", false},
                        {"special", true}});
  return tokens;
}

// What stands around one text and around two, with the special tokens of the given ids.
ordered_json template_json(const Vocabulary& vocabulary, const std::vector<int32_t>& before,
                           const std::vector<int32_t>& after) {
  const auto text = [](const char* name, int type) {
    return ordered_json{{"Sequence", {{"id", name}, {"type_id", type}}}};
  };
  const auto token = [&](int32_t id, int type) {
    return ordered_json{{"SpecialToken", {{"id", vocabulary.piece(id)}, {"type_id", type}}}};
  };
  ordered_json single = ordered_json::array(), special = ordered_json::object();
  for (const int32_t id : before) single.push_back(token(id, 0));
  single.push_back(text("A", 0));
  ordered_json pair = single;
  if (!before.empty())
    for (const int32_t id : after) pair.push_back(token(id, 0));
  pair.push_back(text("B", 1));
  for (const int32_t id : after) {
    single.push_back(token(id, 0));
    pair.push_back(token(id, 1));
  }
  for (const auto* side : {&before, &after})
    for (const int32_t id : *side) {
      const std::string& name = vocabulary.piece(id);
      special[name] = {{"id", name}, {"ids", {id}}, {"tokens", {name}}};
    }
  return {{"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", special}};
}

// What stands around a text: what the files say that the tokenizer came from, else the custom of the family.
ordered_json post_processor(const Vocabulary& vocabulary, const std::string& model_type, const Tokenizers& around) {
  if (around.stated || !around.before.empty() || !around.after.empty()) {
    if (around.before.empty() && around.after.empty()) return nullptr;
    return template_json(vocabulary, around.before, around.after);
  }
  const SpecialIds& special = vocabulary.special();
  if (model_type == "rnn_seq2seq") return nullptr;
  if ((model_type == "marian" || model_type == "pegasus") && special.end >= 0)
    return template_json(vocabulary, {}, {special.end});
  if (model_type == "bert" && special.begin >= 0 && special.end >= 0)
    return template_json(vocabulary, {special.begin}, {special.end});
  if (special.begin >= 0 && special.begin != special.end) return template_json(vocabulary, {special.begin}, {});
  return nullptr;
}

// The type of a part, "" where the part is missing or null.
std::string type_of(const json& file, const char* part) {
  const auto found = file.find(part);
  return found == file.end() || found->is_null() ? "" : found->at("type").get<std::string>();
}

bool lowercase_of(const json& file, const std::string& where) {
  const std::string type = type_of(file, "normalizer");
  check(type.empty() || type == "Lowercase",
        "{}: has the normalizer {}, which Limpid does not know beside this model: use a tokenizer without it", where,
        type);
  return type == "Lowercase";
}

template <class Kind>
std::shared_ptr<const StorableTokenizer> read_word_level(const json& file, const json&, const std::string& where) {
  std::vector<std::string> special;
  for (const json& token : file.value("added_tokens", json::array()))
    if (token.at("special").get<bool>()) special.push_back(token.at("content").get<std::string>());
  const json& model = file.at("model");
  const std::string unknown = special_name(model, "unk_token");
  if (!unknown.empty() && model.at("vocab").contains(unknown)) special.push_back(unknown);
  auto vocabulary = vocabulary_from_json(model.at("vocab"), special, where, {{"unk_token", unknown}});
  check(vocabulary->special().unknown >= 0, "{}: has no token for the unknown: add \"<unk>\" to it", where);
  return std::make_shared<Kind>(std::move(vocabulary), lowercase_of(file, where));
}

// How a kind is told by its model and pre-tokenizer ("": any), and what reads it.
struct Reader {
  std::string_view model, pre_tokenizer;
  std::shared_ptr<const StorableTokenizer> (*read)(const json& file, const json& config, const std::string& where);
};
constexpr std::array kReaders = {
    Reader{"WordLevel", "Split", read_word_level<CharacterTokenizer>},
    Reader{"WordLevel", "WhitespaceSplit", read_word_level<WordTokenizer>},
    Reader{"BPE", "", read_bpe_json},
    Reader{"WordPiece", "", read_word_piece_json},
    Reader{"Unigram", "", read_unigram_json},
};

// The type of the model, which old files do not name.
std::string model_type_of(const json& file) {
  const json& model = file.at("model");
  if (model.contains("type")) return model.at("type").get<std::string>();
  if (model.contains("merges")) return "BPE";
  return model.contains("unk_id") ? "Unigram" : "WordPiece";
}

// The ids that a post-processor puts before and after one text.
void read_template(const json& processor, const Vocabulary& vocabulary, Tokenizers& result, const std::string& where) {
  if (processor.is_null()) return;
  const auto type = processor.at("type").get<std::string>();
  const auto id_of = [&](const std::string& name) {
    const int32_t id = vocabulary.find(name);
    check(id >= 0, "{}: its template names the token \"{}\", which has no id: is the file whole?", where, name);
    return id;
  };
  if (type == "Sequence") {
    for (const json& one : processor.at("processors")) read_template(one, vocabulary, result, where);
  } else if (type == "TemplateProcessing") {
    bool after = false;
    for (const json& part : processor.at("single")) {
      if (part.contains("Sequence")) {
        after = true;
        continue;
      }
      (after ? result.after : result.before).push_back(id_of(part.at("SpecialToken").at("id").get<std::string>()));
    }
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    result.before.push_back(id_of(processor.at("cls").at(0).get<std::string>()));
    result.after.push_back(id_of(processor.at("sep").at(0).get<std::string>()));
  }
}

Tokenizers with_template(const std::shared_ptr<const StorableTokenizer>& tokenizer, const json& file,
                         const json& config, const std::string& where) {
  Tokenizers result{tokenizer, tokenizer};
  read_template(file.value("post_processor", json(nullptr)), tokenizer->vocabulary(), result, where);
  result.stated = true;
  // These classes make the template anew from tokenizer_config.json; a file that names no class, or only that of any
  // tokenizer.json, may say of the end alone; to all others the template is all there is.
  const std::string name = special_name(config, "tokenizer_class");
  const auto is = [&](std::string_view kind) { return name.starts_with(kind); };
  const bool plain = name.empty() || name == "PreTrainedTokenizerFast";
  const bool made_anew = is("Llama") || is("CodeLlama") || is("Gemma") || is("Cohere") || is("GPTNeoX");
  if (made_anew) state_begin(config, result);
  if (made_anew || plain) state_end(config, result);
  return result;
}

// What says how tokens become text again; what it does each kind of tokenizer knows.
void check_decoder(const json& decoder, const std::string& where) {
  if (decoder.is_null()) return;
  constexpr std::array<std::string_view, 8> kKnown = {"ByteLevel", "WordPiece", "Metaspace", "Sequence",
                                                      "Replace",   "Fuse",      "Strip",     "ByteFallback"};
  const auto type = decoder.at("type").get<std::string>();
  check(std::find(kKnown.begin(), kKnown.end(), type) != kKnown.end(),
        "{}: has the decoder {}, which Limpid does not know: use a tokenizer without it", where, type);
  for (const json& one : decoder.value("decoders", json::array())) check_decoder(one, where);
}

Tokenizers read_json_parts(const json& file, const json& config, const std::string& where) {
  const std::string model = model_type_of(file), pre_tokenizer = type_of(file, "pre_tokenizer");
  check_decoder(file.value("decoder", json(nullptr)), where);
  for (const Reader& reader : kReaders) {
    if (reader.model != model || (!reader.pre_tokenizer.empty() && reader.pre_tokenizer != pre_tokenizer)) continue;
    const auto tokenizer = reader.read(file, config, where);
    return with_template(tokenizer, file, config, where);
  }
  fail("{}: holds a tokenizer of the kind {} with the pre-tokenizer {}, which Limpid does not know: use another one",
       where, model, pre_tokenizer.empty() ? "none" : pre_tokenizer);
}

}  // namespace

ordered_json vocabulary_json(const Vocabulary& vocabulary) {
  ordered_json result = ordered_json::object();
  auto& members = result.get_ref<ordered_json::object_t&>();  // its own insertion looks through all that is there
  members.reserve(static_cast<size_t>(vocabulary.size()));
  for (int32_t id = 0; id < vocabulary.size(); ++id)
    if (const std::string& piece = vocabulary.piece(id); !piece.empty()) members.emplace_back(piece, id);
  return result;
}

std::shared_ptr<const Vocabulary> vocabulary_from_json(const json& members, std::span<const std::string> special,
                                                       const std::string& where, const json& config) {
  // Of the ids, which may leave some out: a few bytes must not ask for a table of millions.
  const int64_t largest = (1 << 16) + 4 * std::ssize(members);
  std::vector<std::string> pieces;
  for (const auto& [piece, value] : members.items()) {
    const int64_t id = value.get<int64_t>();
    check(id >= 0 && id <= largest, "{}: gives \"{}\" the id {}: ids lie between 0 and {}", where, piece, id, largest);
    if (id >= static_cast<int64_t>(pieces.size())) pieces.resize(static_cast<size_t>(id) + 1);
    std::string& place = pieces[static_cast<size_t>(id)];
    check(place.empty(), "{}: gives both \"{}\" and \"{}\" the id {}: give each token its own", where, place, piece,
          id);
    place = piece;
  }
  SpecialIds roles;
  for (const SpecialRole& role : special_roles()) {
    const std::string name = special_name(config, role.config_key.data());
    if (const auto found = members.find(name); !name.empty() && found != members.end())
      roles.*role.id = found->get<int32_t>();
  }
  return std::make_shared<Vocabulary>(std::move(pieces), special, where, roles);
}

json read_tokenizer_config(const std::filesystem::path& folder) {
  json config = json::object();
  for (const char* name : {"tokenizer_config.json", "special_tokens_map.json"}) {
    if (!path_exists(folder / name)) continue;
    const json file = read_tokenizer_file(folder / name);
    if (!file.is_object()) continue;
    for (const auto& [key, value] : file.items())
      if (!config.contains(key) || config.at(key).is_null()) config[key] = value;
  }
  return config;
}

void state_begin(const json& config, Tokenizers& tokenizers) {
  const auto wish = config.find("add_bos_token");
  if (wish == config.end() || !wish->is_boolean()) return;
  const int32_t begin = tokenizers.source->special().begin;
  tokenizers.stated = true;
  std::erase(tokenizers.before, begin);
  if (wish->get<bool>() && begin >= 0) tokenizers.before.insert(tokenizers.before.begin(), begin);
}

void state_end(const json& config, Tokenizers& tokenizers) {
  const auto stated = config.find("add_eos_token");
  if (stated == config.end() || !stated->is_boolean()) return;
  const int32_t end = tokenizers.source->special().end;
  tokenizers.stated = true;
  std::erase(tokenizers.after, end);
  if (stated->get<bool>() && end >= 0) tokenizers.after.push_back(end);
}

std::string special_name(const json& config, const char* key) {
  const auto found = config.find(key);
  if (found == config.end()) return "";
  const json& value = found->is_object() && found->contains("content") ? found->at("content") : *found;
  return value.is_string() ? value.get<std::string>() : "";
}

ordered_json lowercase_json(bool lowercase) {
  return lowercase ? ordered_json{{"type", "Lowercase"}} : ordered_json(nullptr);
}

ordered_json word_level_json(const Vocabulary& vocabulary) {
  return {{"type", "WordLevel"},
          {"vocab", vocabulary_json(vocabulary)},
          {"unk_token", vocabulary.piece(vocabulary.special().unknown)}};
}

ordered_json tokenizer_json(const StorableTokenizer& tokenizer, const std::string& model_type,
                            const Tokenizers& around) {
  ordered_json parts = tokenizer.json_parts();
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", added_tokens(tokenizer.vocabulary())},
          {"normalizer", std::move(parts["normalizer"])},
          {"pre_tokenizer", std::move(parts["pre_tokenizer"])},
          {"post_processor", post_processor(tokenizer.vocabulary(), model_type, around)},
          {"decoder", std::move(parts["decoder"])},
          {"model", std::move(parts["model"])}};
}

json read_tokenizer_file(const std::filesystem::path& path) {
  return parse_json(read_text(path), "[tokenizer] " + path.string());
}

Tokenizers read_tokenizer_json(const std::filesystem::path& path) { return read_beside_json(path, nullptr); }

Tokenizers read_beside_json(const std::filesystem::path& path,
                            const std::shared_ptr<const StorableTokenizer>& tokenizer) {
  const std::string where = "[tokenizer] " + path.string();
  const json file = read_tokenizer_file(path);
  try {
    bool more = !tokenizer;
    for (const json& token : file.value("added_tokens", json::array()))
      more = more || token.at("id").get<int64_t>() >= tokenizer->size();
    const json config = read_tokenizer_config(path.parent_path());
    if (!more) return with_template(tokenizer, file, config, where);
    return read_json_parts(file, config, where);
  } catch (const json::exception& error) {
    fail("{}: is not laid out as a tokenizer.json is ({}): is it the right file?", where, json_reason(error));
  }
}

}  // namespace limpid
