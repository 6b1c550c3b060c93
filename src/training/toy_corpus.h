#pragma once
// Small corpora and recipes for tests of training.

#include <string>
#include <vector>

#include "base/file.h"
#include "base/random.h"
#include "base/temporary_folder.h"
#include "training/recipe.h"

namespace limpid {

// Lines of letters in a folder of their own.
class ToyCorpus {
 public:
  // Lines of `least` … `most` letters of the first ten, all different from one another.
  static std::vector<std::string> random_lines(int count, uint64_t seed, int least = 2, int most = 5) {
    Random random(seed);
    std::vector<std::string> lines;
    while (static_cast<int>(lines.size()) < count) {
      std::string line;
      const int64_t length = least + random.below(most - least + 1);
      for (int64_t i = 0; i < length; ++i) line += {static_cast<char>('a' + random.below(10)), ' '};
      line.pop_back();
      if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
    }
    return lines;
  }

  // Lines of letters in the order of the alphabet, from any of the first ten on and round again: easy to go on with.
  static std::vector<std::string> alphabet_lines() {
    std::vector<std::string> lines;
    for (int length = 4; length <= 7; ++length)
      for (int start = 0; start < 10; ++start) {
        std::string line;
        for (int i = 0; i < length; ++i) line += {static_cast<char>('a' + (start + i) % 10), ' '};
        line.pop_back();
        lines.push_back(line);
      }
    return lines;
  }

  void write(const std::string& name, const std::vector<std::string>& lines) const {
    std::string text;
    for (const std::string& line : lines) text += line + '\n';
    write_text(folder_ / name, text);
  }

  // Files "source" and "target" with the same lines, and "valid" with others.
  explicit ToyCorpus(int count = 40) {
    std::vector<std::string> lines = random_lines(count + 8, 1);
    write("valid", {lines.end() - 8, lines.end()});
    lines.resize(lines.size() - 8);
    write("source", lines);
    write("target", lines);
  }

  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }
  const std::filesystem::path& path() const { return folder_.path(); }

  // A recipe on these files for a small model of the family, without dropout.
  Recipe recipe(const std::string& family, std::vector<std::string> overrides = {}) const {
    std::vector<std::string> all = {"data.folder=" + path().string(),
                                    "tokenizer.kind=words",
                                    "schedule.kind=constant",
                                    "schedule.learning_rate=0.01",
                                    "schedule.warmup=0",
                                    "batch.tokens=64",
                                    "stop.steps=10",
                                    "validation.steps=1000",
                                    "checkpoint.steps=1000",
                                    "validation.translate=8"};
    all.insert(all.end(), overrides.begin(), overrides.end());
    const bool pairs = family == "marian" || family == "pegasus" || family == "rnn_seq2seq";
    const std::string data = pairs ? "[data]\ntrain = [\"source\", \"target\"]\nvalid = [\"valid\", \"valid\"]\n"
                                   : "[data]\ntrain = [\"source\"]\nvalid = [\"valid\"]\n";
    return parse_recipe(data + model(family), "toy", all);
  }

 private:
  static std::string model(const std::string& family) {
    const std::string start = "[model]\nmodel_type = \"" + family + "\"\n";
    if (family == "gpt2")
      return start +
             "n_embd = 16\nn_layer = 1\nn_head = 2\nn_positions = 32\nembd_pdrop = 0.0\nattn_pdrop = 0.0\n"
             "resid_pdrop = 0.0\n";
    if (family == "llama")
      return start +
             "hidden_size = 16\nintermediate_size = 32\nnum_hidden_layers = 1\nnum_attention_heads = 2\n"
             "max_position_embeddings = 32\n";
    if (family == "bert")
      return start +
             "hidden_size = 16\nintermediate_size = 32\nnum_hidden_layers = 1\nnum_attention_heads = 2\n"
             "max_position_embeddings = 32\nhidden_dropout_prob = 0.0\nattention_probs_dropout_prob = 0.0\n"
             "initializer_range = 0.2\n";
    if (family == "rnn_seq2seq") return start + "embed_dim = 16\nhidden_size = 16\nlayers = 1\ncell = \"gru\"\n";
    return start +
           "d_model = 16\nencoder_layers = 1\ndecoder_layers = 1\nencoder_attention_heads = 2\n"
           "decoder_attention_heads = 2\nencoder_ffn_dim = 32\ndecoder_ffn_dim = 32\nactivation_function = \"relu\"\n"
           "max_position_embeddings = 32\ndropout = 0.0\n";
  }

  TemporaryFolder folder_;
};

}  // namespace limpid
