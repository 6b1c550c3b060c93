#include "layers/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace limpid {
namespace {

// theta^(-2i/dims)
std::vector<double> plain(double theta, int64_t dims) {
  std::vector<double> frequencies;
  for (int64_t i = 0; i < dims / 2; ++i)
    frequencies.push_back(std::pow(theta, -2 * static_cast<double>(i) / static_cast<double>(dims)));
  return frequencies;
}

// Llama 3.1: waves that are short in the original context stay, long ones are stretched, those between are blended.
void stretch_llama3(const RopeConfig& config, std::vector<double>& frequencies) {
  for (double& frequency : frequencies) {
    const double turns = config.original_positions * frequency / (2 * std::numbers::pi);
    const double kept =
        std::clamp((turns - config.low_frequency) / (config.high_frequency - config.low_frequency), 0.0, 1.0);
    frequency *= kept + (1 - kept) / config.factor;
  }
}

// YaRN (Peng et al. 2023): as above, blended by the index of the frequency.
void stretch_yarn(const RopeConfig& config, int64_t dims, std::vector<double>& frequencies) {
  const auto index_of = [&](double turns) {
    return static_cast<double>(dims) * std::log(config.original_positions / (turns * 2 * std::numbers::pi)) /
           (2 * std::log(config.theta));
  };
  double low = index_of(config.beta_fast), high = index_of(config.beta_slow);
  if (config.truncate) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(dims - 1));
  if (low == high) high += 0.001;
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const double stretched = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    frequencies[i] *= 1 - stretched + stretched / config.factor;
  }
}

std::shared_ptr<const Rotation> make(const RopeConfig& config, int64_t head_size, std::vector<double> frequencies) {
  return std::make_shared<Rotation>(
      Rotation{std::move(frequencies), head_size, static_cast<real>(config.attention_factor)});
}

std::vector<double> divided(std::vector<double> frequencies, const std::vector<double>& by) {
  for (size_t i = 0; i < frequencies.size() && i < by.size(); ++i) frequencies[i] /= by[i];
  return frequencies;
}

}  // namespace

Rope::Rope(const RopeConfig& config, int64_t head_size) : config_(config), head_size_(head_size) {
  const int64_t dims = config.turned(head_size);
  std::vector<double> frequencies = plain(config.theta, dims);
  switch (config.scaling) {
    case RopeScaling::none:
    case RopeScaling::dynamic: break;
    case RopeScaling::linear:
      for (double& frequency : frequencies) frequency /= config.factor;
      break;
    case RopeScaling::llama3: stretch_llama3(config, frequencies); break;
    case RopeScaling::yarn: stretch_yarn(config, dims, frequencies); break;
    case RopeScaling::longrope:
      long_ = make(config, head_size, divided(frequencies, config.long_factors));
      frequencies = divided(frequencies, config.short_factors);
      break;
  }
  usual_ = make(config, head_size, std::move(frequencies));
}

bool Rope::differs(int64_t length, int64_t other) const {
  const auto beyond = [&](int64_t x) { return static_cast<double>(x) > config_.original_positions; };
  if (config_.scaling == RopeScaling::longrope) return beyond(length) != beyond(other);
  return config_.scaling == RopeScaling::dynamic && length != other && (beyond(length) || beyond(other));
}

std::shared_ptr<const Rotation> Rope::rotation(int64_t length) const {
  const auto positions = static_cast<double>(length);
  if (positions <= config_.original_positions) return usual_;
  if (config_.scaling == RopeScaling::longrope) return long_;
  if (config_.scaling != RopeScaling::dynamic) return usual_;
  const int64_t dims = config_.turned(head_size_);
  const double stretch = config_.factor * positions / config_.original_positions - (config_.factor - 1);
  const double theta = config_.theta * std::pow(stretch, static_cast<double>(dims) /
                                                             static_cast<double>(std::max<int64_t>(dims - 2, 1)));
  return make(config_, head_size_, plain(theta, dims));
}

}  // namespace limpid
