// Trains a small language model on a text file and watches it: train_and_watch TEXT-FILE FOLDER
// Run again it goes on where it was; the folder then holds a model that every command of limpid opens.

#include <limpid/limpid.h>

#include <cstdio>
#include <iostream>

namespace {

constexpr const char* kRecipe = R"(
[tokenizer]
kind = "characters"
[model]
model_type = "gpt2"
n_layer = 2
n_head = 4
n_embd = 64
n_positions = 64
[schedule]
learning_rate = 0.003
warmup = 20
[batch]
tokens = 512
[stop]
steps = 60
[validation]
steps = 30
)";

class Watcher : public limpid::TrainingObserver {
  void preparing(const std::string&, double) override {}
  void starting(const limpid::Dataset&, const limpid::Config&, int64_t parameters, int64_t step) override {
    std::printf("%ld parameters, from step %ld\n", static_cast<long>(parameters), static_cast<long>(step));
  }
  void step(const limpid::StepReport& report) override {
    if (report.step % 10 == 0) std::printf("step %3ld   loss %.3f\n", static_cast<long>(report.step), report.loss);
  }
  void validation(const limpid::ValidationReport& report) override {
    std::printf("step %3ld   validation loss %.3f\n", static_cast<long>(report.step), report.loss);
  }
  void note(const std::string& text) override { std::printf("%s\n", text.c_str()); }
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::cerr << "usage: train_and_watch TEXT-FILE FOLDER\n";
    return 2;
  }
  limpid::Recipe recipe = limpid::parse_recipe(kRecipe, "the example's recipe");
  recipe.data.train = {argv[1]};
  limpid::RunFolder folder(argv[2]);
  Watcher watcher;
  const limpid::TrainingResult result = limpid::train(recipe, folder, watcher);
  std::printf("after %s: loss %.3f\n", result.why.c_str(), result.final.loss);
} catch (const limpid::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
