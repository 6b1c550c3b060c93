#include "app/own_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "app/terminal.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "inspect/display_text.h"
#include "models/parameter_table.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

// An option that takes one or more files also catches the overrides that stand behind them.
std::vector<std::string> without_overrides(const std::vector<std::string>& names, std::vector<std::string>& overrides) {
  std::vector<std::string> files;
  std::error_code none;
  for (const std::string& name : names)
    (name.find('=') != std::string::npos && !fs::exists(name, none) ? overrides : files).push_back(name);
  return files;
}

bool same_files(const std::vector<std::string>& kept, const std::vector<std::string>& asked) {
  return std::equal(kept.begin(), kept.end(), asked.begin(), asked.end(), [](const auto& a, const auto& b) {
    return fs::absolute(a).lexically_normal() == fs::absolute(b).lexically_normal();
  });
}

// The option that says something else of the text than the recipe that was chosen for it; empty: none does.
std::string chosen_otherwise(const Recipe& recipe, const OwnText& text) {
  if (recipe.data.labels != (text.kind == OwnText::Kind::labels)) return recipe.data.labels ? "--pairs" : "--labels";
  if (!text.unit.empty() && recipe.data.unit != text.unit) return "--" + text.unit;
  if (text.characters && recipe.tokenizer.kind != "characters") return "--chars";
  if (!text.valid.empty() && !same_files(recipe.data.valid, text.valid)) return "--valid " + text.valid[0];
  if (!text.test.empty() && !same_files(recipe.data.test, text.test)) return "--test " + text.test[0];
  if (!text.from.empty() && (recipe.start_from.empty() || !same_files({recipe.start_from}, {text.from})))
    return "--from " + text.from;
  return "";
}

// Another --minutes than before: as many more updates, or fewer, and the schedule is stretched over them.
Recipe with_new_time(Recipe recipe, const OwnText& text, TrainingObserver& observer) {
  const double before = recipe.stop.minutes;
  if (!text.minutes_given || text.minutes == before) return recipe;
  check(before > 0, "[train] --minutes: the run ends after {} steps, as was asked for: give stop.steps=… instead",
        recipe.stop.steps);
  const double factor = text.minutes / before;
  recipe.stop.minutes = text.minutes;
  if (recipe.stop.steps > 0)
    recipe.stop.steps = std::max<int64_t>(std::llround(static_cast<double>(recipe.stop.steps) * factor), 1);
  recipe = with_overrides(recipe, text.overrides);
  observer.note(fmt::format("{:g} minutes instead of {:g}: {} updates.", recipe.stop.minutes, before,
                            with_separators(recipe.stop.steps)));
  return recipe;
}

}  // namespace

void OwnTextOptions::add_to(CommandLine& line) {
  const std::string group = "Text of your own, instead of a recipe";
  line.add_option("--pairs", pairs_, "two line-aligned files, or one TSV: learn to translate the first into the second")
      ->expected(1, 4)
      ->group(group);
  line.add_option("--text", texts_, "text files: learn to write like them")->expected(1, 4096)->group(group);
  line.add_option("--labels", labels_, "a TSV of labels and texts: learn to label texts")->group(group);
  line.add_option("--valid", valid_, "files to validate on (default: a part of the text is held out)")
      ->expected(1, 16)
      ->group(group);
  line.add_option("--test", test_, "files for limpid evaluate")->expected(1, 16)->group(group);
  line.add_option("--from", from_, "a model folder to go on from, with its vocabulary")->group(group);
  minutes_option_ = line.add_option("--minutes", minutes_, "time to train; model and schedule are chosen for it")
                        ->check(CLI::Range(0.05, 100000.0))
                        ->capture_default_str()
                        ->group(group);
  line.add_flag("--lines", lines_, "of --text: every line is an example of its own")->group(group);
  line.add_flag("--stream", stream_, "of --text: one long text")->group(group);
  line.add_flag("--chars", characters_, "of --text: letter by letter")->group(group);
}

