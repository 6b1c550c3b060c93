#include "experiments/tasks.h"

#include <fmt/format.h>

#include "base/file.h"
#include "corpora/english_korean.h"
#include "corpora/facts.h"

namespace limpid {

namespace fs = std::filesystem;

std::string to_toml(const ShortTraining& training) {
  return fmt::format(R"([optimizer]
clip_norm = 1.0
label_smoothing = 0.0
[schedule]
kind = "linear"
learning_rate = {1}
warmup = {2}
[batch]
tokens = 1024
[stop]
steps = {0}
[validation]
steps = {0}
{3}[checkpoint]
steps = {0}
keep = 1
)",
                     training.steps, training.learning_rate, training.warmup, training.validation);
}

LabCorpus facts_corpus(const Lab& lab) {
  const auto lines = lab.pick<int64_t>(40000, 15000, 15000);  // in fewer, words of the world are missing
  return {.key = fmt::format("facts {}", lines), .write = [lines](const fs::path& folder) {
            const FactWorld world;
            std::string train, known;
            for (int64_t i = 0; i < lines; ++i) train += world.training(static_cast<uint64_t>(i)).text() + "\n";
            for (const FactSentence& sentence : world.sentences())
              if (!sentence.held_out) known += sentence.text() + "\n";
            write_text(folder / "train.txt", train);
            write_text(folder / "known.txt", known);
          }};
}

std::string facts_recipe(const Lab& lab) {
  return fmt::format(R"(
[data]
train = ["train.txt"]
valid = ["known.txt"]
[tokenizer]
kind = "words"
[model]
model_type = "gpt2"
n_layer = 2
n_head = 4
n_embd = 64
n_inner = 256
n_positions = 32
embd_pdrop = 0.0
attn_pdrop = 0.0
resid_pdrop = 0.0
activation_function = "relu"
[optimizer]
clip_norm = 1.0
label_smoothing = 0.0
beta2 = 0.99
[schedule]
kind = "cosine"
learning_rate = 0.004
final = 0.0001
warmup = 50
[batch]
tokens = 1024
[stop]
steps = {0}
[validation]
steps = {0}
[checkpoint]
steps = {0}
keep = 1
)",
                     lab.pick(1000, 300, 4));
}

LabModel train_facts(Lab& lab) {
  return lab.train(facts_recipe(lab),
                   {"model.n_embd=96", "model.n_inner=384", "model.n_head=4",
                    fmt::format("stop.steps={}", lab.pick(2000, 2000, 10))},
                   facts_corpus(lab));
}

LabCorpus sentences_corpus(const Lab& lab) {
  const auto lines = lab.pick<int64_t>(40000, 15000, 400);
  return {.key = fmt::format("english-korean {}", lines), .write = [lines](const fs::path& folder) {
            const EnglishKorean corpus;
            for (const Split split : {Split::train, Split::valid}) {
              std::string english, korean;
              for (int64_t i = 0; i < (split == Split::train ? lines : 300); ++i) {
                const SentencePair pair = corpus.pair(static_cast<uint64_t>(i), split);
                english += pair.english + "\n";
                korean += pair.korean + "\n";
              }
              write_text(folder / fmt::format("{}.en", split_name(split)), english);
              write_text(folder / fmt::format("{}.ko", split_name(split)), korean);
            }
          }};
}

LabModel train_translator(Lab& lab, int64_t heads, const std::vector<std::string>& overrides) {
  std::vector<std::string> keys = {fmt::format("model.encoder_attention_heads={}", heads),
                                   fmt::format("model.decoder_attention_heads={}", heads)};
  keys.insert(keys.end(), overrides.begin(), overrides.end());
  return lab.train(translator_recipe(lab), keys, sentences_corpus(lab));
}

int64_t translator_steps(const Lab& lab) { return lab.pick(2000, 700, 4); }

std::string translator_recipe(const Lab& lab) {
  return R"(
[data]
train = ["train.en", "train.ko"]
valid = ["valid.en", "valid.ko"]
[tokenizer]
kind = "bpe"
vocab = 800
sample_mb = 0.3
[model]
model_type = "marian"
d_model = 64
encoder_layers = 2
decoder_layers = 2
encoder_attention_heads = 4
decoder_attention_heads = 4
encoder_ffn_dim = 128
decoder_ffn_dim = 128
activation_function = "relu"
scale_embedding = true
max_position_embeddings = 128
dropout = 0.0
)" + to_toml({.steps = translator_steps(lab),
              .learning_rate = 0.004,
              .warmup = 100,
              .validation = fmt::format("metric = \"bleu\"\ntranslate = {}\nshow = 0\n", lab.pick(200, 100, 4))});
}

}  // namespace limpid
