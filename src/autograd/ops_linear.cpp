// Products with weights. Letters: T tokens, I inputs, O outputs.

#include <numeric>

#include "autograd/ops.h"
#include "base/turns.h"
#include "kernels/gemm.h"
#include "kernels/quantized_gemm.h"
#include "kernels/reduce.h"
#include "kernels/row_gemm.h"
#include "tensor/quantize.h"

namespace limpid {
namespace {

using kernels::Transpose;
using Weights = std::vector<const Weight*>;

// A run of weights that lie side by side in memory, read as one matrix.
struct Stack {
  Weights weights, biases;
  int64_t first_column = 0;  // of its outputs
  int64_t outputs = 0;
  int64_t inputs = 0;
  WeightLayout layout;

  std::vector<int64_t> matrix_shape() const {
    return layout == WeightLayout::out_in ? std::vector{outputs, inputs} : std::vector{inputs, outputs};
  }
  int64_t outputs_of(size_t i) const { return weights[i]->shape[layout == WeightLayout::out_in ? 0 : 1]; }
  Transpose forward_transpose() const { return layout == WeightLayout::out_in ? Transpose::yes : Transpose::no; }
  Transpose backward_transpose() const { return layout == WeightLayout::out_in ? Transpose::no : Transpose::yes; }
};

bool follows(const Weight& next, const Weight& before) {
  return next.type == before.type && !next.packed && !before.packed && before.offset >= 0 &&
         next.offset == before.offset + before.size() &&
         next.data == static_cast<const char*>(before.data) + bytes_of(before.type, before.size());
}

std::vector<Stack> stack_up(std::span<const Weight* const> weights, std::span<const Weight* const> biases,
                            WeightLayout layout) {
  std::vector<Stack> stacks;
  int64_t column = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const Weight& weight = *weights[i];
    const int64_t outputs = weight.shape[layout == WeightLayout::out_in ? 0 : 1];
    const int64_t inputs = weight.shape[layout == WeightLayout::out_in ? 1 : 0];
    const bool joins = i > 0 && layout == WeightLayout::out_in && follows(weight, *weights[i - 1]) &&
                       (biases.empty() || follows(*biases[i], *biases[i - 1]));
    if (!joins) stacks.push_back({{}, {}, column, 0, inputs, layout});
    Stack& stack = stacks.back();
    stack.weights.push_back(&weight);
    if (!biases.empty()) stack.biases.push_back(biases[i]);
    stack.outputs += outputs;
    column += outputs;
  }
  return stacks;
}

ConstMatrix numbers_of(const Stack& stack, const Arena& arena, Buffer& scratch) {
  const auto shape = stack.matrix_shape();
  return {as_real(*stack.weights.front(), shape[0] * shape[1], arena, scratch), shape[0], shape[1]};
}

const kernels::QuantizedMatrix& quantized(const Weight& weight, WeightLayout layout) {
  check(layout == WeightLayout::out_in,
        "[linear] {} is quantised, but its rows are not outputs: quantise the model again", weight.name);
  check(weight.packed != nullptr && weight.data != nullptr, "[linear] {} has no numbers yet: load the model first",
        weight.name);
  return weight.packed->get<kernels::QuantizedMatrix>([&] {
    const WithoutTurns now;
    return kernels::pack_quantized(weight.type, weight.data, weight.scales, weight.shape[0], weight.shape[1]);
  });
}

const kernels::PackedMatrix& packed(const Weight& weight) {
  check(weight.data != nullptr, "[linear] {} has no numbers yet: load the model first", weight.name);
  return weight.packed->get<kernels::PackedMatrix>([&] {
    const WithoutTurns now;
    return kernels::pack({weight.type, weight.data, weight.shape[0], weight.shape[1]});
  });
}

const real* bias_of(const Stack& stack) { return stack.biases.empty() ? nullptr : stack.biases.front()->numbers(); }

// How a product with a weight is computed. Where a tape records, the fastest product of many rows is taken; where none
// does, one that reads the weight as it lies, and a row's bits do not depend on the other rows.
enum class Product { quantized, recorded, packed, stored };

// The one place that chooses.
Product product_of(const Stack& stack, bool recorded) {
  const Weight& weight = *stack.weights.front();
  if (is_quantized(weight.type)) return Product::quantized;
  if (recorded) return Product::recorded;
  return weight.packed && stack.layout == WeightLayout::out_in ? Product::packed : Product::stored;
}

// Stacks of one quantised type, from `begin` on, which share the quantised x. Returns the first that is not one.
size_t forward_quantized(std::span<const Stack> stacks, size_t begin, ConstMatrix x, Matrix y) {
  const DType type = stacks[begin].weights.front()->type;
  std::vector<kernels::QuantizedPart> parts;
  size_t i = begin;
  for (; i < stacks.size() && stacks[i].weights.front()->type == type; ++i)
    parts.push_back(
        {&quantized(*stacks[i].weights.front(), stacks[i].layout), bias_of(stacks[i]), stacks[i].first_column});
  kernels::quantized_gemm(x, parts, y);
  return i;
}

// Numbers that are not widened in registers are converted beforehand.
void forward_stored(const Stack& stack, const Arena& arena, ConstMatrix x, Matrix y) {
  const Weight& weight = *stack.weights.front();
  const auto shape = stack.matrix_shape();
  Buffer scratch;
  const bool as_it_is = weight.data != nullptr && kernels::widens(weight.type);
  const DType type = as_it_is ? weight.type : kRealType;
  const void* const numbers = as_it_is ? weight.data : numbers_of(stack, arena, scratch).data;
  kernels::row_gemm(x, stack.forward_transpose(), {type, numbers, shape[0], shape[1]}, y, bias_of(stack));
}

void forward(std::span<const Stack> stacks, const Arena& arena, bool recorded, ConstMatrix x, Matrix y) {
  for (size_t i = 0; i < stacks.size();) {
    const Stack& stack = stacks[i];
    const Product product = product_of(stack, recorded);
    if (product == Product::quantized) {
      i = forward_quantized(stacks, i, x, y);
      continue;
    }
    const Matrix into = y.cols_from(stack.first_column, stack.outputs);
    if (product == Product::packed) {
      kernels::row_gemm(x, packed(*stack.weights.front()), into, bias_of(stack));
    } else if (product == Product::stored) {
      forward_stored(stack, arena, x, into);
    } else {
      Buffer scratch;
      kernels::gemm(Transpose::no, x, stack.forward_transpose(), numbers_of(stack, arena, scratch), into, false,
                    bias_of(stack));
    }
    ++i;
  }
}

// Neighbours among weights (or biases) that are trained, and the columns of their outputs: one run where all are.
struct TrainedRun {
  Weights weights;
  int64_t first_column = 0, outputs = 0;
};

std::vector<TrainedRun> trained_runs(const Tape& tape, const Weights& weights, const Stack& stack) {
  std::vector<TrainedRun> runs;
  int64_t column = 0;
  bool goes_on = false;
  for (size_t i = 0; i < weights.size(); ++i) {
    const int64_t outputs = stack.outputs_of(i);
    const bool trained = tape.wants(*weights[i]);
    if (trained && !goes_on) runs.push_back({{}, column, 0});
    if (trained) {
      runs.back().weights.push_back(weights[i]);
      runs.back().outputs += outputs;
    }
    goes_on = trained;
    column += outputs;
  }
  return runs;
}

void backward(Tape& tape, const Stack& stack, const Tensor& x, ConstMatrix dy_all) {
  const ConstMatrix dy = dy_all.cols_from(stack.first_column, stack.outputs);
  for (const TrainedRun& run : trained_runs(tape, stack.weights, stack)) {  // dW += dyᵀ·x
    const ConstMatrix part = dy.cols_from(run.first_column, run.outputs);
    bool accumulate = false;
    real* const dw = tape.gradients().open(run.weights, accumulate);
    if (stack.layout == WeightLayout::out_in)
      kernels::gemm(Transpose::yes, part, Transpose::no, x.values(), {dw, run.outputs, stack.inputs}, accumulate);
    else
      kernels::gemm(Transpose::yes, x.values(), Transpose::no, part, {dw, stack.inputs, run.outputs}, accumulate);
  }
  for (const TrainedRun& run : trained_runs(tape, stack.biases, stack)) {  // db += Σ dy
    bool accumulate = false;
    real* const db = tape.gradients().open(run.weights, accumulate);
    kernels::column_sums(dy.cols_from(run.first_column, run.outputs), db, accumulate);
  }
  if (x.needs_gradient()) {  // dx += dy·W
    Buffer scratch;
    const GradientTarget dx = tape.grad_out(x);
    kernels::gemm(Transpose::no, dy, stack.backward_transpose(), numbers_of(stack, tape.arena(), scratch), dx.view,
                  dx.accumulate);
  }
}

}  // namespace

