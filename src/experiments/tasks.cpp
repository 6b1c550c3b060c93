#include "experiments/tasks.h"

#include <fmt/format.h>

#include "base/file.h"
#include "corpora/facts.h"

namespace limpid {

namespace fs = std::filesystem;

LabCorpus facts_corpus(const Lab& lab) {
  const auto lines = lab.pick<int64_t>(40000, 15000, 1000);
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
n_head = 1
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

}  // namespace limpid
