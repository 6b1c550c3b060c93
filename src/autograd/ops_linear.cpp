// Products with weights. Letters: T tokens, I inputs, O outputs.

#include <numeric>

#include "autograd/ops.h"
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
  Transpose forward_transpose() const { return layout == WeightLayout::out_in ? Transpose::yes : Transpose::no; }
  Transpose backward_transpose() const { return layout == WeightLayout::out_in ? Transpose::no : Transpose::yes; }
};

bool follows(const Weight& next, const Weight& before) {
  return next.type == before.type && before.offset >= 0 && next.offset == before.offset + before.size() &&
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

ConstMatrix numbers_of(const Stack& stack, const Arena& arena, Numbers& scratch) {
  const auto shape = stack.matrix_shape();
  return {real_numbers(*stack.weights.front(), shape[0] * shape[1], arena, scratch), shape[0], shape[1]};
}

// The matrix in the order in which products read it, made once a weight.
template <class Form, class Make>
const Form& made_once(LazyForm& form, const Make& make) {
  std::call_once(form.once, [&] { form.made = std::make_shared<Form>(make()); });
  return *static_cast<const Form*>(form.made.get());
}

const kernels::QuantizedMatrix& quantized(const Weight& weight, WeightLayout layout) {
  check(layout == WeightLayout::out_in,
        "[linear] {} is quantised, but its rows are not outputs: quantise the model again", weight.name);
  check(weight.packed != nullptr && weight.data != nullptr, "[linear] {} has no numbers yet: load the model first",
        weight.name);
  return made_once<kernels::QuantizedMatrix>(*weight.packed, [&] {
    return kernels::pack_quantized(weight.type, weight.data, weight.factors, weight.shape[0], weight.shape[1]);
  });
}

const kernels::PackedMatrix& packed(const Weight& weight) {
  return made_once<kernels::PackedMatrix>(*weight.packed, [&] { return kernels::pack(weight.matrix()); });
}

const real* bias_of(const Stack& stack) { return stack.biases.empty() ? nullptr : stack.biases.front()->numbers(); }

// Stacks of one quantised type, from `begin` on, which share the quantised x. Returns the first that is not one.
size_t forward_quantized(std::span<const Stack> stacks, size_t begin, ConstMatrix x, Matrix y) {
  const NumberType type = stacks[begin].weights.front()->type;
  std::vector<kernels::QuantizedPart> parts;
  size_t i = begin;
  for (; i < stacks.size() && stacks[i].weights.front()->type == type; ++i)
    parts.push_back(
        {&quantized(*stacks[i].weights.front(), stacks[i].layout), bias_of(stacks[i]), stacks[i].first_column});
  kernels::quantized_gemm(x, parts, y);
  return i;
}

// A tape takes the fastest product of many rows; without one a row's bits do not depend on the other rows.
void forward_plain(const Stack& stack, const Run& run, ConstMatrix x, Matrix y) {
  Numbers scratch;
  const Weight& first = *stack.weights.front();
  const Transpose transpose = stack.forward_transpose();
  if (!run.tape() && first.data != nullptr && kernels::widens(first.type)) {
    const auto shape = stack.matrix_shape();
    return kernels::row_gemm(x, transpose, {first.type, first.data, shape[0], shape[1]}, y, bias_of(stack));
  }
  if (!run.tape() && first.packed && stack.layout == WeightLayout::out_in)
    return kernels::row_gemm(x, packed(first), y, bias_of(stack));
  const ConstMatrix w = numbers_of(stack, run.arena(), scratch);
  if (run.tape())
    kernels::gemm(Transpose::no, x, transpose, w, y, false, bias_of(stack));
  else
    kernels::row_gemm(x, transpose, {kRealType, w.data, w.rows, w.cols}, y, bias_of(stack));
}

void forward(std::span<const Stack> stacks, const Run& run, ConstMatrix x, Matrix y) {
  for (size_t i = 0; i < stacks.size();) {
    if (is_quantized(stacks[i].weights.front()->type)) {
      i = forward_quantized(stacks, i, x, y);
    } else {
      forward_plain(stacks[i], run, x, y.cols_from(stacks[i].first_column, stacks[i].outputs));
      ++i;
    }
  }
}

void backward(Tape& tape, const Stack& stack, const Tensor& x, ConstMatrix dy_all) {
  const ConstMatrix dy = dy_all.cols_from(stack.first_column, stack.outputs);
  if (tape.wants(*stack.weights.front())) {  // dW += dyᵀ·x
    bool accumulate = false;
    const auto shape = stack.matrix_shape();
    const Matrix dw{tape.gradients().open(stack.weights, accumulate), shape[0], shape[1]};
    if (stack.layout == WeightLayout::out_in)
      kernels::gemm(Transpose::yes, dy, Transpose::no, x.values(), dw, accumulate);
    else
      kernels::gemm(Transpose::yes, x.values(), Transpose::no, dy, dw, accumulate);
  }
  if (!stack.biases.empty() && tape.wants(*stack.biases.front())) {  // db += Σ dy
    bool accumulate = false;
    real* db = tape.gradients().open(stack.biases, accumulate);
    kernels::column_sums(dy, db, accumulate);
  }
  if (x.needs_gradient()) {  // dx += dy·W
    Numbers scratch;
    const GradientTarget dx = tape.target(x);
    kernels::gemm(Transpose::no, dy, stack.backward_transpose(), numbers_of(stack, tape.arena(), scratch), dx.view,
                  dx.accumulate);
  }
}

}  // namespace

const real* real_numbers(const Weight& first, int64_t count, const Arena& arena, Numbers& scratch) {
  if (first.type == kRealType) return first.numbers();
  check(first.data != nullptr, "[weight] {} has no numbers yet: load or initialise the model first", first.name);
  scratch = arena.allocate(count);
  if (is_quantized(first.type))
    read_numbers(first, scratch.get());  // never several side by side
  else
    to_real(first.type, first.data, count, scratch.get());
  return scratch.get();
}

void multiply_by(const Run& run, const Weight& weight, const Weight* bias, ConstMatrix x, Matrix y) {
  const Weight* weights[] = {&weight};
  const Weight* biases[] = {bias};
  forward(stack_up(weights, std::span(biases, bias ? 1 : 0), WeightLayout::out_in), run, x, y);
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
  const bool records = run.records({&x}, {weights.front()});
  Tensor y = run.make(x.rows(), outputs, records);  // (T, O)
  forward(stacks, run, x.values(), y.values());
  if (records) {
    run.tape()->record([x, y = y.gradient_only(), stacks = std::move(stacks)](Tape& tape) {
      const ConstMatrix dy = tape.reached(y);
      if (dy.rows == 0) return;
      for (const Stack& stack : stacks) backward(tape, stack, x, dy);
    });
  }
  return y;
}

}  // namespace limpid
