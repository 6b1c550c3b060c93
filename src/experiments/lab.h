#pragma once
// Lab: what a unit of work is given. Sizes, the seed, the way to say how far it is, and models that several
// experiments need, which are trained once by the product's own training and kept in a folder for all.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "experiments/experiment.h"

namespace limpid {

struct LabOptions {
  std::filesystem::path folder;  // of the whole set: models/ and data/ lie there
  Size size = Size::full;
  Arm arm = Arm::claim;
  uint64_t seed = 1;
  std::filesystem::path data = {};  // the folder of the data set that the experiment needs
  bool beside_others = false;       // on one thread, other units on the others
  // Hears how far the unit is, 0 … 1, and what it does; false: stop, which ends the unit with Error::cancelled.
  std::function<bool(double share, const std::string& what)> progress = {};
};

// Texts that a training reads. Written once, under a name made of the key, by whoever comes first.
struct LabCorpus {
  std::string key;  // everything that the texts depend on
  std::function<void(const std::filesystem::path& folder)> write;
};

struct LabModel {
  std::filesystem::path folder;  // open_session and load_model open it
  double loss = 0;               // of validation, nats per token
  double exact = 0, bleu = 0;    // where the recipe's metric has them, in percent
  double processor_seconds = 0;  // of training
  int64_t steps = 0;
};

class Lab {
 public:
  explicit Lab(LabOptions options) : options_(std::move(options)) {}

  Size size() const { return options_.size; }
  bool contrary() const { return options_.arm == Arm::contrary; }
  bool planted() const { return options_.arm == Arm::planted; }
  uint64_t seed() const { return options_.seed; }
  const std::filesystem::path& data() const { return options_.data; }
  // One of three numbers by size.
  template <class T>
  T pick(T full, T quick, T tiny) const {
    return size() == Size::full ? full : size() == Size::quick ? quick : tiny;
  }

  // Throws Error of kind cancelled where the run should stop.
  void progress(double share, const std::string& what);
  // A part of the unit's work: what it says as 0 … 1 counts as from … to.
  void part(double from, double to) { from_ = from, to_ = to; }
  // What the unit trains from here on takes the place of another model, in a contrary run: it has weights and an order
  // of texts of its own. Otherwise two units that train the same would share one model, and their difference would be
  // nothing at all, where that of two models is noise.
  void instead_of(const std::string& unit) { instead_of_ = unit; }

  // The folder of a corpus; it is written if it is not there.
  std::filesystem::path corpus(const LabCorpus& corpus) const;
  // Trains by the recipe, a TOML text, with keys overridden, on the corpus (data.folder); or finds the model that an
  // experiment has trained before by the same recipe, keys, corpus and seed.
  LabModel train(const std::string& recipe, const std::vector<std::string>& overrides, const LabCorpus& corpus);

 private:
  uint64_t training_seed() const;

  LabOptions options_;
  std::string instead_of_;
  double from_ = 0, to_ = 1;
};

}  // namespace limpid
