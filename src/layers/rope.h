#pragma once
// Which angles rotary positions turn by (Su et al. 2021), and how they are stretched for texts longer than those of
// training. Some ways depend on the length of the text.

#include <memory>
#include <vector>

#include "kernels/rotary.h"

namespace limpid {

enum class RopeScaling { none, linear, dynamic, llama3, yarn, longrope };

struct RopeConfig {
  double theta = 10000;
  int64_t dims = 0;          // numbers of a head that are turned, the first ones; 0: all
  bool interleaved = false;  // the file pairs numbers 2i and 2i + 1 instead of i and i + dims/2
  RopeScaling scaling = RopeScaling::none;
  double factor = 1;
  double original_positions = 0;                    // of training
  double low_frequency = 1, high_frequency = 4;     // llama3: turns in the original context that bound the blend
  double beta_fast = 32, beta_slow = 1;             // yarn: likewise
  bool truncate = true;                             // yarn: its bounds are whole numbers
  double attention_factor = 1;                      // on the turned numbers (yarn, longrope)
  std::vector<double> short_factors, long_factors;  // longrope: a divisor for each frequency

  int64_t turned(int64_t head_size) const { return dims > 0 ? dims : head_size; }
};

// The rotations of one kind of layer, as the length of a text asks for them.
class Rope {
 public:
  Rope() = default;
  Rope(const RopeConfig& config, int64_t head_size);

  bool none() const { return !usual_; }
  bool by_length() const { return config_.scaling == RopeScaling::dynamic || config_.scaling == RopeScaling::longrope; }
  // Whether texts of these two lengths are turned differently.
  bool differs(int64_t length, int64_t other) const;
  std::shared_ptr<const Rotation> rotation(int64_t length) const;

 private:
  RopeConfig config_;
  int64_t head_size_ = 0;
  std::shared_ptr<const Rotation> usual_, long_;
};

}  // namespace limpid
