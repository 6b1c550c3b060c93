// Trains a small encoder-decoder to copy: the shortest complete use of the library. Ends with 1 if it did not learn.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include <limpid/limpid.h>

using namespace limpid;

namespace {

constexpr int32_t kStart = 0, kEnd = 1, kVocab = 20, kShortest = 3, kLongest = 10;
using Rows = std::vector<std::vector<int32_t>>;

// The Transformer of the paper, small, in the words of Hugging Face's MarianMT.
Config small_transformer() {
  return parse_config({{"model_type", "marian"},
                       {"vocab_size", kVocab},
                       {"d_model", 64},
                       {"encoder_layers", 1},
                       {"decoder_layers", 1},
                       {"encoder_attention_heads", 4},
                       {"decoder_attention_heads", 4},
                       {"encoder_ffn_dim", 128},
                       {"decoder_ffn_dim", 128},
                       {"activation_function", "relu"},
                       {"scale_embedding", true},
                       {"dropout", 0.0},
                       {"eos_token_id", kEnd},
                       {"decoder_start_token_id", kStart}});
}

// Random sentences of different lengths, each closed by the end token. Nothing is padded.
Rows random_sentences(Random& random, int count) {
  Rows sentences(count);
  for (auto& sentence : sentences) {
    const int64_t length = kShortest + random.below(kLongest - kShortest + 1);
    for (int64_t i = 0; i < length; ++i) sentence.push_back(static_cast<int32_t>(2 + random.below(kVocab - 2)));
    sentence.push_back(kEnd);
  }
  return sentences;
}

// Writes the likeliest next token, again and again, with keys and values of earlier tokens kept in a cache.
Rows greedy(const Seq2Seq& model, const Rows& source, const Arena& arena) {
  const Tokens read = Tokens::of(source);
  const auto count = static_cast<int64_t>(source.size());
  Run encoding({.arena = arena});
  const Tensor memory = model.encode(encoding, read);
  KeyValueCache cache(count);
  Rows written(count), next(count, {kStart});
  for (int step = 0; step <= kLongest; ++step) {
    Run run({.arena = arena, .cache = &cache});
    const Tokens input = Tokens::of(next);  // one token per sentence
    const Tensor features = model.decode(run, input, memory, read.sequences);
    const Tensor logits = model.output().logits(run, features, input.sequences);
    for (int64_t i = 0; i < count; ++i) {
      const real* row = std::as_const(logits).values().row(i);
      next[i] = {static_cast<int32_t>(std::max_element(row, row + kVocab) - row)};
      if (written[i].empty() || written[i].back() != kEnd) written[i].push_back(next[i][0]);
    }
  }
  return written;
}

}  // namespace

int main() {
  set_threads(1);  // the products are too small to be worth sharing
  Seq2Seq model(small_transformer());
  Parameters parameters([&](const WeightVisitor& visitor) { model.visit_parameters(visitor); });
  parameters.initialize(/*seed=*/1);
  Gradients gradients(parameters);
  Optimizer optimizer(parameters, {.clip_norm = 1});
  const Arena arena;
  Random random(2);

  constexpr int kSteps = 400, kWarmUp = 50;
  for (int step = 1; step <= kSteps; ++step) {
    // Rises to 0.003, then falls to zero.
    const double rate = 3e-3 * std::min(double(step) / kWarmUp, double(kSteps - step) / (kSteps - kWarmUp));
    const Rows sentences = random_sentences(random, 64);
    gradients.clear();
    Tape tape(arena, &gradients);
    Run run({.arena = arena, .tape = &tape, .train = true, .seed = 3, .step = static_cast<uint64_t>(step)});
    const Loss loss = model.loss(run, Batch::pairs(sentences, sentences, kStart), {});
    tape.backward();
    optimizer.step(parameters, gradients, rate);
    if (step == 1 || step % 50 == 0) fmt::print("step {:3}   loss {:.4f}\n", step, loss.mean());
  }

  const Rows fresh = random_sentences(random, 200), copies = greedy(model, fresh, arena);
  int exact = 0;
  for (size_t i = 0; i < fresh.size(); ++i) exact += fresh[i] == copies[i];
  fmt::print("{} of {} new sentences copied without a mistake\n", exact, fresh.size());
  return exact >= 190 ? 0 : 1;
}
