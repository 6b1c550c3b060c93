// The tokenizer files of a model's folder: save_tokenizers and load_tokenizers.

#include <set>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/paths.h"
#include "text/bpe_tokenizer.h"
#include "text/fairseq_tokenizers.h"
#include "text/line_reader.h"
#include "text/sentencepiece_tokenizer.h"
#include "text/tokenizer_json.h"
#include "text/tokenizer_training.h"
#include "text/word_piece_tokenizer.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

const StorableTokenizer& storable(const std::shared_ptr<const Tokenizer>& tokenizer) {
  const auto* result = dynamic_cast<const StorableTokenizer*>(tokenizer.get());
  check(result != nullptr, "[tokenizer] this tokenizer cannot be written: train or load one");
  return *result;
}

void write_json(const fs::path& path, const ordered_json& value) { write_text(path, value.dump(2) + "\n"); }

ordered_json config_json(const char* tokenizer_class, const Vocabulary& vocabulary) {
  ordered_json config = {{"tokenizer_class", tokenizer_class}, {"clean_up_tokenization_spaces", false}};
  for (const SpecialRole& role : special_roles())
    if (const int32_t id = vocabulary.special().*role.id; id >= 0) {
      const std::string& name = vocabulary.piece(id);
      config[std::string(role.config_key)] = name;
      if (name == "[CLS]") config["cls_token"] = name;
      if (name == "[SEP]") config["sep_token"] = name;
    }
  return config;
}

// The files of MarianMT: two SentencePiece models and one table of ids over both.
void save_marian(const fs::path& folder, const StorableTokenizer& source, const StorableTokenizer& target) {
  write_text(folder / "source.spm", source.sentencepiece_model());
  write_text(folder / "target.spm", target.sentencepiece_model());
  write_json(folder / "vocab.json", vocabulary_json(source.vocabulary()));
  ordered_json config = config_json("MarianTokenizer", source.vocabulary());
  config["separate_vocabs"] = false;
  config["sp_model_kwargs"] = ordered_json::object();
  write_json(folder / "tokenizer_config.json", config);
}

void save_fast(const fs::path& folder, const std::string& model_type, const StorableTokenizer& tokenizer,
               const Tokenizers& around) {
  write_json(folder / "tokenizer.json", tokenizer_json(tokenizer, model_type, around));
  write_json(folder / "tokenizer_config.json", config_json("PreTrainedTokenizerFast", tokenizer.vocabulary()));
  if (const std::string_view model = tokenizer.sentencepiece_model(); !model.empty())
    write_text(folder / "tokenizer.model", model);
}

// Files that a tokenizer of another kind has left, which would be read in place of the new ones.
void remove_others(const fs::path& folder, const std::set<std::string>& kept) {
  for (const char* name : {"source.spm", "target.spm", "vocab.json", "tokenizer.json", "tokenizer.model"})
    if (std::error_code ignored; !kept.contains(name)) fs::remove(folder / name, ignored);
}

Tokenizers load_marian(const fs::path& folder) {
  const fs::path table_path = folder / "vocab.json";
  const std::string where = "[tokenizer] " + table_path.string();
  const json members = read_tokenizer_file(table_path);
  std::vector<std::string> special;
  std::shared_ptr<const Vocabulary> table;
  try {
    for (const auto& [piece, id] : members.items())
      if (is_special_name(piece)) special.push_back(piece);
    table = vocabulary_from_json(members, special, where);
  } catch (const json::exception& error) {
    fail("{}: is not a table of tokens and ids ({}): is it the right file?", where, json_reason(error));
  }
  check(table->special().unknown >= 0 && table->special().end >= 0,
        "{}: lacks \"<unk>\" or \"</s>\": is it the vocabulary of this model?", where);
  const std::string source = read_text(folder / "source.spm"), target = read_text(folder / "target.spm");
  const bool same = source == target;
  const auto load = [&](const std::string& model, const char* name) {
    return std::make_shared<SentencePieceTokenizer>(model, "[tokenizer] " + (folder / name).string(), table);
  };
  const auto from = load(source, "source.spm");
  Tokenizers result{from, same ? from : load(target, "target.spm"), {}, {table->special().end}};
  state_end(read_tokenizer_config(folder), result);
  return result;
}

