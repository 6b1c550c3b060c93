#pragma once
// Weight: a named parameter of a model, wherever its numbers lie and in whatever precision. Only linear and embedding
// look at the precision; everything else asks for numbers.

#include <any>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <typeinfo>
#include <vector>

#include "base/error.h"
#include "tensor/dtype.h"
#include "tensor/matrix.h"

namespace limpid {

// How a weight starts when a model is trained from nothing.
struct Initial {
  enum class Kind { constant, normal, uniform } kind = Kind::constant;
  double value = 0;  // the constant, the standard deviation, or the bound of ±

  static Initial zeros() { return {Kind::constant, 0}; }
  static Initial ones() { return {Kind::constant, 1}; }
  static Initial normal(double deviation) { return {Kind::normal, deviation}; }
  static Initial uniform(double bound) { return {Kind::uniform, bound}; }
  // Glorot & Bengio 2010: variance 2/(inputs + outputs)
  static Initial glorot(int64_t inputs, int64_t outputs) {
    return uniform(std::sqrt(6.0 / static_cast<double>(inputs + outputs)));
  }
};

// What a parameter is for, for tables of parameters.
enum class ParameterRole { embedding, position, attention, feed_forward, norm, recurrent, output };

// The form of a weight's numbers that a product reads, made when one first needs it and then shared by all threads.
class PackedCache {
 public:
  template <class Form, class Make>
  const Form& get(const Make& make) {
    std::call_once(once_, [&] { form_ = Form(make()); });
    const Form* form = std::any_cast<Form>(&form_);
    check(form != nullptr, "[weight] a packed matrix is asked for as {}, it was packed as {}", typeid(Form).name(),
          form_.type().name());
    return *form;
  }

 private:
  std::once_flag once_;
  std::any form_;
};

struct Weight {
  std::string name;            // the Hugging Face name of its family
  std::vector<int64_t> shape;  // as files have it
  ParameterRole role = ParameterRole::embedding;
  Initial initial;
  bool trainable = true;  // false: statistics that are kept but not learned
  // Where row i of ours is in the files of its family, which keep them in another order; null: the same.
  std::shared_ptr<const std::vector<int32_t>> file_rows;

  DType type = kRealType;
  const void* data = nullptr;
  const float* scales = nullptr;        // of type q8: one per row
  std::shared_ptr<PackedCache> packed;  // of quantised types, and of reals where that pays
  int64_t offset = -1;  // in the flat buffer of Parameters, counted in numbers; -1: lies elsewhere and is not trained
  int64_t index = -1;   // in the order of visit_parameters

  int64_t size() const {
    int64_t product = 1;
    for (int64_t n : shape) product *= n;
    return product;
  }
  bool is_matrix() const { return shape.size() == 2 && shape[0] > 1; }  // read by linear or embedding: of any precision
  // The weight's numbers are these from now on: its packed form goes with the old ones. Somebody else keeps them; they
  // are not trained unless Parameters says where they lie.
  void point_to(DType dtype, const void* numbers, const float* row_scales = nullptr);
  void pack();                  // products read a packed form of the reals, made when first needed
  const real* numbers() const;  // throws where the weight is stored in another precision
  ConstMatrix matrix() const;   // of a weight of two dimensions, likewise
};

using WeightVisitor = std::function<void(Weight&)>;

}  // namespace limpid
