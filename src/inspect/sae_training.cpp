#include "inspect/sae_training.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/parallel.h"
#include "training/optimizer.h"

namespace limpid {
namespace {

double row_length(const real* row, int64_t count) {
  double square = 0;
  for (int64_t i = 0; i < count; ++i) square += static_cast<double>(row[i]) * static_cast<double>(row[i]);
  return std::sqrt(square);
}

void normalize_rows(real* rows, int64_t count, int64_t width) {
  parallel_for(count, [&](int64_t r) {
    const double size = row_length(rows + r * width, width);
    for (int64_t i = 0; i < width; ++i)
      rows[r * width + i] = static_cast<real>(static_cast<double>(rows[r * width + i]) / std::max(size, 1e-12));
  });
}

// Takes away what would only change the lengths of the directions.
void make_tangential(const real* rows, real* gradient, int64_t count, int64_t width) {
  parallel_for(count, [&](int64_t r) {
    const real* row = rows + r * width;
    real* g = gradient + r * width;
    double along = 0;
    for (int64_t i = 0; i < width; ++i) along += static_cast<double>(row[i]) * static_cast<double>(g[i]);
    for (int64_t i = 0; i < width; ++i) g[i] -= static_cast<real>(along) * row[i];
  });
}

double rate_at(const SaeTrainingOptions& options, int64_t step) {
  const auto steps = static_cast<double>(options.steps), at = static_cast<double>(step + 1);
  return options.learning_rate * std::min({1.0, at / (0.05 * steps + 1), 5 * (1 - static_cast<double>(step) / steps)});
}

struct Trainee {
  LoadedSae& loaded;
  const SaeTrainingOptions& options;
  Gradients gradients;
  Optimizer optimizer;
  Arena arena;
  std::vector<int64_t> last_fired;  // step
  Random random;
  int64_t resampled = 0;

  Trainee(LoadedSae& sae, const SaeTrainingOptions& chosen)
      : loaded(sae),
        options(chosen),
        gradients(*sae.parameters),
        optimizer(*sae.parameters, {.beta2 = 0.999, .eps = 1e-8}),
        last_fired(sae.sae->config().features),
        random(random_key(chosen.seed, 0, 12)) {}

  // W_dec random directions, W_enc its transpose, b_dec the mean of the first vectors.
  void start(ConstMatrix x) const {
    const Sae& sae = *loaded.sae;
    const int64_t inputs = sae.config().inputs, features = sae.config().features;
    Parameters& parameters = *loaded.parameters;
    parameters.initialize(options.seed);
    real* decoder = parameters.data(sae.w_dec);
    real* encoder = parameters.data(sae.w_enc);
    normalize_rows(decoder, features, inputs);
    for (int64_t f = 0; f < features; ++f)
      for (int64_t i = 0; i < inputs; ++i) encoder[i * features + f] = decoder[f * inputs + i];
    real* bias = parameters.data(sae.b_dec);
    for (int64_t r = 0; r < x.rows; ++r)
      for (int64_t i = 0; i < inputs; ++i) bias[i] += x(r, i) / static_cast<real>(x.rows);
  }

  int64_t dead(int64_t step) const {
    return std::count_if(last_fired.begin(), last_fired.end(),
                         [&](int64_t at) { return step - at >= options.dead_after; });
  }

  void update(int64_t step) {
    const Sae& sae = *loaded.sae;
    Parameters& parameters = *loaded.parameters;
    const int64_t inputs = sae.config().inputs, features = sae.config().features;
    real* decoder = parameters.data(sae.w_dec);
    gradients.finish();
    make_tangential(decoder, gradients.data() + sae.w_dec.offset, features, inputs);
    optimizer.step(parameters, gradients, rate_at(options, step));
    normalize_rows(decoder, features, inputs);
  }

  // Bricken et al. 2023: a dead feature gets the direction of a vector that is badly reconstructed (drawn by the square
  // of its error), an encoder a fifth as long as the others' and no history.
  void resample(int64_t step, ConstMatrix x) {
    const Sae& sae = *loaded.sae;
    const int64_t inputs = sae.config().inputs, features = sae.config().features;
    Run run({.arena = arena});
    const Tensor read = sae.decode(run, sae.encode(run, constant(run, x)));
    std::vector<double> upto(x.rows);  // running sum of squared errors, squared
    double sum = 0;
    for (int64_t r = 0; r < x.rows; ++r) {
      double error = 0;
      for (int64_t i = 0; i < inputs; ++i) {
        const auto d = static_cast<double>(x(r, i) - read.values()(r, i));
        error += d * d;
      }
      upto[r] = sum += error * error;
    }
    Parameters& parameters = *loaded.parameters;
    real *encoder = parameters.data(sae.w_enc), *decoder = parameters.data(sae.w_dec);
    const double living = std::max(mean_encoder_length(step), 1e-3);
    for (int64_t f = 0; f < features; ++f) {
      if (step - last_fired[f] < options.dead_after) continue;
      const auto row = std::min<int64_t>(
          std::lower_bound(upto.begin(), upto.end(), random.uniform() * sum) - upto.begin(), x.rows - 1);
      std::vector<real> direction(inputs);
      for (int64_t i = 0; i < inputs; ++i) direction[i] = x(row, i) - parameters.data(sae.b_dec)[i];
      const double size = std::max(row_length(direction.data(), inputs), 1e-12);
      for (int64_t i = 0; i < inputs; ++i) {
        const double unit = static_cast<double>(direction[i]) / size;
        set(sae.w_dec, f * inputs + i, decoder, unit);
        set(sae.w_enc, i * features + f, encoder, 0.2 * living * unit);
      }
      set(sae.b_enc, f, parameters.data(sae.b_enc), 0);
      last_fired[f] = step;
      ++resampled;
    }
  }

