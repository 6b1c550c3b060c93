// limpid train: from text files to a model folder.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/command.h"
#include "app/recipe_file.h"
#include "app/run_watch.h"
#include "app/training_display.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "training/trainer.h"

namespace limpid {
namespace {

std::string command_text(int argc, char** argv) {
  std::string text = "limpid";
  for (int i = 0; i < argc; ++i) text.append(" ").append(argv[i]);
  return text;
}

}  // namespace

int run_train(int argc, char** argv) {
  CommandLine line(
      "train",
      "Trains a model on text files by a recipe. Run it again with the same folder and it goes on where it was.",
      "limpid data copy --out copy && limpid train copy --out my-model");
  std::string recipe_name, out;
  std::vector<std::string> overrides;
  bool dump = false, quiet = false, allow = false;
  line.add_option("RECIPE", recipe_name, "a recipe's file, or the name of one in recipes/")->required();
  line.add_option("KEY=VALUE", overrides, "keys of the recipe to override, as in schedule.learning_rate=0.001");
  line.add_option("--out", out, "the folder of the run and its model");
  line.add_flag("--dump-config", dump, "print the effective recipe and do nothing else");
  line.add_flag("--allow-changes", allow,
                "go on although settings that change the result are no longer what the run had");
  line.add_flag("--quiet", quiet, "say only what went wrong");
  WatchOptions watch;
  add_watch_options(line, watch);
  if (const auto code = line.read(argc, argv)) return *code;

  const Recipe recipe = open_recipe(recipe_name, overrides);
  if (dump) {
    fmt::print("{}", dump_recipe(recipe));
    return 0;
  }
  if (out.empty()) {
    fmt::print(stderr, "limpid train: --out is required: the folder of the run and its model\n");
    return 2;
  }
  RunFolder folder(out);
  TrainingDisplay display(quiet ? TrainingDisplay::Detail::quiet : TrainingDisplay::Detail::normal);
  const RunWatch page(folder.path(), watch);
  const InterruptGuard guard;
  const auto accept = [&](const std::vector<std::string>& changes) {
    check(allow,
          "[train] {}: the run was trained with other settings: {}: put them back, go on with the new ones by "
          "--allow-changes, or name another folder",
          out, fmt::join(changes, ", "));
    display.note(fmt::format("Going on with other settings: {}", fmt::join(changes, ", ")));
    return true;
  };
  const TrainingResult result = train(
      recipe, folder, display,
      {.command = command_text(argc, argv), .interrupted = [] { return interrupted(); }, .accept_changes = accept});
  display.clear();
  if (result.was_finished) {
    fmt::print(
        stderr,
        "This run is finished after {} ({}), the model is in {}; nothing was changed.\nA later end trains on, as "
        "in stop.steps={}.\n",
        result.why, describe(result.final), out, 2 * std::max<int64_t>(result.steps, 1));
    return 0;
  }
  if (result.interrupted) {
    fmt::print(stderr, "Saved at step {}. The same command goes on from there.\n", result.steps);
    return 128 + interrupt_signal();
  }
  if (!quiet)
    fmt::print(stderr, "Done after {} in {}: {}.\nThe model is in {}.\n", result.why, clock_text(result.seconds),
               describe(result.final), out);
  return 0;
}

}  // namespace limpid
