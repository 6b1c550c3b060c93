#include "text/line_sample.h"

#include <algorithm>
#include <utility>

#include "base/random.h"

namespace limpid {
namespace {

constexpr size_t kRun = 1024;   // bytes of lines that make a unit of whole text
constexpr size_t kUnit = 4096;  // bytes; longer lines are cut

// How much of a long line to cut off: to the last space, or else to the last whole character.
size_t cut_of(std::string_view line) {
  const size_t space = line.rfind(' ', kUnit);
  if (space != line.npos && space > kUnit / 2) return space;
  size_t cut = kUnit;
  while (cut > kUnit - 4 && (static_cast<unsigned char>(line[cut]) & 0xC0) == 0x80) --cut;
  return cut;
}

}  // namespace

void LineSample::add(std::string_view line) {
  if (options_.whole_text) {
    run_.append(line).append("\n");
    if (run_.size() < kRun) return;
    line = run_;
  }
  while (line.size() > kUnit) {
    const size_t cut = cut_of(line);
    add_unit(line.substr(0, cut));
    line.remove_prefix(cut);
  }
  add_unit(line);
  run_.clear();
}

void LineSample::add_unit(std::string_view text) {
  if (text.empty()) return;
  const int64_t index = units_++;
  const uint64_t rank = random_key(options_.seed, static_cast<uint64_t>(index), 0);
  if (rank >= limit_) return;
  kept_.push_back({rank, index, std::string(text)});
  std::push_heap(kept_.begin(), kept_.end());
  kept_bytes_ += static_cast<int64_t>(text.size());
  while (kept_bytes_ > options_.bytes && kept_.size() > 1) {
    std::pop_heap(kept_.begin(), kept_.end());
    limit_ = kept_.back().rank;
    kept_bytes_ -= static_cast<int64_t>(kept_.back().text.size());
    kept_.pop_back();
  }
}

std::vector<std::string> LineSample::take() {
  add_unit(std::exchange(run_, {}));
  std::sort(kept_.begin(), kept_.end(), [](const Unit& a, const Unit& b) { return a.index < b.index; });
  std::vector<std::string> lines;
  lines.reserve(kept_.size());
  for (Unit& unit : kept_) lines.push_back(std::move(unit.text));
  kept_.clear();
  return lines;
}

}  // namespace limpid
