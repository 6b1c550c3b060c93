#pragma once
// Sequences: where each sequence of a ragged batch begins. A batch is its tokens laid end to end; nothing is padded.

#include <cstdint>
#include <vector>

namespace limpid {

class Sequences {
 public:
  Sequences() = default;
  explicit Sequences(const std::vector<int64_t>& lengths) {
    for (int64_t length : lengths) start_.push_back(start_.back() + length);
  }

  int64_t count() const { return static_cast<int64_t>(start_.size()) - 1; }
  int64_t tokens() const { return start_.back(); }
  int64_t begin(int64_t i) const { return start_[i]; }
  int64_t length(int64_t i) const { return start_[i + 1] - start_[i]; }
  bool operator==(const Sequences&) const = default;

 private:
  std::vector<int64_t> start_{0};  // of each sequence, and the end of the last
};

}  // namespace limpid