// added_tokens.json of a folder: tokens that its vocabulary got later, with their ids.
json read_added_tokens(const fs::path& folder) {
  const fs::path path = folder / "added_tokens.json";
  json file = path_exists(path) ? read_tokenizer_file(path) : json::object();
  for (const auto& [piece, id] : file.items())
    check(file.is_object() && id.is_number_integer() && id >= 0 && id < 1 << 24,
          "[tokenizer] {}: is not a table of tokens and ids: is it the right file?", path);
  return file;
}

// The model with the tokens of added_tokens.json. A text is searched for those that are no special ones.
std::shared_ptr<const SentencePieceTokenizer> with_added_tokens(const fs::path& path, const json& config) {
  const std::string where = "[tokenizer] " + path.string();
  const std::string model = read_text(path);
  auto own = std::make_shared<SentencePieceTokenizer>(model, where);
  std::vector<std::string> pieces = own->vocabulary().pieces(), special;
  std::vector<std::pair<std::string, int32_t>> plain;
  for (int32_t id = 0; id < own->size(); ++id)
    if (own->vocabulary().is_special(id)) special.push_back(pieces[static_cast<size_t>(id)]);
  const json added = read_added_tokens(path.parent_path());
  for (const auto& [piece, value] : added.items()) {
    const auto id = value.get<size_t>();
    if (piece.empty() || own->vocabulary().find(piece) >= 0) continue;
    pieces.resize(std::max(pieces.size(), id + 1));
    check(pieces[id].empty(), "{}: added_tokens.json gives \"{}\" the id {} of \"{}\": do the files belong together?",
          where, piece, id, pieces[id]);
    pieces[id] = piece;
    bool named = is_special_name(piece);
    for (const SpecialRole& role : special_roles())
      named = named || special_name(config, role.config_key.data()) == piece;
    if (named)
      special.push_back(piece);
    else
      plain.emplace_back(piece, static_cast<int32_t>(id));
  }
  if (std::ssize(pieces) == own->size()) return own;
  const auto tokenizer = std::make_shared<SentencePieceTokenizer>(
      model, where, std::make_shared<Vocabulary>(std::move(pieces), special, where));
  AddedTokens looked_for;
  for (const auto& [piece, id] : plain) looked_for.add(piece, id);
  tokenizer->look_for(std::move(looked_for));
  return tokenizer;
}

// A SentencePiece model, unless tokenizer.json beside it knows tokens that the model does not.
Tokenizers load_sentencepiece(const fs::path& path) {
  const json config = read_tokenizer_config(path.parent_path());
  const fs::path fast = path.parent_path() / "tokenizer.json";
  if (path.filename() == "tokenizer.model" && path_exists(fast))
    return read_beside_json(fast,
                            std::make_shared<SentencePieceTokenizer>(read_text(path), "[tokenizer] " + path.string()));
  const auto tokenizer = with_added_tokens(path, config);
  Tokenizers result{tokenizer, tokenizer};
  const std::string name = special_name(config, "tokenizer_class");
  // These classes begin a text unless told otherwise.
  if (name.starts_with("Llama") || name.starts_with("CodeLlama") || name.starts_with("Gemma")) {
    result.stated = true;
    if (const int32_t begin = tokenizer->special().begin; begin >= 0) result.before.push_back(begin);
  }
  state_begin(config, result);
  state_end(config, result);
  return result;
}

