#include "inspect/gradient.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "autograd/ops.h"
#include "base/error.h"
#include "inspect/effect.h"

namespace limpid {
namespace {

// -log p of the next token, over all positions that have one.
double mean_loss(const Example& example, ConstMatrix logits, Matrix* derivative) {
  const auto known = std::count_if(example.next.begin(), example.next.end(), [](int32_t id) { return id >= 0; });
  check(known > 0, "[look] the text says no next token, so it has no loss: give a longer one");
  double sum = 0;
  for (int64_t i = 0; i < logits.rows; ++i) {
    const int32_t next = example.next.at(static_cast<size_t>(i));
    if (next < 0) continue;
    const std::vector<double> p = log_probabilities(logits.row(i), logits.cols);
    sum -= p[next] / static_cast<double>(known);
    if (!derivative) continue;
    for (int64_t j = 0; j < logits.cols; ++j)
      (*derivative)(i, j) += static_cast<real>((std::exp(p[j]) - (j == next)) / static_cast<double>(known));
  }
  return sum;
}

double product_at(const TapValues& a, const TapValues& b, int64_t position) {
  double sum = 0;
  for (int64_t head = 0; head < a.heads; ++head)
    for (int64_t j = 0; j < a.cols; ++j) {
      const auto x = static_cast<double>(a.row(position, head)[j]), y = static_cast<double>(b.row(position, head)[j]);
      if (std::isfinite(x) && std::isfinite(y)) sum += x * y;  // what a mask forbids is -∞ with gradient 0
    }
  return sum;
}

// A part of a wider value by itself.
Tensor whole(Run& run, const Tensor& value) { return value.is_whole() ? value : constant(run, value.values()); }

}  // namespace

double objective_value(const Objective& objective, const Example& example, ConstMatrix logits, Matrix* derivative) {
  if (objective.kind == Objective::Kind::loss) return mean_loss(example, logits, derivative);
  const int64_t row = objective.position < 0 ? objective.position + logits.rows : objective.position;
  check(row >= 0 && row < logits.rows, "[look] there is no position {}: the text has {} scored tokens",
        objective.position, logits.rows);
  const auto check_token = [&](int32_t token) {
    check(token >= 0 && token < logits.cols, "[look] there is no token {}: the model chooses among {}", token,
          logits.cols);
  };
  check_token(objective.token);
  const real* scores = logits.row(row);
  if (objective.kind == Objective::Kind::log_probability) {
    const std::vector<double> p = log_probabilities(scores, logits.cols);
    if (derivative)
      for (int64_t j = 0; j < logits.cols; ++j)
        (*derivative)(row, j) += static_cast<real>((j == objective.token) - std::exp(p[j]));
    return p[objective.token];
  }
  if (derivative) (*derivative)(row, objective.token) += 1;
  if (objective.kind == Objective::Kind::logit) return static_cast<double>(scores[objective.token]);
  check_token(objective.against);
  if (derivative) (*derivative)(row, objective.against) -= 1;
  return static_cast<double>(scores[objective.token]) - static_cast<double>(scores[objective.against]);
}

double TapGradient::at_position(int64_t position) const { return product_at(values, gradient, position); }

double TapGradient::length(int64_t position) const { return std::sqrt(product_at(gradient, gradient, position)); }

Tensor watch_gradient(Run& run, const Tensor& value, std::function<void(ConstMatrix)> keep) {
  Tensor watched = whole(run, value);  // shares its numbers where it can; its gradient is its own
  watched.track_gradient();
  run.tape()->record([below = value.needs_gradient() ? value.gradient_only() : Tensor{},
                      above = watched.gradient_only(), keep = std::move(keep)](Tape& tape) {
    const ConstMatrix reached = tape.grad(above);
    if (reached.rows == 0) return;
    keep(reached);
    tape.share_grad(above, below);
  });
  return watched;
}

TapGradients tap_gradients(const Model& model, const Example& example, const Objective& objective,
                           const std::vector<std::string>& taps, const std::function<void(double)>& progress) {
  check(example.batch.input.sequences.count() == 1, "[look] one text at a time");
  check(!example.changes,
        "[gradient] values put in by an intervention are constants, where every gradient ends: take the interventions "
        "away, or change a weight instead");
  TapGradients result;
  const Arena arena;
  Tape tape(arena);
  FunctionProbe probe;
  Run run({.arena = arena, .tape = &tape, .probe = &probe});
  // What a tap fired with, in a layout that lives as long as the tape.
  struct Fired {
    Sequences rows, keys;
    std::vector<int32_t> order;
    TapLayout layout;
  };
  std::vector<std::unique_ptr<Fired>> fired;
  size_t came_back = 0;
  const auto tell = [&](double from, size_t seen, size_t of) {
    if (progress) progress(from + 0.5 * std::min(1.0, static_cast<double>(seen) / static_cast<double>(of)));
  };
  for (const std::string& name : taps)
    probe.replace(name, [&](const Tap& tap) {
      TapGradient& into = result.taps[tap.name];
      if (into.values.numbers.empty()) result.names.push_back(tap.name);
      gather_values(tap, example.batch, into.values);
      auto& at = *fired.emplace_back(std::make_unique<Fired>());
      tell(0, fired.size(), taps.size());
      at.layout = tap.layout;
      if (tap.layout.rows) at.layout.rows = &(at.rows = *tap.layout.rows);
      if (tap.layout.keys) at.layout.keys = &(at.keys = *tap.layout.keys);
      if (tap.layout.order) at.layout.order = &(at.order = *tap.layout.order);
      return watch_gradient(
          run, tap.value,
          [&into, &at, &arena, &example, &fired, &came_back, &tell, tap_name = tap.name](ConstMatrix reached) {
            Run copying({.arena = arena});
            const Tensor numbers = constant(copying, reached);
            gather_values({tap_name, numbers, at.layout}, example.batch, into.gradient);
            tell(0.5, ++came_back, fired.size());
          });
    });
  const Tensor logits = model.logits(run, example.batch, example.choice);
  check(logits.needs_gradient(), "[look] none of the taps lies on the way to the logits");
  std::vector<real> seed(static_cast<size_t>(logits.rows() * logits.cols()));
  Matrix derivative{seed.data(), logits.rows(), logits.cols()};
  result.value = objective_value(objective, example, logits.values(), &derivative);
  tape.seed(logits, derivative);
  tape.backward();
  for (auto& [name, tap] : result.taps) {  // no gradient came back: zeros; of steps: of those it did not reach
    const int64_t positions = tap.gradient.positions;
    std::vector<real> reached = std::move(tap.gradient.numbers);
    tap.gradient = tap.values;
    std::fill(tap.gradient.numbers.begin(), tap.gradient.numbers.end(), real{0});
    if (positions == tap.values.positions)
      tap.gradient.numbers = std::move(reached);
    else
      std::copy(reached.begin(), reached.end(), tap.gradient.numbers.begin());
  }
  return result;
}

}  // namespace limpid
