#pragma once
// LineSample: an even sample of the lines of a text of any length, in one pass and bounded memory.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace limpid {

struct LineSampleOptions {
  int64_t bytes = 8 << 20;  // that the sample may take
  uint64_t seed = 1;
  bool whole_text = false;  // neighbouring lines stay together, with their ends: the text is more than its lines
};

// Every unit (a line, a part of a very long one, or a run of lines) gets a random number, and those with the lowest
// stay: which ones depends on the seed and the text alone, and each is as likely as any other.
class LineSample {
 public:
  explicit LineSample(const LineSampleOptions& options) : options_(options) {}
  void add(std::string_view line);
  std::vector<std::string> take();  // the units kept, in the order of the text

 private:
  struct Unit {
    uint64_t rank;
    int64_t index;
    std::string text;
    bool operator<(const Unit& other) const { return rank < other.rank; }
  };
  void add_unit(std::string_view text);

  LineSampleOptions options_;
  std::vector<Unit> kept_;  // a heap, the highest rank on top
  int64_t kept_bytes_ = 0, units_ = 0;
  uint64_t limit_ = UINT64_MAX;  // the lowest rank that has been turned away
  std::string run_;              // lines that wait to become a unit
};

}  // namespace limpid