// T5's extra tokens, which stand for parts of a text left out, follow the pieces: the last one first.
Tokenizers load_t5(const fs::path& path, const json& config) {
  const std::string where = "[tokenizer] " + path.string();
  const std::string model = read_text(path);
  const SentencePieceTokenizer own(model, where);
  const auto asked = config.find("extra_ids");
  const bool said = asked != config.end() && asked->is_number_integer();
  const int64_t extra = said ? asked->get<int64_t>() : 100;
  check(extra >= 0 && extra < 1 << 16, "{}: {} extra_ids in tokenizer_config.json: T5 has 100", where, extra);
  std::vector<std::string> pieces = own.vocabulary().pieces(), special;
  for (int32_t id = 0; id < own.size(); ++id)
    if (own.vocabulary().is_special(id)) special.push_back(pieces[static_cast<size_t>(id)]);
  for (int64_t i = extra; i-- > 0;) {
    std::string name = fmt::format("<extra_id_{}>", i);
    if (own.vocabulary().find(name) >= 0) continue;
    special.push_back(name);
    pieces.push_back(std::move(name));
  }
  const auto table = std::make_shared<Vocabulary>(std::move(pieces), special, where);
  const auto tokenizer = std::make_shared<SentencePieceTokenizer>(model, where, table);
  return {tokenizer, tokenizer, {}, with_end({}, table->special().end), true};
}

// Pegasus keeps ids below its offset for itself: padding, the end, two masks and names that nobody uses. The pieces of
// the SentencePiece model follow, id by id. Its first two are padding and the end again, which have their ids already.
Tokenizers load_pegasus(const fs::path& path, const json& config) {
  const std::string where = "[tokenizer] " + path.string();
  const std::string model = read_text(path);
  const SentencePieceTokenizer own(model, where);
  const int64_t offset = config.value("offset", int64_t{103});
  check(offset >= 0 && offset < 1 << 20, "{}: an offset of {} in tokenizer_config.json: Pegasus has 103", where,
        offset);
  std::vector<std::string> pieces = {"<pad>", "</s>"};
  if (offset > 0) pieces.insert(pieces.end(), {"<mask_1>", "<mask_2>"});
  for (int64_t i = 2; i < offset; ++i) pieces.push_back(fmt::format("<unk_{}>", i));
  std::vector<std::string> special = pieces;
  std::set<std::string, std::less<>> known(pieces.begin(), pieces.end());
  pieces.resize(static_cast<size_t>(own.size() + offset));  // an empty one is an id that nobody uses
  for (int64_t id = offset == 0 ? 2 : 0; id < own.size(); ++id) {
    const std::string& piece = own.vocabulary().piece(static_cast<int32_t>(id));
    if (!pieces[static_cast<size_t>(id + offset)].empty() || !known.insert(piece).second) continue;
    pieces[static_cast<size_t>(id + offset)] = piece;
    if (own.vocabulary().is_special(static_cast<int32_t>(id))) special.push_back(piece);
  }
  const auto table = std::make_shared<Vocabulary>(std::move(pieces), special, where);
  const auto tokenizer = std::make_shared<SentencePieceTokenizer>(model, where, table);
  return {tokenizer, tokenizer, {}, {table->special().end}};
}

// The class of a tokenizer: as tokenizer_config.json names it, else the model type of config.json.
std::string kind_of(const fs::path& folder, const json& config) {
  std::string name = special_name(config, "tokenizer_class");
  if (!name.empty() || !path_exists(folder / "config.json")) return name;
  return special_name(read_tokenizer_file(folder / "config.json"), "model_type");
}

// spiece.model: Pegasus' by its offset, T5's with its extra tokens, others by their own ids.
Tokenizers load_spiece(const fs::path& path) {
  const json config = read_tokenizer_config(path.parent_path());
  const std::string kind = kind_of(path.parent_path(), config);
  if (kind.starts_with("Pegasus") || kind == "pegasus") return load_pegasus(path, config);
  // mT5's model has all of its tokens.
  if (kind.starts_with("T5") || kind == "t5") return load_t5(path, config);
  return load_sentencepiece(path);
}

