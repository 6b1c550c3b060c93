#include "text/piece_sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "text/sentencepiece_info.h"
#include "text/storable_tokenizer.h"

namespace limpid {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// log(e^a + e^b)
double log_sum(double a, double b) {
  const double most = std::max(a, b);
  return most == kNever ? kNever : most + std::log1p(std::exp(std::min(a, b) - most));
}

}  // namespace

PieceSampler::PieceSampler(std::shared_ptr<const Tokenizer> tokenizer, double alpha)
    : tokenizer_(std::move(tokenizer)) {
  const auto* storable = dynamic_cast<const StorableTokenizer*>(tokenizer_.get());
  const std::string_view model = storable ? storable->sentencepiece_model() : std::string_view();
  check(!model.empty() && !sentencepiece_info(model, "[tokenizer]").bpe,
        "[tokenizer] sampling draws from the segmentations of a unigram model, which this tokenizer is not: set "
        "tokenizer.kind to \"unigram\", or tokenizer.sampling to 0");
  texts_.resize(static_cast<size_t>(tokenizer_->size()));
  std::vector<Piece> pieces;
  for (SentencePiecePiece& piece : sentencepiece_pieces(model, "[tokenizer]")) {
    const int32_t id = storable->vocabulary().find(piece.text);
    if (piece.type != SentencePiecePiece::normal || id < 0) continue;
    longest_ = std::max(longest_, piece.text.size());
    pieces.push_back({id, alpha * static_cast<double>(piece.score)});
    texts_[static_cast<size_t>(id)] = std::move(piece.text);
  }
  for (const Piece& piece : pieces) pieces_.emplace(texts_[static_cast<size_t>(piece.id)], piece);
}

std::vector<int32_t> PieceSampler::sample(std::span<const int32_t> ids, Random& random) const {
  std::vector<int32_t> result;
  std::string text;
  const auto flush = [&] {
    if (!text.empty()) sample_text(text, random, result);
    text.clear();
  };
  for (const int32_t id : ids) {
    const std::string& piece = texts_[static_cast<size_t>(id)];
    if (!piece.empty()) {
      text += piece;
      continue;
    }
    flush();
    result.push_back(id);
  }
  flush();
  return result;
}

// Forward: the weight of all segmentations of the first n bytes. Backward: a last piece, drawn by its share of that
// weight, then the last piece of what stands before it, and so on.
void PieceSampler::sample_text(std::string_view text, Random& random, std::vector<int32_t>& ids) const {
  struct Edge {
    size_t begin;
    Piece piece;
  };
  std::vector<std::vector<Edge>> ending(text.size() + 1);
  std::vector<double> all(text.size() + 1, kNever);
  all[0] = 0;
  for (size_t begin = 0; begin < text.size(); ++begin) {
    if (all[begin] == kNever) continue;  // in the middle of a character, or where no segmentation comes to
    const size_t most = std::min(longest_, text.size() - begin);
    for (size_t length = 1; length <= most; ++length) {
      const size_t end = begin + length;
      if (end < text.size() && continues_character(text[end])) continue;
      const auto found = pieces_.find(text.substr(begin, length));
      if (found == pieces_.end()) continue;
      all[end] = log_sum(all[end], all[begin] + found->second.weight);
      ending[end].push_back({begin, found->second});
    }
  }
  const size_t first = ids.size();
  for (size_t end = text.size(); end > 0;) {
    double left = random.uniform();
    const Edge* chosen = &ending[end].back();
    for (const Edge& edge : ending[end]) {
      left -= std::exp(all[edge.begin] + edge.piece.weight - all[end]);
      if (left >= 0) continue;
      chosen = &edge;
      break;
    }
    ids.push_back(chosen->piece.id);
    end = chosen->begin;
  }
  std::reverse(ids.begin() + static_cast<std::ptrdiff_t>(first), ids.end());
}

}  // namespace limpid
