#include "text/sentencepiece_tokenizer.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "base/error.h"
#include "text/character_map.h"
#include "text/utf8.h"

namespace limpid {
namespace {

using sentencepiece::SentencePieceProcessor;

constexpr std::string_view kSpace = "\u2581";  // "▁", which stands for a space inside pieces

// Finds what the library would stumble over: bytes that are no model, a damaged character map, pieces that its tries
// cannot hold (they are built by one call per byte).
void check_model(const std::string& model, std::string_view where) {
  constexpr size_t kLongestPiece = 4096;
  check_character_map(sentencepiece_info(model, where).character_map, where);
  size_t id = 0;
  for (const SentencePiecePiece& piece : sentencepiece_pieces(model, where)) {
    const bool text = !piece.text.empty() && piece.text.find('\0') == std::string::npos && !invalid_utf8(piece.text);
    check(text, "{}: piece {} is empty or no text: is the file damaged? Copy it again", where, id);
    check(piece.text.size() <= kLongestPiece, "{}: piece {} has {} bytes, allowed are {}: is the file damaged?", where,
          id, piece.text.size(), kLongestPiece);
    check(std::isfinite(piece.score), "{}: piece {} has a score that is no number: is the file damaged?", where, id);
    ++id;
  }
}

std::unique_ptr<SentencePieceProcessor> load(const std::string& model, std::string_view where) {
  silence_sentencepiece();
  check_model(model, where);
  auto processor = std::make_unique<SentencePieceProcessor>();
  const auto status = processor->LoadFromSerializedProto(model);
  check(status.ok() && processor->GetPieceSize() > 0,
        "{}: is not a whole SentencePiece model ({}): copy or train it again", where,
        [&] { return status.ok() ? "it has no pieces" : status.message(); });
  return processor;
}

// What "<0xEA>" stands for.
std::optional<char> byte_of(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') return std::nullopt;
  uint8_t byte = 0;
  const auto [end, error] = std::from_chars(piece.data() + 3, piece.data() + 5, byte, 16);
  if (error != std::errc() || end != piece.data() + 5) return std::nullopt;
  return static_cast<char>(byte);
}

// "▁" back to spaces, after bytes are joined, which can spell it too.
std::string spaced(std::string_view joined) {
  std::string text;
  text.reserve(joined.size());
  for (size_t space; (space = joined.find(kSpace)) != joined.npos; joined.remove_prefix(space + kSpace.size()))
    text.append(joined.substr(0, space)).append(" ");
  return text.append(joined);
}

// The model's own table.
std::shared_ptr<const Vocabulary> own_table(const SentencePieceProcessor& processor, std::string_view where) {
  std::vector<std::string> pieces, special;
  for (int id = 0; id < processor.GetPieceSize(); ++id) {
    pieces.push_back(processor.IdToPiece(id));
    if (processor.IsControl(id) || processor.IsUnknown(id)) special.push_back(pieces.back());
  }
  return std::make_shared<Vocabulary>(std::move(pieces), special, where);
}

}  // namespace

void silence_sentencepiece() {
  // The level is set by a trainer's argument alone; without an input the trainer does nothing more.
  static const bool done = [] {
    sentencepiece::SentencePieceTrainer::Train({{"minloglevel", "4"}}).IgnoreError();
    return true;
  }();
  static_cast<void>(done);
}

SentencePieceTokenizer::SentencePieceTokenizer(const std::string& model, std::string_view where,
                                               std::shared_ptr<const Vocabulary> table, Normalizer before)
    : SentencePieceTokenizer(model, load(model, where), where, std::move(table), std::move(before)) {}

SentencePieceTokenizer::SentencePieceTokenizer(std::string model, std::unique_ptr<Processor> processor,
                                               std::string_view where, std::shared_ptr<const Vocabulary> table,
                                               Normalizer before)
    : StorableTokenizer(table ? std::move(table) : own_table(*processor, where)),
      model_(std::move(model)),
      facts_(sentencepiece_info(model_, where)),
      processor_(std::move(processor)),
      before_(std::move(before)) {
  for (int id = 0; id < processor_->GetPieceSize(); ++id)
    to_table_.push_back(vocabulary().id_of_text(processor_->IdToPiece(id)));
}

SentencePieceTokenizer::~SentencePieceTokenizer() = default;

std::vector<int32_t> SentencePieceTokenizer::encode(std::string_view text) const {
  std::vector<int32_t> ids;
  if (added_.empty())
    encode_part(text, ids);
  else
    added_.each(
        text, [&](std::string_view part) { encode_part(part, ids); }, [&](int32_t id) { ids.push_back(id); });
  return ids;
}

void SentencePieceTokenizer::encode_part(std::string_view text, std::vector<int32_t>& ids) const {
  std::vector<int> own;
  std::string changed;
  if (!before_.empty()) text = changed = before_.apply(repaired_utf8(std::string(text)));
  const auto status = processor_->Encode(text, &own);
  check(status.ok(), "[tokenizer] SentencePiece cannot split a text ({}): is the model whole?",
        [&] { return status.message(); });
  ids.reserve(ids.size() + own.size());
  for (const int id : own) ids.push_back(to_table_[static_cast<size_t>(id)]);
}

// Joined here and not by the library, which does not know the pieces that a table of two models has from the other one.
std::string SentencePieceTokenizer::decode(std::span<const int32_t> ids) const {
  std::string joined;
  for (const int32_t id : ids) {
    const std::string& piece = vocabulary().piece(id);
    if (vocabulary().is_special(id)) continue;
    if (const std::optional<char> byte = byte_of(piece))
      joined += *byte;
    else
      joined += piece;
  }
  std::string text = spaced(joined);
  if (facts_.dummy_prefix && text.starts_with(' ')) text.erase(0, 1);
  return repaired_utf8(std::move(text));  // a model can write half a character
}

std::string SentencePieceTokenizer::bytes(int32_t id) const {
  const std::string& piece = vocabulary().piece(id);
  if (vocabulary().is_special(id)) return "";
  const std::optional<char> byte = byte_of(piece);
  return byte ? std::string(1, *byte) : spaced(piece);
}

}  // namespace limpid