// Byte-level BPE as GPT-2 came with it: a table of tokens and a list of merges, the first learned first.
Tokenizers load_vocab_and_merges(const fs::path& vocab, const fs::path& merges) {
  const std::string where = "[tokenizer] " + vocab.string();
  const fs::path folder = vocab.parent_path();
  json members = read_tokenizer_file(vocab);
  const json config = read_tokenizer_config(folder);
  const json added = read_added_tokens(folder);
  BpeParts parts;
  try {
    for (const auto& [piece, id] : added.items()) members.emplace(piece, id);
    std::vector<std::string> special;
    for (const auto& [piece, id] : members.items())
      if (is_special_name(piece)) special.push_back(piece);
    parts.vocabulary = vocabulary_from_json(members, special, where, config);
    for (const auto& [piece, id] : added.items())
      if (const int32_t token = parts.vocabulary->find(piece); !parts.vocabulary->is_special(token))
        parts.added.push_back({token});
  } catch (const json::exception& error) {
    fail("{}: is not a table of tokens and ids ({}): is it the right file?", where, json_reason(error));
  }
  LineReader lines(merges);
  for (bool first = true; const auto line = lines.next(); first = false) {
    if (line->empty() || (first && line->starts_with("#version"))) continue;
    const size_t space = line->find(' ', 1);
    check(space != line->npos, "[tokenizer] {}: the line \"{}\" is not two tokens: is it a list of merges?", merges,
          *line);
    parts.merges.emplace_back(line->substr(0, space), line->substr(space + 1));
  }
  const bool prefix = config.value("add_prefix_space", false);
  parts.pre_tokenizer =
      PreTokenizer({{"type", "ByteLevel"}, {"add_prefix_space", prefix}, {"trim_offsets", true}}, where);
  parts.decoder = {{"type", "ByteLevel"}, {"add_prefix_space", prefix}, {"trim_offsets", true}};
  const auto tokenizer = std::make_shared<BpeTokenizer>(std::move(parts), where);
  Tokenizers result{tokenizer, tokenizer, {}, {}, true};
  // RoBERTa and BART read a text between <s> and </s>; GPT-2 and what has its tokenizer as it is, unless told
  // otherwise.
  const std::string kind = kind_of(folder, config);
  const SpecialIds special = tokenizer->special();
  if (kind.starts_with("Roberta") || kind.starts_with("Bart") || kind == "roberta" || kind == "bart") {
    if (special.begin >= 0) result.before.push_back(special.begin);
    if (special.end >= 0) result.after.push_back(special.end);
  } else {
    state_begin(config, result);
  }
  return result;
}

// WordPiece: a token per line, its id the line's number.
Tokenizers load_vocab_txt(const fs::path& path) {
  const std::string where = "[tokenizer] " + path.string();
  std::vector<std::string> pieces, special;
  LineReader lines(path);
  while (const auto line = lines.next()) {
    pieces.emplace_back(*line);
    if (is_special_name(*line)) special.emplace_back(*line);
  }
  const json config = read_tokenizer_config(path.parent_path());
  const auto vocabulary = std::make_shared<Vocabulary>(std::move(pieces), special, where);
  const bool lowercase = config.value("do_lower_case", true);
  const auto accents = config.find("strip_accents");
  const BertNormalizing normalizing = {
      .ideographs = config.value("tokenize_chinese_chars", true),
      .strip_accents = accents != config.end() && accents->is_boolean() ? accents->get<bool>() : lowercase,
      .lowercase = lowercase};
  const auto tokenizer = std::make_shared<WordPieceTokenizer>(bert_parts(vocabulary, normalizing), where);
  Tokenizers result{tokenizer, tokenizer};
  if (vocabulary->special().begin >= 0) result.before.push_back(vocabulary->special().begin);
  if (vocabulary->special().end >= 0) result.after.push_back(vocabulary->special().end);
  return result;
}

}  // namespace

