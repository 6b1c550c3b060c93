#include "training/resume.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "training/recipe_changes.h"

namespace limpid {

namespace fs = std::filesystem;

void check_model_is_kept(const RunFolder& folder) {
  std::error_code ignored;
  check(folder.has_checkpoint() || !fs::exists(folder / "model.safetensors", ignored),
        "[run] {}: has a trained model, but not the checkpoints it came from, so training would begin again and write "
        "over it: to train the model further name another folder and set start_from={}; to begin again remove this one",
        folder.path(), folder.path());
}

FormerSettings former_settings(const RunFolder& folder, const Recipe& recipe, const TrainingOptions& options) {
  if (!folder.has_checkpoint()) return {};
  FormerSettings former;
  try {
    former.recipe = load_recipe(folder / "recipe.toml");
  } catch (const Error& error) {
    former.changes = {fmt::format("recipe.toml, which says what they were, cannot be read: {}", error.what())};
  }
  if (former.recipe) former.changes = result_changes(*former.recipe, recipe);
  check(former.changes.empty() || options.accept_changes(former.changes),
        "[train] {}: the run was trained with other settings: {}: put them back, allow the change, or name another "
        "folder",
        folder.path(), fmt::join(former.changes, ", "));
  return former;
}

int64_t expected_steps(const Recipe& recipe, int64_t batches_per_epoch) {
  const auto& stop = recipe.stop;
  const int64_t by_epochs = stop.epochs * std::max<int64_t>(batches_per_epoch / recipe.batch.accumulate, 1);
  if (stop.steps > 0 && stop.epochs > 0) return std::min(stop.steps, by_epochs);
  return stop.steps > 0 ? stop.steps : by_epochs;
}

std::string reached_end(const Recipe& recipe, const RunProgress& progress) {
  const auto& stop = recipe.stop;
  if (stop.steps > 0 && progress.step >= stop.steps) return fmt::format("{} steps", progress.step);
  if (stop.epochs > 0 && progress.position.epoch >= stop.epochs) return fmt::format("{} epochs", stop.epochs);
  if (stop.minutes > 0 && progress.seconds >= 60 * stop.minutes)
    return fmt::format("{} steps (stop.minutes is {:g})", progress.step, stop.minutes);
  if (stop.patience > 0 && progress.without_better >= stop.patience)
    return fmt::format("no better score in {} validations", stop.patience);
  return "";
}

void check_not_past(const RunFolder& folder, const Recipe& recipe, const RunProgress& progress) {
  const auto& stop = recipe.stop;
  check(stop.steps == 0 || progress.step <= stop.steps,
        "[train] {}: has done {} steps already, more than stop.steps, which is {}; nothing was changed: raise it, or "
        "set it to {} to finish the run here",
        folder.path(), progress.step, stop.steps, progress.step);
  const int64_t whole = progress.position.epoch;  // epochs that are over
  const bool begun = progress.position.pool > 0 || progress.position.batch > 0;
  check(stop.epochs == 0 || whole < stop.epochs || (whole == stop.epochs && !begun),
        "[train] {}: is in epoch {} already, past stop.epochs, which is {}; nothing was changed: raise it",
        folder.path(), whole + 1, stop.epochs);
}

}  // namespace limpid
