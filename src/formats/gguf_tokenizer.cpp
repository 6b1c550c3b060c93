#include "formats/gguf_tokenizer.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/json.h"
#include "text/bpe_tokenizer.h"
#include "text/sentencepiece_model.h"
#include "text/sentencepiece_tokenizer.h"
#include "text/utf8.h"
#include "text/word_piece_tokenizer.h"

namespace limpid {
namespace {

using nlohmann::ordered_json;
using Type = SentencePiecePiece::Type;

// "tokenizer.ggml." and a name.
struct Token {
  std::string text;
  float score = 0;
  Type type = Type::normal;
};

std::vector<Token> read_tokens(const GgufFile& file) {
  const auto* texts = file.texts(tokenizer_key("tokens"));
  check(texts && !texts->empty(), "{}: has no tokens: is it a whole model with its vocabulary?", file.where());
  const auto* scores = file.numbers(tokenizer_key("scores"));
  const auto* types = file.numbers(tokenizer_key("token_type"));
  check((!scores || scores->size() == texts->size()) && (!types || types->size() == texts->size()),
        "{}: has {} tokens, but not as many scores or types: damaged?", file.where(), texts->size());
  std::vector<Token> tokens(texts->size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    check(!invalid_utf8((*texts)[i]), "{}: token {} is not UTF-8: damaged?", file.where(), i);
    tokens[i].text = (*texts)[i];
    if (scores) tokens[i].score = static_cast<float>((*scores)[i]);
    if (!types) continue;
    const double type = (*types)[i];
    check(type >= 1 && type <= 6 && type == std::floor(type), "{}: token {} is of type {}: there are 1 to 6; damaged?",
          file.where(), i, type);
    tokens[i].type = static_cast<Type>(static_cast<int>(type));
  }
  return tokens;
}

SpecialIds special_ids(const GgufFile& file, size_t size) {
  const auto id = [&](std::initializer_list<const char*> names) -> int32_t {
    for (const char* name : names)
      if (const auto found = file.integer(tokenizer_key(name))) {
        check(
            *found >= 0 && *found < static_cast<int64_t>(size), "{}: {} is {}, beyond the {} tokens: damaged?",
            file.where(), [&] { return tokenizer_key(name); }, *found, size);
        return static_cast<int32_t>(*found);
      }
    return -1;
  };
  return {.pad = id({"padding_token_id"}),
          .end = id({"eos_token_id", "seperator_token_id", "separator_token_id"}),  // the format spells it so
          .unknown = id({"unknown_token_id"}),
          .begin = id({"bos_token_id", "cls_token_id"}),
          .mask = id({"mask_token_id"})};
}

std::shared_ptr<const Vocabulary> vocabulary_of(const GgufFile& file, const std::vector<Token>& tokens) {
  std::vector<std::string> pieces, special;
  for (const Token& token : tokens) {
    pieces.push_back(token.text);
    if (token.type == Type::control || token.type == Type::unknown) special.push_back(token.text);
  }
  return std::make_shared<Vocabulary>(std::move(pieces), special, file.where(), special_ids(file, tokens.size()));
}

// The token for what the vocabulary cannot say: the one that the file names, or the first of that type.
size_t unknown_of(const GgufFile& file, const std::vector<Token>& tokens) {
  if (const int32_t named = special_ids(file, tokens.size()).unknown; named >= 0) return static_cast<size_t>(named);
  const auto found =
      std::find_if(tokens.begin(), tokens.end(), [](const Token& one) { return one.type == Type::unknown; });
  return static_cast<size_t>(found - tokens.begin());
}

std::shared_ptr<const Tokenizer> sentencepiece(const GgufFile& file, bool bpe) {
  const std::vector<Token> tokens = read_tokens(file);
  SentencePieceModel model{.bpe = bpe};
  model.dummy_prefix = file.flag(tokenizer_key("add_space_prefix")).value_or(true);
  model.fold_spaces = file.flag(tokenizer_key("remove_extra_whitespaces")).value_or(false);
  std::string map;
  if (const auto* bytes = file.numbers(tokenizer_key("precompiled_charsmap")))
    for (const double byte : *bytes) {
      check(byte >= -128 && byte <= 255, "{}: its character map holds {}, which is no byte: damaged?", file.where(),
            byte);
      map += static_cast<char>(static_cast<int>(byte));
    }
  model.character_map = map;
  // Files type padding as unknown too; the library wants one.
  const size_t unknown = unknown_of(file, tokens);
  for (size_t id = 0; id < tokens.size(); ++id) {
    const Token& token = tokens[id];
    const Type type = token.type == Type::unknown ? Type::unused : token.type;
    model.pieces.push_back({token.text, token.score, id == unknown ? Type::unknown : type});
  }
  return std::make_shared<SentencePieceTokenizer>(sentencepiece_bytes(model), file.where(),
                                                  vocabulary_of(file, tokens));
}

std::string pre_tokenizer_of(const GgufFile& file) { return file.text(tokenizer_key("pre")).value_or("default"); }

std::shared_ptr<const Tokenizer> byte_level(const GgufFile& file) {
  const std::vector<Token> tokens = read_tokens(file);
  BpeParts parts;
  parts.vocabulary = vocabulary_of(file, tokens);
  const auto* merges = file.texts(tokenizer_key("merges"));
  check(merges != nullptr, "{}: has no merges: is it a whole vocabulary?", file.where());
  for (const std::string_view merge : *merges) {
    const size_t space = merge.find(' ', 1);
    check(space != merge.npos, "{}: the merge {} is not two tokens: damaged?", file.where(), in_quotes(merge));
    parts.merges.emplace_back(merge.substr(0, space), merge.substr(space + 1));
  }
  const std::string name = pre_tokenizer_of(file);
  parts.pre_tokenizer = PreTokenizer(named_pre_tokenizer(name, file.where()), file.where());
  parts.decoder = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", false}};
  parts.whole_words = named_habits(name, file.where()).whole_words;
  for (size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i].type == Type::user_defined) parts.added.push_back({static_cast<int32_t>(i)});
  return std::make_shared<BpeTokenizer>(std::move(parts), file.where());
}

// The format writes the beginnings of words with "▁" and drops the "##" of what goes on. The case of letters it does
// not say: a vocabulary without capitals wants none.
std::shared_ptr<const Tokenizer> word_piece(const GgufFile& file) {
  constexpr std::string_view mark = "\u2581";
  std::vector<Token> tokens = read_tokens(file);
  bool capitals = false;
  for (Token& token : tokens) {
    const bool bracketed = token.text.starts_with('[') && token.text.ends_with(']') && token.text.size() > 2;
    if (token.type != Type::normal || bracketed) continue;
    if (token.text.starts_with(mark))
      token.text.erase(0, mark.size());
    else
      token.text.insert(0, "##");
    capitals =
        capitals || std::any_of(token.text.begin(), token.text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  }
  const BertNormalizing normalizing = {.strip_accents = !capitals, .lowercase = !capitals};
  return std::make_shared<WordPieceTokenizer>(bert_parts(vocabulary_of(file, tokens), normalizing), file.where());
}

}  // namespace

bool has_tokenizer(const GgufFile& file) { return file.text(tokenizer_key("model")).value_or("none") != "none"; }

Tokenizers gguf_tokenizers(const GgufFile& file) {
  const auto model = file.text(tokenizer_key("model"));
  check(has_tokenizer(file), "{}: has no vocabulary: take a file that was converted with its tokenizer", file.where());
  Tokenizers result;
  bool begin = false, end = false;  // what the kind adds unless the file says
  if (*model == "llama" || *model == "t5") {
    result.source = sentencepiece(file, *model == "llama");
    begin = *model == "llama";
    end = *model == "t5";
  } else if (*model == "gpt2") {
    result.source = byte_level(file);
    begin = named_habits(pre_tokenizer_of(file), file.where()).begins;
  } else if (*model == "bert") {
    result.source = word_piece(file);
    begin = end = true;
  } else {
    fail("{}: has a vocabulary of the kind {}: Limpid reads llama, t5, gpt2 and bert", file.where(), in_quotes(*model));
  }
  result.target = result.source;
  const SpecialIds special = result.source->special();
  const bool always = *model == "bert";  // whatever the file says of it
  const auto adds = [&](const char* key, bool usual) {
    return always || file.flag(tokenizer_key(key)).value_or(usual);
  };
  if (adds("add_bos_token", begin) && special.begin >= 0) result.before.push_back(special.begin);
  if (adds("add_eos_token", end) && special.end >= 0) result.after.push_back(special.end);
  result.stated = true;
  return result;
}

}  // namespace limpid
