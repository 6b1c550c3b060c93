// The tokenizer files of a model's folder: save_tokenizers and load_tokenizers.

#include <set>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "text/sentencepiece_tokenizer.h"
#include "text/tokenizer_json.h"
#include "text/tokenizer_training.h"

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

void save_fast(const fs::path& folder, const std::string& model_type, const StorableTokenizer& tokenizer) {
  write_json(folder / "tokenizer.json", tokenizer_json(tokenizer, model_type));
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
    fail("{}: is not a table of tokens and ids ({}): is it the right file?", where, error.what());
  }
  check(table->special().unknown >= 0 && table->special().end >= 0,
        "{}: lacks \"<unk>\" or \"</s>\": is it the vocabulary of this model?", where);
  std::string source = read_text(folder / "source.spm"), target = read_text(folder / "target.spm");
  const bool same = source == target;
  const auto load = [&](std::string model, const char* name) {
    return std::make_shared<SentencePieceTokenizer>(std::move(model), "[tokenizer] " + (folder / name).string(), table);
  };
  const auto from = load(std::move(source), "source.spm");
  return {from, same ? from : load(std::move(target), "target.spm")};
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
    save_fast(folder, model_type, source);
    std::set<std::string> kept = {"tokenizer.json"};
    if (subwords) kept.insert("tokenizer.model");
    remove_others(folder, kept);
  }
}

Tokenizers load_tokenizers(const fs::path& folder) {
  const auto has = [&](const char* name) { return fs::exists(folder / name); };
  if (has("source.spm") || has("target.spm")) return load_marian(folder);
  std::shared_ptr<const Tokenizer> tokenizer;
  if (has("tokenizer.model")) {
    const fs::path path = folder / "tokenizer.model";
    tokenizer = std::make_shared<SentencePieceTokenizer>(read_text(path), "[tokenizer] " + path.string());
  } else {
    check(has("tokenizer.json"),
          "[tokenizer] {}: has no tokenizer: it needs tokenizer.json, tokenizer.model, or source.spm, target.spm and "
          "vocab.json",
          folder.string());
    tokenizer = read_tokenizer_json(folder / "tokenizer.json");
  }
  return {tokenizer, tokenizer};
}

}  // namespace limpid
