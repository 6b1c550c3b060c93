// limpid demo: trains a small Transformer in front of your eyes and looks inside it.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "app/command.h"
#include "app/progress.h"
#include "app/reversal.h"
#include "formats/model_folder.h"
#include "training/optimizer.h"

namespace limpid {
namespace {

constexpr int64_t kWordsAtOnce = 64, kHeldOut = 500;

struct DemoOptions {
  int64_t steps = 2000;
  uint64_t seed = 1;
  bool quiet = false;
  std::string out;
};

// "Attention Is All You Need", equation 3, scaled to a peak of its own.
double learning_rate(int64_t step) {
  constexpr double kPeak = 2e-3, kWarmup = 200;
  const double t = static_cast<double>(step + 1);
  return kPeak * std::min(t / kWarmup, std::sqrt(kWarmup / t));
}

double exact_share(const Seq2Seq& model, const std::vector<std::string>& words) {
  const auto written = write_backwards(model, words);
  int64_t right = 0;
  for (size_t i = 0; i < words.size(); ++i) right += written[i] == reversed(words[i]);
  return static_cast<double>(right) / static_cast<double>(words.size());
}

void show_examples(const Seq2Seq& model, const std::vector<std::string>& words) {
  const auto written = write_backwards(model, words);
  for (size_t i = 0; i < words.size(); ++i)
    fmt::print("    {:10} -> {:10} {}\n", words[i], written[i], written[i] == reversed(words[i]) ? "right" : "wrong");
}

void train(Seq2Seq& model, Parameters& parameters, const std::vector<std::string>& examples,
           const DemoOptions& options) {
  Gradients gradients(parameters);
  Optimizer optimizer(parameters, {.clip_norm = 1});
  const Arena arena;
  Random random(random_key(options.seed, 0, 1));
  Progress progress(options.steps, options.quiet);
  for (int64_t step = 0; step < options.steps; ++step) {
    gradients.clear();
    Tape tape(arena, &gradients);
    Run run({.arena = arena, .tape = &tape, .train = true, .seed = options.seed, .step = static_cast<uint64_t>(step)});
    const Loss loss = model.loss(run, reversal_batch(random_words(random, kWordsAtOnce)), {});
    tape.backward();
    optimizer.step(parameters, gradients, learning_rate(step));
    progress.update(step + 1, fmt::format("loss {:.3f}", loss.mean()));
    if ((step + 1) % std::max<int64_t>(1, options.steps / 4) == 0) {
      progress.clear();
      fmt::print("  after {} steps (loss {:.3f}, guessing is {:.3f}):\n", step + 1, loss.mean(), std::log(28.0));
      show_examples(model, examples);
    }
  }
}

// The head whose attention is the sharpest, drawn with one character a number.
void draw_cross_attention(const Seq2Seq& model, const std::string& word) {
  constexpr const char* kShades[] = {"  ", "░░", "▒▒", "▓▓", "██"};
  std::vector<std::vector<real>> best;
  double sharpest = -1;
  int64_t best_head = 0;
  for (int64_t head = 0; head < model.config().decoder.heads; ++head) {
    const auto pattern = cross_attention(model, word, head);
    double sum = 0;
    for (const auto& row : pattern) sum += static_cast<double>(*std::max_element(row.begin(), row.end()));
    if (sum > sharpest) sharpest = sum, best = pattern, best_head = head;
  }
  fmt::print(
      "\nWhere the decoder looks (decoder.1.cross_attn.pattern, head {}): rows are letters written, columns letters "
      "read\n\n      ",
      best_head);
  for (char c : word) fmt::print("{} ", c);
  fmt::print("⏎\n");
  for (size_t i = 0; i < best.size(); ++i) {
    fmt::print("    {} ", i < word.size() ? std::string(1, word[word.size() - 1 - i]) : "⏎");
    for (real p : best[i]) fmt::print("{}", kShades[std::clamp(static_cast<int>(p * 5), 0, 4)]);
    fmt::print("\n");
  }
}

}  // namespace

int run_demo(int argc, char** argv) {
  CommandLine line(
      "demo", "Trains a small Transformer to write words backwards, in front of your eyes, and shows where it looks.",
      "limpid demo");
  DemoOptions options;
  line.add_option("--steps", options.steps, "training steps")->check(CLI::Range(4, 1000000))->capture_default_str();
  line.add_option("--seed", options.seed, "of weights and words")->capture_default_str();
  line.add_option("--out", options.out, "folder to save the model in");
  line.add_flag("--quiet", options.quiet, "no progress bar");
  if (const auto code = line.read(argc, argv)) return *code;

  if (!options.out.empty()) make_folder(options.out);  // before the work whose result it is to hold
  Seq2Seq model(reversal_config());
  Parameters parameters([&](const WeightVisitor& visitor) { model.visit_parameters(visitor); });
  parameters.initialize(options.seed);
  Random random(random_key(options.seed, 0, 2));
  const auto examples = random_words(random, 3), held_out = random_words(random, kHeldOut);
  fmt::print("A Transformer of {} parameters learns to write words backwards; it has seen none of these before.\n",
             parameters.size());
  const auto start = std::chrono::steady_clock::now();
  train(model, parameters, examples, options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("\n{:.1f} % of {} new words come out exactly right after {:.1f} seconds of training.\n",
             100 * exact_share(model, held_out), kHeldOut, seconds);
  draw_cross_attention(
      model, *std::max_element(examples.begin(), examples.end(), [](auto& a, auto& b) { return a.size() < b.size(); }));
  if (!options.out.empty()) {
    write_model(options.out, model.config(), parameters);
    fmt::print("\nSaved to {}. Next: limpid params {}\n", options.out, options.out);
  } else {
    fmt::print("\nNext: limpid demo --out model, then limpid params model\n");
  }
  return 0;
}

}  // namespace limpid
