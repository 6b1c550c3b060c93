// The parts of a tokenizer.json that split text as a SentencePiece model does.

#include <sentencepiece_processor.h>

#include <algorithm>
#include <unordered_map>

#include "base/base64.h"
#include "text/sentencepiece_tokenizer.h"
#include "text/tokenizer_json.h"
#include "text/utf8.h"

namespace limpid {
namespace {

using nlohmann::ordered_json;
using sentencepiece::SentencePieceProcessor;

constexpr const char* kMetaspace = "\u2581";  // "▁", which stands for a space inside pieces

ordered_json replace(const char* part, const char* pattern, const char* content) {
  return {{"type", "Replace"}, {"pattern", {{part, pattern}}}, {"content", content}};
}

// The compiled map, or what it does in words that every reader knows: those in JavaScript take any map for "nmt_nfkc".
void add_character_steps(ordered_json& steps, const SentencePieceInfo& facts) {
  if (facts.character_map.empty()) return;
  if (facts.rule == "nfkc" || facts.rule == "nfkc_cf") {
    steps.push_back({{"type", "NFKC"}});
  } else {
    // "Precompiled" maps long clusters character by character and would leave decomposed Hangul so; NFC composes it.
    steps.push_back({{"type", "NFC"}});
    steps.push_back({{"type", "Precompiled"}, {"precompiled_charsmap", base64(facts.character_map)}});
  }
  if (facts.rule.ends_with("_cf")) steps.push_back({{"type", "Lowercase"}});
}

ordered_json normalizer(const SentencePieceInfo& facts) {
  ordered_json steps = ordered_json::array();
  add_character_steps(steps, facts);
  if (facts.fold_spaces) {
    steps.push_back(replace("Regex", "^ +| +$", ""));
    steps.push_back(replace("Regex", " {2,}", " "));
  }
  if (facts.dummy_prefix) steps.push_back({{"type", "Prepend"}, {"prepend", kMetaspace}});
  steps.push_back(replace("String", " ", kMetaspace));
  return {{"type", "Sequence"}, {"normalizers", steps}};
}

// Every "▁" begins a piece. It puts none before the text itself: it would not where the text begins with a space.
// ("add_prefix_space" is what "prepend_scheme" was called before.)
ordered_json pre_tokenizer() {
  return {{"type", "Metaspace"}, {"replacement", kMetaspace}, {"add_prefix_space", false}, {"prepend_scheme", "never"}};
}

ordered_json decoder(bool bytes, bool dummy_prefix) {
  ordered_json steps = ordered_json::array({replace("String", kMetaspace, " ")});
  if (bytes) steps.push_back({{"type", "ByteFallback"}});
  steps.push_back({{"type", "Fuse"}});
  if (dummy_prefix) steps.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  return {{"type", "Sequence"}, {"decoders", steps}};
}

ordered_json unigram_vocabulary(const SentencePieceProcessor& model, const Vocabulary& table) {
  ordered_json pieces = ordered_json::array();
  for (const std::string& piece : table.pieces()) {
    const int own = model.PieceToId(piece);
    pieces.push_back({piece, model.IsUnknown(own) ? 0.0 : static_cast<double>(model.GetScore(own))});
  }
  return pieces;
}

// SentencePiece joins the two neighbours that make the piece of the highest score, whichever two they are; a list of
// merges names pairs. So each piece gives every pair of pieces it can be cut into, the best piece first.
ordered_json merges(const SentencePieceProcessor& model) {
  std::unordered_map<std::string_view, int> ids;
  std::vector<int> order;
  for (int id = 0; id < model.GetPieceSize(); ++id) {
    if (model.IsControl(id) || model.IsUnknown(id) || model.IsByte(id) || model.IsUnused(id)) continue;
    ids.emplace(model.IdToPiece(id), id);
    order.push_back(id);
  }
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return model.GetScore(a) > model.GetScore(b); });
  ordered_json list = ordered_json::array();
  for (const int id : order) {
    const std::string_view piece = model.IdToPiece(id);
    size_t cut = 0;
    each_code_point(piece, [&](char32_t, std::string_view bytes) {
      const std::string_view left = piece.substr(0, cut), right = piece.substr(cut);
      if (ids.contains(left) && ids.contains(right)) list.push_back(std::string(left) + ' ' + std::string(right));
      cut += bytes.size();
    });
  }
  return list;
}

// Whether a piece has a space inside: then text must not be cut at spaces.
bool joins_spaces(const Vocabulary& table) {
  return std::any_of(table.pieces().begin(), table.pieces().end(),
                     [](const std::string& piece) { return piece.find(kMetaspace, 1) != std::string::npos; });
}

}  // namespace

ordered_json SentencePieceTokenizer::json_parts() const {
  bool bytes = false;
  for (int id = 0; id < processor_->GetPieceSize() && !bytes; ++id) bytes = processor_->IsByte(id);
  ordered_json parts;
  parts["normalizer"] = normalizer(facts_);
  if (!before_.empty()) {
    ordered_json& steps = parts["normalizer"]["normalizers"];
    steps.insert(steps.begin(), before_.json());
  }
  parts["pre_tokenizer"] = joins_spaces(vocabulary()) ? ordered_json(nullptr) : pre_tokenizer();
  parts["decoder"] = decoder(bytes, facts_.dummy_prefix);
  const int32_t unknown = vocabulary().special().unknown;
  if (facts_.bpe) {
    parts["model"] = {{"type", "BPE"},
                      {"dropout", nullptr},
                      {"unk_token", vocabulary().piece(unknown)},
                      {"continuing_subword_prefix", nullptr},
                      {"end_of_word_suffix", nullptr},
                      {"fuse_unk", true},
                      {"byte_fallback", bytes},
                      {"vocab", vocabulary_json(vocabulary())},
                      {"merges", merges(*processor_)}};
  } else {
    parts["model"] = {{"type", "Unigram"},
                      {"unk_id", unknown},
                      {"vocab", unigram_vocabulary(*processor_, vocabulary())},
                      {"byte_fallback", bytes}};
  }
  return parts;
}

}  // namespace limpid
