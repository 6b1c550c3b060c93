#pragma once
// Where something fires over a corpus, be it a neuron or a feature of a sparse autoencoder: the texts that fire it most
// and a histogram of its values. Memory does not grow with the corpus.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tensor/matrix.h"

namespace limpid {

// Counts of values in bins of equal width around zero. The width doubles, neighbours joining, when a value lies
// outside.
class Histogram {
 public:
  static constexpr int64_t kHalf = 32;  // bins on either side of zero

  void add(double value);
  int64_t count() const { return count_; }
  int64_t zeros() const { return zeros_; }  // exactly zero: in no bin
  double width() const { return width_; }   // of a bin; 0: nothing was added but zeros
  double low() const { return -width_ * kHalf; }
  std::span<const int64_t> bins() const { return bins_; }  // 2·kHalf, from low() upwards

 private:
  void widen();
  double width_ = 0;
  int64_t count_ = 0, zeros_ = 0;
  std::vector<int64_t> bins_ = std::vector<int64_t>(2 * kHalf);
};

struct FiringText {
  int64_t text = 0;      // counted from 0 in the corpus
  int64_t position = 0;  // of the strongest token, in the text
  double activation = 0;
  std::vector<std::string> tokens;  // a piece of the text around it
  std::vector<double> activations;  // of those tokens
  int64_t marked = 0;               // which of them is the strongest
};

class Firing {
 public:
  explicit Firing(int64_t texts = 10, int64_t around = 12) : most_(texts), around_(around) {}

  // One text's tokens and the activation at each: the numbers stand `stride` apart. The next text.
  void add(std::span<const std::string> tokens, const real* activations, int64_t stride = 1);

  const std::vector<FiringText>& texts() const { return texts_; }  // strongest first, one place per text
  const Histogram& histogram() const { return histogram_; }
  double share() const;  // of tokens where it is above zero

 private:
  int64_t most_, around_;
  int64_t seen_ = 0, positive_ = 0;
  std::vector<FiringText> texts_;
  Histogram histogram_;
};

// "the old [king] said" in a terminal, the firing token between brackets or coloured.
std::string firing_line(const FiringText& text, int64_t width, bool color);
// Bars of the values other than zero, one character a bin (two bins where there are many).
std::string histogram_line(const Histogram& histogram);
std::string histogram_svg(const Histogram& histogram, double width, double height);

}  // namespace limpid
