// limpid train: from text files to a model folder.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/command.h"
#include "app/own_text.h"
#include "app/ranks.h"
#include "app/recipe_file.h"
#include "app/run_recorder.h"
#include "app/run_watch.h"
#include "app/terminal.h"
#include "app/training_display.h"
#include "app/version.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "training/trainer.h"
#include "training/update.h"

namespace limpid {
namespace {

std::string command_text(int argc, char** argv) {
  std::string text = "limpid";
  for (int i = 0; i < argc; ++i) text.append(" ").append(argv[i]);
  return text;
}

// What can be done with the model now, as lines to paste.
std::string hints(const Recipe& recipe, const std::string& out) {
  const std::string& limpid = program_name();
  switch (task_of(recipe)) {
    case Task::translation:
      return fmt::format(
          "  echo 'A sentence.' | {0} translate {1}\n  {0} evaluate {1}\n  {0} look {1} heatmap 'A "
          "sentence.' --cross --pattern\n",
          limpid, out);
    case Task::language_model:
      return fmt::format("  {0} complete {1} 'A beginning'\n  {0} look {1} lens 'A beginning'\n", limpid, out);
    case Task::classification: return fmt::format("  echo 'A text.' | {0} classify {1}\n", limpid, out);
    case Task::masked: break;
  }
  return fmt::format("  {0} complete {1} 'A <mask>.'\n  {0} embed {1} FILE\n", limpid, out);
}

// What to write on the command line so that the run goes on for as long again.
std::string later_end(const Recipe& recipe, int64_t steps, bool own_text) {
  const auto& stop = recipe.stop;
  if (own_text && stop.minutes > 0) return fmt::format("--minutes {:g}", 2 * stop.minutes);
  std::string keys = fmt::format("stop.steps={}", 2 * std::max<int64_t>(steps, 1));
  if (stop.epochs > 0) keys += fmt::format(" stop.epochs={}", 2 * stop.epochs);
  if (stop.minutes > 0) keys += fmt::format(" stop.minutes={:g}", 2 * stop.minutes);
  return keys;
}

// Chosen by rank 0, which measures what the machine can do, for all ranks.
Recipe chosen_recipe(const OwnText& text, RunFolder& folder, TrainingObserver& observer, Courier& ranks) {
  const std::string chosen = ranks.first() ? dump_recipe(choose_recipe(text, folder, observer)) : std::string();
  return parse_recipe(ranks.broadcast(chosen), "recipe");
}

}  // namespace

int run_train(int argc, char** argv) {
  CommandLine line(
      "train",
      "Trains a model on text of your own, or by a recipe. Run it again with the same folder and it goes on where it "
      "was.",
      "limpid train --pairs train.en train.fr --minutes 30 --out my-translator\n"
      "         limpid train --text book.txt --minutes 10 --out my-writer\n"
      "         limpid train --labels reviews.tsv --out my-classifier\n"
      "         limpid data copy --out copy\n"
      "         limpid train copy --out my-model");
  std::string recipe_name, out;
  std::vector<std::string> overrides;
  bool dump = false, quiet = false, allow = false, json = false;
  OwnTextOptions own;
  line.add_option("RECIPE", recipe_name, "a recipe's file, or a name (limpid recipes lists them)");
  line.add_option("KEY=VALUE", overrides, "keys of the recipe to override, as in schedule.learning_rate=0.001");
  line.add_option("--out", out, "the folder of the run and its model");
  line.add_flag("--dump-config", dump, "print the effective recipe and do nothing else");
  line.add_flag("--allow-changes", allow,
                "go on although settings that change the result are no longer what the run had");
  line.add_flag("--quiet", quiet, "say only what went wrong");
  WatchOptions watch;
  add_watch_options(line, watch);
  RankOptions rank_options;
  add_rank_options(line, rank_options);
  line.add_flag("--json", json, "print the result as JSON, one object per line");
  own.add_to(line);
  if (const auto code = line.read(argc, argv)) return *code;
  if (recipe_name.empty() && !own.given()) {
    fmt::print(stderr, "limpid train: name a recipe, or give text of your own: --pairs, --text or --labels\n");
    return 2;
  }
  if (dump && own.given()) {
    fmt::print(stderr, "limpid train: with text of your own, limpid plan shows the recipe that is chosen\n");
    return 2;
  }
  if (dump) {
    fmt::print("{}", dump_recipe(open_recipe(recipe_name, overrides)));
    return 0;
  }
  if (out.empty()) {
    fmt::print(stderr, "limpid train: --out is required: the folder of the run and its model\n");
    return 2;
  }
  Courier ranks(join_mpirun(rank_options));
  std::optional<Recipe> named;
  OwnText text;
  together(ranks, [&] {
    if (own.given())
      text = own.text(recipe_name, overrides, ranks.size());
    else
      named = open_recipe(recipe_name, overrides);
  });
  if (named) check_shards(*named, ranks);
  RunFolder folder = ranks.first() ? RunFolder(out) : RunFolder::of_other_process(out);
  using Detail = TrainingDisplay::Detail;
  TrainingDisplay display(!ranks.first() ? Detail::nothing : quiet ? Detail::quiet : Detail::normal);
  watch.watch = watch.watch && ranks.first();
  const RunWatch page(folder.path(), watch);
  const InterruptGuard guard;
  const Recipe recipe = named ? *named : chosen_recipe(text, folder, display, ranks);
  const auto accept = [&](const std::vector<std::string>& changes) {
    check(allow,
          "[train] {}: the run was trained with other settings: {}: put them back, go on with the new ones by "
          "--allow-changes, or name another folder",
          out, fmt::join(changes, ", "));
    display.note(fmt::format("Going on with other settings: {}", fmt::join(changes, ", ")));
    return true;
  };
  TrainingOptions options{.command = command_text(argc, argv),
                          .program = program_facts(),
                          .ranks = &ranks,
                          .interrupted = [] { return interrupted(); },
                          .accept_changes = accept};
  if (ranks.first()) options.validated = run_recorder(folder.path());
  const TrainingResult result = train(recipe, folder, display, options);
  display.clear();
  if (!ranks.first()) return result.interrupted ? 128 + interrupt_signal() : 0;
  if (result.was_finished) {
    fmt::print(
        stderr,
        "This run is finished after {} ({}), the model is in {}; nothing was changed.\nA later end trains on, as "
        "in {}.\n",
        result.why, describe(result.final), out, later_end(recipe, result.steps, own.given()));
    if (json) fmt::print("{}\n", to_json(result, out).dump());
    return 0;
  }
  if (result.interrupted) {
    fmt::print(stderr, "Saved at step {}. The same command goes on from there.\n", result.steps);
    return 128 + interrupt_signal();
  }
  if (json) fmt::print("{}\n", to_json(result, out).dump());
  if (!quiet)
    fmt::print(stderr, "Done after {} in {}: {}.\nThe model is in {}. Try:\n{}", result.why, clock_text(result.seconds),
               describe(result.final), out, hints(recipe, out));
  return 0;
}

}  // namespace limpid
