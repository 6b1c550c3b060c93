#include "inspect/effect.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "inference/decoder_state.h"

namespace limpid {
namespace {

int32_t likeliest(const real* row, int64_t count) {
  return static_cast<int32_t>(std::max_element(row, row + count) - row);
}

std::vector<int32_t> likeliest(const real* row, int64_t count, int64_t wanted) {
  std::vector<int32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  const auto kept = static_cast<ptrdiff_t>(std::min(wanted, count));
  std::partial_sort(order.begin(), order.begin() + kept, order.end(),
                    [&](int32_t a, int32_t b) { return row[a] != row[b] ? row[a] > row[b] : a < b; });
  order.resize(static_cast<size_t>(kept));
  return order;
}

// KL(p ‖ q) of two rows of logarithms.
double divergence(const std::vector<double>& p, const std::vector<double>& q) {
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) sum += std::exp(p[i]) * (p[i] - q[i]);
  return std::max(sum, 0.0);  // rounding
}

}  // namespace

std::vector<double> log_probabilities(const real* logits, int64_t count) {
  const auto most = static_cast<double>(*std::max_element(logits, logits + count));
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += std::exp(static_cast<double>(logits[i]) - most);
  std::vector<double> result(count);
  for (int64_t i = 0; i < count; ++i) result[i] = static_cast<double>(logits[i]) - most - std::log(sum);
  return result;
}

Effect compare_logits(ConstMatrix before, ConstMatrix after, const EffectOptions& options) {
  check(before.rows == after.rows && before.cols == after.cols && before.rows > 0,
        "[look] two passes over one text are compared: {}×{} logits and {}×{}", before.rows, before.cols, after.rows,
        after.cols);
  Effect effect;
  const int64_t chosen = options.position < 0 ? options.position + before.rows : options.position;
  check(chosen >= 0 && chosen < before.rows, "[look] there is no position {}: the text has {} tokens", options.position,
        before.rows);
  for (int64_t i = 0; i < before.rows; ++i) {
    const real *a = before.row(i), *b = after.row(i);
    effect.same_bits = effect.same_bits && std::memcmp(a, b, static_cast<size_t>(before.cols) * sizeof(real)) == 0;
    const std::vector<double> p = log_probabilities(a, before.cols), q = log_probabilities(b, before.cols);
    effect.positions.push_back({i, divergence(p, q), likeliest(a, before.cols), likeliest(b, before.cols)});
    if (i != chosen) continue;
    std::vector<int32_t> tokens = options.watched;
    if (tokens.empty()) {
      tokens = likeliest(a, before.cols, options.top);
      for (int32_t token : likeliest(b, before.cols, options.top))
        if (std::find(tokens.begin(), tokens.end(), token) == tokens.end()) tokens.push_back(token);
    }
    for (int32_t token : tokens) {
      check(token >= 0 && token < before.cols, "[look] there is no token {}: the model chooses among {}", token,
            before.cols);
      effect.tokens.push_back({token, static_cast<double>(a[token]), static_cast<double>(b[token]), std::exp(p[token]),
                               std::exp(q[token])});
    }
  }
  return effect;
}

std::vector<int32_t> write_greedily(const Model& model, const Example& example, Probe* probe, int64_t most,
                                    int32_t end) {
  const Config& config = model.config();
  check(config.family != Family::encoder, "[look] an encoder writes nothing: leave --generate out");
  const bool goes_on = config.family == Family::language_model;
  std::vector<int32_t> ids = goes_on ? example.batch.input.ids : std::vector<int32_t>{}, written;
  if (probe == nullptr) {
    const auto state = make_decoder_state(model);
    std::vector<int32_t> next = state->add(std::vector<std::vector<int32_t>>{goes_on ? ids : example.batch.source.ids});
    const int64_t room = most_positions(config) - static_cast<int64_t>(ids.size()) + (goes_on ? 1 : 0);
    while (static_cast<int64_t>(written.size()) < std::min(most, room)) {
      const Tensor logits = state->step(next);
      next = {likeliest(logits.values().row(0), logits.cols())};
      if (next[0] == end) break;
      written.push_back(next[0]);
    }
    return written;
  }
  // Under a probe the whole text is read anew for every token: an intervention names positions of the whole.
  while (static_cast<int64_t>(written.size()) < most) {
    std::vector<int32_t> all = ids;
    all.insert(all.end(), written.begin(), written.end());
    if (!goes_on) all.push_back(0);  // the decoder's input is the target moved by one: the last id is not read
    if (static_cast<int64_t>(all.size()) > most_positions(config)) break;
    const Tensor logits = forward_logits(model, example_of(config, example.batch.source.ids, all), probe);
    const int32_t next = likeliest(logits.values().row(logits.rows() - 1), logits.cols());
    if (next == end) break;
    written.push_back(next);
  }
  return written;
}

}  // namespace limpid
