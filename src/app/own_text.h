#pragma once
// limpid train and limpid plan with text of one's own instead of a recipe: the options, and the choice shown.

#include "app/command.h"
#include "training/auto_recipe.h"
#include "training/trainer.h"

namespace limpid {

class OwnTextOptions {
 public:
  void add_to(CommandLine& line);
  bool given() const { return !pairs_.empty() || !texts_.empty() || !labels_.empty(); }

  // `recipe_name` is what stands where a recipe's name would: with text of one's own it can only be an override.
  OwnText text(const std::string& recipe_name, std::vector<std::string> overrides, int ranks = 1) const;

 private:
  std::vector<std::string> pairs_, texts_, valid_, test_;
  std::string labels_, from_;
  double minutes_ = 10;
  const CLI::Option* minutes_option_ = nullptr;
  bool lines_ = false, stream_ = false, characters_ = false;
};

// Looks at the text, prepares it in the folder and chooses; what was chosen is written there as recipe.toml. A folder
// that has one from before keeps it.
Recipe choose_recipe(const OwnText& text, RunFolder& folder, TrainingObserver& observer);
// The same without a word about an earlier choice, and with the reasons.
ChosenRecipe choose_anew(const OwnText& text, const std::filesystem::path& folder, TrainingObserver& observer);

// Three columns that fit the terminal: what, the choice, why.
std::string describe(const std::vector<Decision>& decisions);

}  // namespace limpid