OwnText OwnTextOptions::text(const std::string& recipe_name, std::vector<std::string> overrides, int ranks) const {
  OwnText text;
  check((!pairs_.empty()) + (!texts_.empty()) + (!labels_.empty()) == 1,
        "[train] --pairs, --text and --labels are three different tasks: give one of them");
  check(!(lines_ && stream_), "[train] --lines and --stream contradict each other: give one of them");
  check(!texts_.empty() || !(lines_ || stream_ || characters_),
        "[train] {} says how --text is read: leave it out, or give the text by --text",
        lines_    ? "--lines"
        : stream_ ? "--stream"
                  : "--chars");
  if (recipe_name.find('=') != std::string::npos)
    overrides.insert(overrides.begin(), recipe_name);
  else
    check(recipe_name.empty(), "[train] {} is a recipe or a stray word: give a recipe, or text of your own, not both",
          recipe_name);
  if (!pairs_.empty()) {
    text.kind = OwnText::Kind::pairs;
    text.files = without_overrides(pairs_, overrides);
    check(text.files.size() == 1 || text.files.size() == 2,
          "[train] --pairs takes two line-aligned files or one TSV, not {} files", text.files.size());
  } else if (!texts_.empty()) {
    text.kind = OwnText::Kind::text;
    text.files = without_overrides(texts_, overrides);
  } else {
    text.kind = OwnText::Kind::labels;
    text.files = {labels_};
  }
  text.valid = without_overrides(valid_, overrides);
  text.test = without_overrides(test_, overrides);
  text.unit = lines_ ? "lines" : stream_ ? "stream" : "";
  text.characters = characters_;
  text.from = from_;
  text.minutes = minutes_;
  text.minutes_given = minutes_option_->count() > 0;
  text.ranks = ranks;
  text.overrides = std::move(overrides);
  return text;
}

ChosenRecipe choose_anew(const OwnText& text, const fs::path& folder, TrainingObserver& observer) {
  const TextSurvey survey =
      survey_text(corpus_files(text), [&](double done) { observer.preparing("looking at the text", done); });
  const ChosenRecipe data = choose_data(text, survey);
  check_model(data.recipe);
  const Dataset dataset = prepare_dataset(
      data.recipe, folder, [&](const std::string& what, double done) { observer.preparing(what, done); });
  observer.preparing("measuring this machine", 0.5);
  ChosenRecipe chosen = choose_model(data, text, dataset, [&](const Recipe& recipe, double seconds) {
    return time_steps(recipe, dataset, seconds, [] { return interrupted(); });
  });
  check_model(chosen.recipe);
  return chosen;
}

Recipe choose_recipe(const OwnText& text, RunFolder& folder, TrainingObserver& observer) {
  const fs::path kept = folder.path() / "recipe.toml";
  std::error_code none;
  if (fs::exists(kept, none)) {
    const Recipe recipe = load_recipe(kept, text.overrides);
    check(same_files(recipe.data.train, text.files), "[train] {}: holds a run on other text ({}): name another folder",
          folder.path(), [&] { return fmt::format("{}", fmt::join(recipe.data.train, ", ")); });
    if (const std::string other = chosen_otherwise(recipe, text); !other.empty())
      fail("[train] {}: the run was begun without {}: leave it out, or name another folder", folder.path().string(),
           other);
    observer.note(fmt::format("Going on by the recipe that was chosen before: {}", kept.string()));
    return with_new_time(recipe, text, observer);
  }
  fs::remove_all(folder.path() / "data", none);  // of a choice that was never finished
  const ChosenRecipe chosen = choose_anew(text, folder.path(), observer);
  write_text(kept, dump_recipe(chosen.recipe));
  observer.note(describe(chosen.decisions) +
                fmt::format("The recipe is in {}; any key of it can be given as KEY=VALUE.\n", kept.string()));
  return chosen.recipe;
}

std::string describe(const std::vector<Decision>& decisions) {
  constexpr int64_t kFirst = 10, kGap = 2;
  const int64_t width = terminal_width(STDERR_FILENO);
  std::string text;
  for (const Decision& decision : decisions) {
    const std::string head = pad_right(decision.what, kFirst);
    if (!decision.choice.empty()) text += head + wrapped(decision.choice, width, kFirst) + '\n';
    text += std::string(kFirst + kGap, ' ') + wrapped(decision.why, width, kFirst + kGap) + '\n';
  }
  return text;
}

}  // namespace limpid
