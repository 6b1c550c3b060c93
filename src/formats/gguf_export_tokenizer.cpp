#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/error.h"
#include "formats/gguf_export.h"
#include "formats/gguf_tokenizer.h"
#include "text/bpe_tokenizer.h"
#include "text/pre_tokenizer.h"
#include "text/sentencepiece_info.h"
#include "text/sentencepiece_model.h"
#include "text/storable_tokenizer.h"

namespace limpid {
namespace {

using nlohmann::ordered_json;
using Type = SentencePiecePiece::Type;

// The pieces by id, as many as the model has rows: an id that nobody uses gets a name of its own.
struct Pieces {
  std::vector<std::string> texts;
  std::vector<float> scores;
  std::vector<int32_t> types;
};

Pieces plain_pieces(const Vocabulary& vocabulary, int64_t count) {
  Pieces pieces;
  for (int64_t id = 0; id < count; ++id) {
    const bool used = id < vocabulary.size() && !vocabulary.pieces()[id].empty();
    pieces.texts.push_back(used ? vocabulary.pieces()[id] : fmt::format("[PAD{}]", id));
    pieces.scores.push_back(0);
    const bool special = used && vocabulary.is_special(static_cast<int32_t>(id));
    pieces.types.push_back(!used ? Type::unused : special ? Type::control : Type::normal);
  }
  const int32_t unknown = vocabulary.special().unknown;
  if (unknown >= 0) pieces.types[static_cast<size_t>(unknown)] = Type::unknown;
  return pieces;
}

void add_sentencepiece(GgufWriter& writer, const StorableTokenizer& tokenizer, Pieces& pieces) {
  const std::string_view model = tokenizer.sentencepiece_model();
  const SentencePieceInfo facts = sentencepiece_info(model, "[gguf] tokenizer");
  std::unordered_map<std::string, SentencePiecePiece> known;
  for (SentencePiecePiece& piece : sentencepiece_pieces(model, "[gguf] tokenizer")) known.emplace(piece.text, piece);
  for (size_t id = 0; id < pieces.texts.size(); ++id) {
    const auto found = known.find(pieces.texts[id]);
    if (found == known.end()) continue;
    pieces.scores[id] = found->second.score;
    if (pieces.types[id] == Type::normal) pieces.types[id] = found->second.type;
  }
  writer.text(tokenizer_key("model"), facts.bpe ? "llama" : "t5");
  writer.reals(tokenizer_key("scores"), pieces.scores);
  writer.flag(tokenizer_key("add_space_prefix"), facts.dummy_prefix);
  writer.flag(tokenizer_key("remove_extra_whitespaces"), facts.fold_spaces);
  if (!facts.character_map.empty()) writer.bytes(tokenizer_key("precompiled_charsmap"), facts.character_map);
}

bool is_gpt2_split(const ordered_json& pre_tokenizer) {
  return pre_tokenizer.is_object() && pre_tokenizer.value("type", "") == "ByteLevel" &&
         pre_tokenizer.value("use_regex", true) && !pre_tokenizer.value("add_prefix_space", false);
}

std::string pre_tokenizer_name(const ordered_json& pre_tokenizer, bool whole_words) {
  if (is_gpt2_split(pre_tokenizer)) return "gpt-2";
  for (const char* name : {"gpt-2", "llama-bpe", "dbrx", "qwen2", "starcoder", "falcon", "deepseek-llm",
                           "deepseek-coder", "deepseek-v3", "gpt-4o", "tekken", "seed-coder", "bloom", "default"})
    if (named_habits(name, "[gguf]").whole_words == whole_words &&
        PreTokenizer(named_pre_tokenizer(name, "[gguf]"), "[gguf]").json() == pre_tokenizer)
      return name;
  throw NoGgufTokenizer("the tokenizer splits words in a way that GGUF has no name for");
}

// Whether something of a tokenizer.json puts "▁" before a text.
bool puts_mark_before(const ordered_json& part) {
  if (!part.is_object()) return false;
  const std::string type = part.value("type", "");
  if (type == "Prepend") return true;
  if (type == "Metaspace")
    return part.contains("prepend_scheme") ? part["prepend_scheme"] != "never" : part.value("add_prefix_space", true);
  for (const char* list : {"normalizers", "pretokenizers"})
    for (const ordered_json& one : part.value(list, ordered_json::array()))
      if (puts_mark_before(one)) return true;
  return false;
}

// BPE over characters with bytes to fall back on is SentencePiece's, whose scores fall in the order of the merges.
void add_character_bpe(GgufWriter& writer, const StorableTokenizer& tokenizer, const ordered_json& parts,
                       Pieces& pieces) {
  std::unordered_map<std::string, float> scores;
  float next = 0;
  for (const ordered_json& merge : parts.at("model").at("merges")) {
    std::string piece = merge.get<std::string>();
    piece.erase(piece.find(' ', 1), 1);
    scores.emplace(std::move(piece), next--);
  }
  const auto* bpe = dynamic_cast<const BpeTokenizer*>(&tokenizer);
  for (size_t id = 0; id < pieces.texts.size(); ++id) {
    if (pieces.types[id] != Type::normal) continue;
    const auto found = scores.find(pieces.texts[id]);
    pieces.scores[id] = found != scores.end() ? found->second : next;
    if (byte_of_token(pieces.texts[id]))
      pieces.types[id] = Type::byte;
    else if (bpe && bpe->is_added(static_cast<int32_t>(id)))
      pieces.types[id] = Type::user_defined;
  }
  writer.text(tokenizer_key("model"), "llama");
  writer.reals(tokenizer_key("scores"), pieces.scores);
  writer.flag(tokenizer_key("add_space_prefix"),
              puts_mark_before(parts.at("normalizer")) || puts_mark_before(parts.at("pre_tokenizer")));
}

// WordPiece: "▁" before what begins a word, and no "##" before what goes on.
void add_word_piece(GgufWriter& writer, const SpecialIds& special, const ordered_json& parts, Pieces& pieces) {
  const std::string prefix = parts.at("model").value("continuing_subword_prefix", "##");
  for (size_t id = 0; id < pieces.texts.size(); ++id) {
    std::string& text = pieces.texts[id];
    const bool bracketed = text.starts_with('[') && text.ends_with(']') && text.size() > 2;
    if (pieces.types[id] != Type::normal || bracketed) continue;
    if (text.starts_with(prefix) && text.size() > prefix.size())
      text.erase(0, prefix.size());
    else
      text.insert(0, "\u2581");
  }
  writer.text(tokenizer_key("model"), "bert");
  const auto id = [&](const char* name, int32_t value) {
    if (value >= 0) writer.integer(tokenizer_key(name), static_cast<uint32_t>(value));
  };
  id("cls_token_id", special.begin);
  id("seperator_token_id", special.end);  // the format spells it so
  id("mask_token_id", special.mask);
}

void add_byte_level(GgufWriter& writer, const ordered_json& parts) {
  const ordered_json& model = parts.at("model");
  if (model.value("type", "") != "BPE" || model.value("byte_fallback", false) || !parts.at("decoder").is_object() ||
      parts.at("decoder").value("type", "") != "ByteLevel" || !parts.at("normalizer").is_null())
    throw NoGgufTokenizer(
        "the tokenizer is of a kind that GGUF does not have: it has SentencePiece, byte-level BPE and WordPiece");
  writer.text(tokenizer_key("model"), "gpt2");
  writer.text(tokenizer_key("pre"), pre_tokenizer_name(parts.at("pre_tokenizer"), model.value("ignore_merges", false)));
  writer.texts(tokenizer_key("merges"), model.at("merges").get<std::vector<std::string>>());
}

void add_json_parts(GgufWriter& writer, const StorableTokenizer& tokenizer, Pieces& pieces) {
  const ordered_json parts = tokenizer.json_parts();
  const ordered_json& model = parts.at("model");
  const std::string type = model.value("type", "");
  if (type == "WordPiece") return add_word_piece(writer, tokenizer.special(), parts, pieces);
  if (type == "BPE" && model.value("byte_fallback", false)) return add_character_bpe(writer, tokenizer, parts, pieces);
  add_byte_level(writer, parts);
  const auto* bpe = dynamic_cast<const BpeTokenizer*>(&tokenizer);
  for (size_t id = 0; bpe && id < pieces.types.size(); ++id)
    if (pieces.types[id] == Type::normal && bpe->is_added(static_cast<int32_t>(id)))
      pieces.types[id] = Type::user_defined;
}

}  // namespace

void add_gguf_tokenizer(GgufWriter& writer, const Tokenizers& tokenizers, int64_t vocabulary) {
  if (!tokenizers.source) return writer.text(tokenizer_key("model"), "none");
  const auto* tokenizer = dynamic_cast<const StorableTokenizer*>(tokenizers.source.get());
  if (!tokenizer) throw NoGgufTokenizer("the tokenizer is of a kind that cannot be stored");
  Pieces pieces = plain_pieces(tokenizer->vocabulary(), vocabulary);
  if (!tokenizer->sentencepiece_model().empty())
    add_sentencepiece(writer, *tokenizer, pieces);
  else
    add_json_parts(writer, *tokenizer, pieces);
  writer.texts(tokenizer_key("tokens"), pieces.texts);
  writer.integers(tokenizer_key("token_type"), pieces.types);
  const SpecialIds special = tokenizer->special();
  const auto id = [&](const char* name, int32_t value) {
    if (value >= 0) writer.integer(tokenizer_key(name), static_cast<uint32_t>(value));
  };
  id("bos_token_id", special.begin);
  id("eos_token_id", special.end);
  id("unknown_token_id", special.unknown);
  id("padding_token_id", special.pad);
  const auto holds = [](const std::vector<int32_t>& ids, int32_t wanted) {
    return wanted >= 0 && std::find(ids.begin(), ids.end(), wanted) != ids.end();
  };
  writer.flag(tokenizer_key("add_bos_token"), holds(tokenizers.before, special.begin));
  writer.flag(tokenizer_key("add_eos_token"), holds(tokenizers.after, special.end));
}

}  // namespace limpid