 private:
  void set(const Weight& weight, int64_t at, real* numbers, double value) {
    numbers[at] = static_cast<real>(value);
    optimizer.means()[weight.offset + at] = optimizer.squares()[weight.offset + at] = 0;
  }

  double mean_encoder_length(int64_t step) const {
    const Sae& sae = *loaded.sae;
    const int64_t inputs = sae.config().inputs, features = sae.config().features;
    const real* encoder = loaded.parameters->data() + sae.w_enc.offset;
    double sum = 0;
    int64_t count = 0;
    for (int64_t f = 0; f < features; ++f) {
      if (step - last_fired[f] >= options.dead_after) continue;
      double square = 0;
      for (int64_t i = 0; i < inputs; ++i) {
        const auto w = static_cast<double>(encoder[i * features + f]);
        square += w * w;
      }
      sum += std::sqrt(square);
      ++count;
    }
    return count > 0 ? sum / static_cast<double>(count) : 1;
  }
};

// The factor that makes the mean squared length of centred vectors the number of inputs.
double scale_of(ConstMatrix x) {
  double square = 0;
  for (int64_t i = 0; i < x.cols; ++i) {
    double mean = 0;
    for (int64_t r = 0; r < x.rows; ++r) mean += static_cast<double>(x(r, i)) / static_cast<double>(x.rows);
    for (int64_t r = 0; r < x.rows; ++r) square += std::pow(static_cast<double>(x(r, i)) - mean, 2);
  }
  square /= static_cast<double>(x.rows);
  check(std::isfinite(square), "[sae] the values of this tap are not numbers: the model has diverged or is damaged");
  check(square > 0, "[sae] all vectors of this tap are equal: there is nothing to learn");
  return std::sqrt(static_cast<double>(x.cols) / square);
}

}  // namespace

SaeGradient sae_gradient(const Sae& sae, const Arena& arena, Gradients& gradients, ConstMatrix x, double sparsity,
                         std::vector<int64_t>& fired) {
  gradients.clear();
  Tape tape(arena, &gradients);
  Run run({.arena = arena, .tape = &tape});
  const Tensor features = sae.encode(run, constant(run, x));
  const Tensor read = sae.decode(run, features);
  const auto rows = static_cast<double>(x.rows);
  Tensor error(arena, x.rows, x.cols), sparse(arena, features.rows(), features.cols());
  SaeGradient result;
  for (int64_t i = 0; i < x.size(); ++i) {
    const real difference = read.values().data[i] - x.data[i];
    result.error += static_cast<double>(difference * difference) / rows;
    error.values().data[i] = static_cast<real>(2 / rows) * difference;
  }
  const ConstMatrix f = features.values();
  const auto slope = static_cast<real>(sparsity / rows);
  for (int64_t r = 0; r < f.rows; ++r)
    for (int64_t j = 0; j < f.cols; ++j) {
      const bool fires = f(r, j) > 0;
      fired[j] += fires;
      result.active += fires;
      sparse.values()(r, j) = fires ? slope : 0;
    }
  result.active /= rows;
  if (sae.config().kind == SaeKind::relu) tape.seed(features, sparse.values());
  tape.seed(read, error.values());
  tape.backward();
  return result;
}

int64_t train_sae(LoadedSae& sae, const SaeTrainingOptions& options, const std::function<void(Matrix)>& draw,
                  const std::function<bool(const SaeStep&)>& progress) {
  const int64_t inputs = sae.sae->config().inputs;
  std::vector<real> numbers(options.batch * inputs);
  const Matrix x(numbers.data(), options.batch, inputs);
  Trainee trainee(sae, options);
  double factor = 0;
  const auto fresh = [&] {
    draw(x);
    if (factor == 0) factor = scale_of(x);
    for (real& number : numbers) number *= static_cast<real>(factor);
  };
  int64_t step = 0;
  bool going = true;
  std::vector<int64_t> fired(sae.sae->config().features);
  for (; step < options.steps && going; ++step) {
    fresh();
    if (step == 0) trainee.start(x);
    std::fill(fired.begin(), fired.end(), 0);
    const SaeGradient gradient = sae_gradient(*sae.sae, trainee.arena, trainee.gradients, x, options.sparsity, fired);
    for (size_t f = 0; f < fired.size(); ++f)
      if (fired[f] > 0) trainee.last_fired[f] = step;
    trainee.update(step);
    const int64_t dead = trainee.dead(step);
    // Not in the last third: what is new needs time to learn.
    if (options.resample_every > 0 && (step + 1) % options.resample_every == 0 && dead > 0 &&
        step < options.steps * 2 / 3)
      trainee.resample(step, x);
    if (progress)
      going = progress({.step = step + 1,
                        .loss = gradient.error / static_cast<double>(inputs),
                        .active = gradient.active,
                        .dead = dead,
                        .resampled = trainee.resampled});
  }
  // Back to the units of the vectors: ReLU and top-k let a common factor through, so only the biases change.
  for (const Weight* bias : {&sae.sae->b_enc, &sae.sae->b_dec})
    for (int64_t i = 0; i < bias->size(); ++i) sae.parameters->data(*bias)[i] /= static_cast<real>(factor);
  return step;
}

double SaeScore::loss_recovered() const {
  return loss_zeroed == loss ? 0 : (loss_zeroed - loss_spliced) / (loss_zeroed - loss);
}

SaeScore score_sae(const Session& session, const Sae& sae, const CorpusOptions& corpus,
                   const ActivationBufferOptions& options, int64_t tokens) {
  SaeScore score;
  const int64_t inputs = sae.config().inputs, features = sae.config().features;
  std::vector<double> sum(inputs), squares(inputs);
  std::vector<int64_t> fired(features);
  double error = 0, active = 0;
  struct Total {
    double sum = 0;
    int64_t tokens = 0;
    double mean() const { return sum / static_cast<double>(tokens); }
  } plain, spliced, zeroed;
  const Arena arena;
  const auto loss = [&](const Batch& batch, Probe& probe, Total& into) {
    Run run({.arena = arena, .probe = &probe});
    const bool scored = std::any_of(batch.labels.begin(), batch.labels.end(), [](int32_t l) { return l >= 0; });
    if (!scored) {
      session.model().forward(run, batch, TokenChoice::labelled(batch));
      return;
    }
    const Loss one = session.model().loss(run, batch, {});
    into.sum += one.sum();
    into.tokens += one.tokens();
  };
  each_held_out(session, corpus, options, [&](const std::vector<Example>& examples) {
    const Batch batch = join_examples(session.config(), examples);
    FunctionProbe reader, splicer, zeroer;
    reader.on(options.tap, [&](const Tap& tap) {
      const ConstMatrix x = tap.value.values();
      for (int64_t r = 0; r < x.rows; ++r)
        for (int64_t i = 0; i < inputs; ++i) {
          const auto value = static_cast<double>(x(r, i));
          sum[i] += value;
          squares[i] += value * value;
        }
    });
    splicer.replace(options.tap, [&](const Tap& tap) {
      Run inner({.arena = arena});
      const ConstMatrix x = tap.value.values();
      const Tensor f = sae.encode(inner, constant(inner, x));
      Tensor read = sae.decode(inner, f);
      score.tokens += x.rows;
      for (int64_t r = 0; r < x.rows; ++r) {
        for (int64_t i = 0; i < inputs; ++i) {
          const auto difference = static_cast<double>(x(r, i) - read.values()(r, i));
          error += difference * difference;
        }
        for (int64_t j = 0; j < features; ++j) {
          const bool fires = f.values()(r, j) > 0;
          fired[j] += fires;
          active += fires;
        }
      }
      return read;
    });
    zeroer.replace(options.tap, [&](const Tap& tap) {
      Tensor zero(arena, tap.value.rows(), tap.value.cols());
      std::fill_n(zero.values().data, zero.values().size(), static_cast<real>(0));
      return zero;
    });
    loss(batch, reader, plain);
    loss(batch, splicer, spliced);
    loss(batch, zeroer, zeroed);
    return score.tokens < tokens;
  });
  check(score.tokens > 0, "[sae] no text was left out to measure on: give a longer corpus");
  const auto count = static_cast<double>(score.tokens);
  double variance = 0;
  for (int64_t i = 0; i < inputs; ++i) variance += squares[i] - sum[i] * sum[i] / count;
  score.explained_variance = variance > 0 ? 1 - error / variance : 0;
  score.active = active / count;
  for (int64_t f : fired) score.density.push_back(static_cast<double>(f) / count);
  score.dead_share = static_cast<double>(std::count(fired.begin(), fired.end(), 0)) / static_cast<double>(features);
  if (plain.tokens > 0) {
    score.loss = plain.mean();
    score.loss_spliced = spliced.mean();
    score.loss_zeroed = zeroed.mean();
  }
  return score;
}

nlohmann::ordered_json sae_score_json(const SaeScore& score) {
  nlohmann::ordered_json json = {{"tokens", score.tokens},
                                 {"l0", score.active},
                                 {"explained_variance", score.explained_variance},
                                 {"dead_share", score.dead_share}};
  if (score.loss > 0) {
    json["loss"] = score.loss;
    json["loss_spliced"] = score.loss_spliced;
    json["loss_zeroed"] = score.loss_zeroed;
    json["loss_recovered"] = score.loss_recovered();
  }
  return json;
}

}  // namespace limpid
