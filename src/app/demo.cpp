// limpid demo: trains an English-Korean translator in front of your eyes and shows where it looks.

#include <fmt/format.h>

#include <filesystem>

#include "app/command.h"
#include "app/run_recorder.h"
#include "app/run_watch.h"
#include "app/terminal.h"
#include "app/training_display.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "corpora/english_korean.h"
#include "formats/model_folder.h"
#include "inference/generate.h"
#include "inference/loaded_model.h"
#include "inference/model_text.h"
#include "inspect/word_attention.h"
#include "scoring/bleu.h"
#include "training/step_timing.h"
#include "training/trainer.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kTrain = 300000, kValid = 500, kTest = 1000;
constexpr double kDefaultMinutes = 2.6;  // of training; held-out scores come on top

constexpr const char* kRecipe = R"(
description = "English-Korean sentences of the project's own grammar, as limpid demo trains them"
[tokenizer]
kind = "unigram"
vocab = 2000
[model]
model_type = "marian"
d_model = 128
encoder_layers = 2
decoder_layers = 2
encoder_attention_heads = 4
decoder_attention_heads = 4
encoder_ffn_dim = 512
decoder_ffn_dim = 512
activation_function = "relu"
scale_embedding = true
max_position_embeddings = 128
dropout = 0.0
[optimizer]
clip_norm = 1.0
label_smoothing = 0.0
[schedule]
kind = "linear"
learning_rate = 0.003
warmup = 150
[batch]
tokens = 1024
[validation]
metric = "exact"
translate = 200
show = 2
[checkpoint]
steps = 1000
keep = 1
[decode]
beam = 1
)";

struct DemoOptions {
  double minutes = kDefaultMinutes;
  int64_t steps = 0;  // 0: as many as the minutes allow
  uint64_t seed = 1;
  bool quiet = false, json = false;
  std::string out;
};

// Names a folder that does not exist yet.
std::string fresh_folder() {
  for (int number = 1;; ++number) {
    std::string name = number == 1 ? "limpid-demo" : fmt::format("limpid-demo-{}", number);
    std::error_code none;
    if (!fs::exists(name, none)) return name;
  }
}

void write_split(const EnglishKorean& grammar, Split split, int64_t count, const fs::path& folder,
                 const std::string& name) {
  AtomicFile english(folder / (name + ".en")), korean(folder / (name + ".ko"));
  for (int64_t i = 0; i < count; ++i) {
    const SentencePair pair = grammar.pair(static_cast<uint64_t>(i), split);
    english.write(pair.english + '\n');
    korean.write(pair.korean + '\n');
  }
  english.commit();
  korean.commit();
}

void write_corpus(const EnglishKorean& grammar, const fs::path& folder) {
  make_folder(folder);
  write_split(grammar, Split::train, kTrain, folder, "train");
  write_split(grammar, Split::valid, kValid, folder, "valid");
}

Recipe demo_recipe(const DemoOptions& options, const fs::path& text, int64_t steps) {
  return parse_recipe(
      kRecipe, "demo",
      {fmt::format("seed={}", options.seed), fmt::format("data.folder=\"{}\"", text.string()),
       R"(data.train=["train.en", "train.ko"])", R"(data.valid=["valid.en", "valid.ko"])",
       fmt::format("stop.steps={}", steps), fmt::format("validation.steps={}", std::max<int64_t>((steps + 4) / 5, 1))});
}

// How many steps fit: measured on some that are thrown away.
int64_t steps_for(const DemoOptions& options, const fs::path& text, const fs::path& out, TrainingDisplay& display) {
  const Recipe recipe = demo_recipe(options, text, int64_t{1} << 30);
  const Dataset dataset =
      prepare_dataset(recipe, out, [&](const std::string& what, double done) { display.preparing(what, done); });
  display.preparing("measuring this machine", 0.5);
  const StepTiming timing = time_steps(recipe, dataset, 3, [] { return interrupted(); });
  return std::max<int64_t>(static_cast<int64_t>((60 * options.minutes - 3) / timing.seconds * 0.94), 20);
}

struct HeldOut {
  std::vector<SentencePair> pairs;
  std::vector<std::string> written;
  double bleu = 0, exact = 0;
};

HeldOut score(const LoadedModel& model, const EnglishKorean& grammar, Split split) {
  HeldOut result;
  std::vector<std::vector<int32_t>> sources;
  std::vector<std::string> references;
  for (int64_t i = 0; i < kTest; ++i) {
    result.pairs.push_back(grammar.pair(static_cast<uint64_t>(i), split));
    references.push_back(result.pairs.back().korean);
    sources.push_back(input_ids(model, result.pairs.back().english));
  }
  int64_t right = 0;
  for (const auto& hypotheses : translate(*model.model, sources, {.beam = 1, .scores = false})) {
    result.written.push_back(model.writer().decode(hypotheses.at(0).ids));
    right += result.written.back() == references[result.written.size() - 1];
  }
  result.bleu = bleu(result.written, references).score;
  result.exact = 100.0 * static_cast<double>(right) / static_cast<double>(kTest);
  return result;
}