void save_tokenizers(const fs::path& folder, const std::string& model_type, const Tokenizers& tokenizers) {
  const StorableTokenizer& source = storable(tokenizers.source);
  const StorableTokenizer& target = storable(tokenizers.target ? tokenizers.target : tokenizers.source);
  const bool subwords = !source.sentencepiece_model().empty() && !target.sentencepiece_model().empty();
  // Two segmentations do not fit into one tokenizer.json.
  const bool two = &source != &target;
  check(subwords || !two,
        "[tokenizer] two tokenizers that are not SentencePiece's have no file format: train one for both");
  if (subwords && (two || model_type == "marian")) {
    save_marian(folder, source, target);
    remove_others(folder, {"source.spm", "target.spm", "vocab.json"});
  } else {
    save_fast(folder, model_type, source, tokenizers);
    std::set<std::string> kept = {"tokenizer.json"};
    if (subwords) kept.insert("tokenizer.model");
    remove_others(folder, kept);
  }
}

bool has_tokenizers(const fs::path& folder) {
  for (const char* name : {"source.spm", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "tokenizer.json",
                           "vocab.json", "encoder.json", "vocab.txt"})
    if (path_exists(folder / name)) return true;
  return false;
}

namespace {

Tokenizers load_folder(const fs::path& folder) {
  const auto has = [&](const char* name) { return path_exists(folder / name); };
  if (has("source.spm") || has("target.spm")) return load_marian(folder);
  if (has("tokenizer.model")) return load_sentencepiece(folder / "tokenizer.model");
  if (has("tokenizer.json")) return read_tokenizer_json(folder / "tokenizer.json");
  if (has("spiece.model")) return load_spiece(folder / "spiece.model");
  if (has("sentencepiece.bpe.model")) return load_fairseq(folder);
  if (has("vocab.json") && has("merges.txt"))
    return load_vocab_and_merges(folder / "vocab.json", folder / "merges.txt");
  if (has("encoder.json") && has("vocab.bpe"))  // OpenAI's own names
    return load_vocab_and_merges(folder / "encoder.json", folder / "vocab.bpe");
  if (has("vocab.txt")) return load_vocab_txt(folder / "vocab.txt");
  fail(
      "[tokenizer] {}: has no tokenizer: it needs tokenizer.json, tokenizer.model, spiece.model, "
      "sentencepiece.bpe.model, vocab.json and merges.txt, vocab.txt, or source.spm, target.spm and vocab.json",
      folder.string());
}

Tokenizers load_file(const fs::path& file) {
  const fs::path folder = file.parent_path();
  const std::string name = file.filename().string();
  if (name == "tokenizer.json") return read_tokenizer_json(file);
  if (name == "vocab.json" && path_exists(folder / "source.spm")) return load_marian(folder);
  if (name == "sentencepiece.bpe.model") return load_fairseq(folder);
  if (name == "vocab.json" || name == "merges.txt")
    return load_vocab_and_merges(folder / "vocab.json", folder / "merges.txt");
  if (name == "encoder.json" || name == "vocab.bpe")
    return load_vocab_and_merges(folder / "encoder.json", folder / "vocab.bpe");
  if (file.extension() == ".txt") return load_vocab_txt(file);
  if (file.extension() == ".json") return read_tokenizer_json(file);
  return name == "spiece.model" ? load_spiece(file) : load_sentencepiece(file);
}

// A value of another type than its key asks for, in whichever of the files.
Tokenizers well_formed(Tokenizers (*load)(const fs::path&), const fs::path& path) {
  try {
    return load(path);
  } catch (const json::exception& error) {
    fail(
        "[tokenizer] {}: its files are not laid out as a tokenizer's are ({}): are they whole, and do they belong "
        "together?",
        path.string(), json_reason(error));
  }
}

}  // namespace

Tokenizers load_tokenizers(const fs::path& folder) { return well_formed(load_folder, folder); }
Tokenizers load_tokenizer_file(const fs::path& file) { return well_formed(load_file, file); }

}  // namespace limpid