const real* as_real(const Weight& first, int64_t count, const Arena& arena, Buffer& scratch) {
  if (first.type == kRealType) return first.numbers();
  check(first.data != nullptr, "[weight] {} has no numbers yet: load or initialise the model first", first.name);
  scratch = arena.allocate(count);
  if (is_quantized(first.type))
    read_numbers(first, scratch.get());  // never several side by side
  else
    to_real(first.type, first.data, count, scratch.get());
  return scratch.get();
}

void multiply_by(const Arena& arena, bool recorded, const Weight& weight, const Weight* bias, ConstMatrix x, Matrix y) {
  const Weight* weights[] = {&weight};
  const Weight* biases[] = {bias};
  forward(stack_up(weights, std::span(biases, bias ? 1 : 0), WeightLayout::out_in), arena, recorded, x, y);
}

Tensor linear(Run& run, const Tensor& x, std::span<const Weight* const> weights, std::span<const Weight* const> biases,
              WeightLayout layout) {
  std::vector<Stack> stacks = stack_up(weights, biases, layout);
  check(stacks.front().inputs == x.cols(), "[linear] {} takes {} inputs, given {}", weights.front()->name,
        stacks.front().inputs, x.cols());
  const int64_t outputs = stacks.back().first_column + stacks.back().outputs;
  check(!run.train() || !is_quantized(weights.front()->type),
        "[linear] {} is stored as {}: quantised weights cannot be trained; train the model they were made from",
        weights.front()->name, name_of(weights.front()->type));
  const bool weights_record = run.records(weights), biases_record = run.records(biases);  // both are to be asked
  const bool records = weights_record || biases_record || run.records({&x});
  Tensor y = run.make(x.rows(), outputs, records);  // (T, O)
  forward(stacks, run.arena(), run.tape() != nullptr, x.values(), y.values());
  if (records) {
    run.tape()->record([x, y = y.gradient_only(), stacks = std::move(stacks)](Tape& tape) {
      const ConstMatrix dy = tape.grad(y);
      if (dy.rows == 0) return;
      for (const Stack& stack : stacks) backward(tape, stack, x, dy);
    });
  }
  return y;
}

}  // namespace limpid
