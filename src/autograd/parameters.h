#pragma once
// Parameters: the weights of a model that is trained, in one flat buffer, and their gradients in another of the same
// layout, so that an optimiser is one loop and a reduction over machines one call.

#include <memory>
#include <vector>

#include <span>

#include "tensor/weight.h"

namespace limpid {

// Calls the visitor with every weight of a model.
using VisitWeights = std::function<void(const WeightVisitor&)>;

class Parameters {
 public:
  // Gives every weight its place in the flat buffer, in the order of the visit; the numbers are zero.
  explicit Parameters(const VisitWeights& visit_weights);

  // Draws every weight by its Initial. The numbers depend on the seed and on the weight's name alone.
  void initialize(uint64_t seed);

  const std::vector<Weight>& weights() const { return weights_; }
  real* data(const Weight& weight) { return data_.get() + weight.offset; }
  real* data() { return data_.get(); }
  const real* data() const { return data_.get(); }
  int64_t size() const { return size_; }                      // numbers in the buffer, gaps for alignment included
  int64_t trainable_size() const { return trainable_size_; }  // these come first; statistics lie behind them

 private:
  std::vector<Weight> weights_;  // copies that name the places
  std::shared_ptr<real> data_;
  int64_t size_ = 0;
  int64_t trainable_size_ = 0;
};

// A zeroed buffer of whole pages, touched only when used.
std::shared_ptr<real> make_flat_buffer(int64_t count);

class Gradients {
 public:
  explicit Gradients(const Parameters& parameters);

  // Forgets all gradients. Nothing is zeroed here: what is written first overwrites.
  void clear();

  // Where the gradient of a run of weights that lie side by side goes. Sets `accumulate` where numbers already stand
  // there.
  real* open(std::span<const Weight* const> weights, bool& accumulate);
  // The same, for kernels that always add.
  real* open_to_add(const Weight& weight);

  // Zeroes what no operation has written. Call before reading the buffer as a whole.
  void finish();
  // The same for one weight, whose gradient is complete: whoever wants to add to it before the next clear() errs.
  void finish(const Weight& weight);

  // Goes on with another buffer of the same size and gives the one it had; what has been written is as it was for both.
  std::shared_ptr<real> exchange_buffer(std::shared_ptr<real> other);
  const std::vector<Weight>& weights() const { return weights_; }

  real* data() { return data_.get(); }
  const real* data() const { return data_.get(); }
  int64_t size() const { return size_; }
  ConstMatrix of(const Weight& weight) const;  // as one row; throws where nothing was written
  double norm();                               // over all that is learned, as one vector: the clip norm
  bool frozen(const Weight& weight) const;     // no gradient is kept for it
  void freeze(const std::function<bool(const Weight&)>& which);
  // The stretches of the buffer that are learned, cut where a property of the weights changes; all of it as one where
  // nothing is frozen and all weights have the property or none.
  struct Stretch {
    int64_t begin, count;
    bool property;
  };
  std::vector<Stretch> learned(const std::function<bool(const Weight&)>& property) const;

 private:
  enum class State : char { untouched, started, complete };
  void begin(const Weight& weight);

  std::shared_ptr<real> data_;
  std::vector<Weight> weights_;
  std::vector<State> states_;  // by weight index
  std::vector<char> frozen_;
  int64_t size_ = 0;
};

}  // namespace limpid