// A sentence that came out right and whose words change their order.
const SentencePair& sentence_to_show(const HeldOut& held_out) {
  for (size_t i = 0; i < held_out.pairs.size(); ++i) {
    const SentencePair& pair = held_out.pairs[i];
    const bool relative = pair.english.find(" who ") != std::string::npos;
    if (relative && held_out.written[i] == pair.korean && pair.english.size() < 64) return pair;
  }
  return held_out.pairs[0];
}

void show_attention(const LoadedModel& model, const HeldOut& held_out) {
  std::vector<AlignedPair> pairs;
  for (size_t i = 0; i < 50; ++i)
    pairs.push_back({held_out.pairs[i].english, held_out.pairs[i].korean, held_out.pairs[i].alignment});
  const AligningHead best = find_aligning_head(*model.model, model.tokenizers, pairs);
  const SentencePair& pair = sentence_to_show(held_out);
  fmt::print(
      "\nWhere it looks while it writes (decoder.{}.cross_attn.pattern, head {}; its strongest word is the true one "
      "for "
      "{:.0f} % of the Korean words):\n\n{}",
      best.head.layer, best.head.head, 100 * best.agreement,
      draw(word_attention(*model.model, model.tokenizers, pair.english, pair.korean, best.head)));
}

int finish(const std::string& out, const EnglishKorean& grammar, double seconds, int64_t steps) {
  const LoadedModel model = load_model(out);
  const HeldOut test = score(model, grammar, Split::test), compositional = score(model, grammar, Split::compositional);
  fmt::print("\nAfter {} steps in {}:\n", steps, clock_text(seconds));
  fmt::print("  sentences never seen in training        {:5.1f} % exactly right, BLEU {:.1f}\n", test.exact, test.bleu);
  fmt::print("  constructions never seen with a word    {:5.1f} % exactly right, BLEU {:.1f}\n", compositional.exact,
             compositional.bleu);
  show_attention(model, test);
  fmt::print(
      "\nThe model is in {1}. Try:\n"
      "  echo 'The teacher who likes coffee reads three books.' | {0} translate {1}\n"
      "  {0} look {1} heatmap 'The teacher reads three books.' --cross --pattern --block 1\n"
      "  {0} look {1} lens 'The teacher reads three books.'\n"
      "  {0} params {1}\n"
      "  {0} serve {1}    # a page to walk through it\n"
      "  {0} train --pairs YOUR.en YOUR.ko --minutes 10 --out my-translator    # with text of your own\n",
      program_name(), out);
  return 0;
}

}  // namespace

int run_demo(int argc, char** argv) {
  CommandLine line(
      "demo",
      "Trains an English-Korean Transformer in front of your eyes, within three minutes, and shows where it looks.",
      "limpid demo");
  DemoOptions options;
  line.add_option("--minutes", options.minutes, "of training")->check(CLI::Range(0.05, 1000.0))->capture_default_str();
  line.add_option("--steps", options.steps, "of training instead of minutes")->check(CLI::Range(1, 100000000));
  line.add_option("--seed", options.seed, "of weights and sentences")->capture_default_str();
  line.add_option("--out", options.out, "folder of the model (default: limpid-demo)");
  line.add_flag("--quiet", options.quiet, "only the result");
  WatchOptions watch;
  add_watch_options(line, watch);
  line.add_flag("--json", options.json, "print the result as JSON, one object per line");
  if (const auto code = line.read(argc, argv)) return *code;

  const InterruptGuard guard;
  const std::string out = options.out.empty() ? fresh_folder() : options.out;
  const EnglishKorean grammar(options.seed);
  const fs::path text = fs::path(out) / "text";
  int64_t steps = options.steps;
  RunFolder folder(out);  // refuses a folder that holds something else before anything is written
  if (steps == 0 && folder.has_checkpoint()) steps = load_recipe(folder / "recipe.toml").stop.steps;  // goes on
  if (!options.quiet) fmt::print(stderr, "Writing {} English-Korean sentence pairs from the grammar\n", kTrain);
  write_corpus(grammar, text);
  TrainingDisplay display(options.quiet ? TrainingDisplay::Detail::quiet : TrainingDisplay::Detail::normal);
  if (steps == 0) steps = steps_for(options, text, out, display);
  const Recipe recipe = demo_recipe(options, text, steps);
  const RunWatch page(folder.path(), watch);
  const TrainingResult result = train(recipe, folder, display,
                                      {.command = "limpid demo",
                                       .interrupted = [] { return interrupted(); },
                                       .validated = run_recorder(folder.path())});
  display.clear();
  if (result.interrupted) {
    fmt::print(stderr, "Stopped at step {}; what was learned so far is in {}.\n", result.steps, out);
    return 128 + interrupt_signal();
  }
  if (options.json) {
    fmt::print("{}\n", to_json(result, out).dump());
    return 0;
  }
  return finish(out, grammar, result.seconds, result.steps);
}

}  // namespace limpid
