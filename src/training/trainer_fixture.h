#pragma once
// What tests of whole training runs share: a corpus, an observer that remembers, and looks into the run's folder.

#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "base/file.h"
#include "formats/safetensors.h"
#include "training/toy_corpus.h"
#include "training/trainer.h"

namespace limpid {

class Listener : public TrainingObserver {
 public:
  void preparing(const std::string&, double) override {}
  void starting(const Dataset&, const Config&, int64_t, int64_t resumed_step) override { resumed = resumed_step; }
  void step(const StepReport& report) override { steps.push_back(report); }
  void validation(const ValidationReport& report) override { validations.push_back(report); }
  void note(const std::string& text) override { notes.push_back(text); }

  int64_t resumed = -1;
  std::vector<StepReport> steps;
  std::vector<ValidationReport> validations;
  std::vector<std::string> notes;
};

class TrainerTest : public testing::Test {
 protected:
  // Trains in the folder, and interrupts itself after so many steps if told so.
  TrainingResult run(const Recipe& recipe, const std::string& name, int64_t stop_after = INT64_MAX) {
    listener_ = {};
    RunFolder folder(corpus_ / name);
    return train(recipe, folder, listener_,
                 {.interrupted = [&] { return !listener_.steps.empty() && listener_.steps.back().step >= stop_after; },
                  .accept_changes = [&](const auto&) { return accepts_changes_; }});
  }
  std::string error_of(const Recipe& recipe, const std::string& name) {
    try {
      run(recipe, name);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  Config config_of(const std::string& folder) const { return load_config((corpus_ / folder).string()); }
  std::string bytes(const std::string& file) const { return read_text(corpus_ / file); }

  static std::vector<real> numbers(const SafetensorsEntry& entry) {
    std::vector<real> result(entry.count());
    read_reals(entry, result.data());
    return result;
  }
  std::map<std::string, std::vector<real>> weights(const std::string& folder) const {
    const SafetensorsFile file(corpus_ / folder / "model.safetensors");
    std::map<std::string, std::vector<real>> result;
    for (const SafetensorsEntry& entry : file.entries()) result[entry.name] = numbers(entry);
    return result;
  }

  ToyCorpus corpus_;
  Listener listener_;
  bool accepts_changes_ = false;
};

}  // namespace limpid
