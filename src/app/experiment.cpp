// limpid experiment: claims about the Transformer, run and judged.

#include <fmt/format.h>
#include <unistd.h>

#include "app/command.h"
#include "app/data_store.h"
#include "app/progress.h"
#include "app/terminal.h"
#include "app/version.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/nearest.h"
#include "experiments/list.h"
#include "experiments/report.h"
#include "experiments/result.h"
#include "experiments/runner.h"
#include "experiments/verdict.h"
#include "inspect/display_text.h"

namespace limpid {
namespace {

struct ExperimentOptions {
  std::vector<std::string> names;
  bool quick = false, tiny = false, contrary = false, planted = false, json = false, quiet = false;
  int64_t seeds = 0;  // 0: as each experiment says, of quick runs one
  bool korean = false;
  std::string out, data, table, record;
  std::vector<std::string> units;

  Size size() const { return tiny ? Size::tiny : quick ? Size::quick : Size::full; }
  ExperimentRun run() const {
    const std::string folder = quick || tiny ? "limpid-experiments-quick" : "limpid-experiments";
    return {.out = out.empty() ? folder : out,
            .size = size(),
            .arm = planted    ? Arm::planted
                   : contrary ? Arm::contrary
                              : Arm::claim,
            .data = data.empty() ? std::filesystem::path() : find_data(data),
            .seeds = seeds,
            .machine = version_text()};
  }
};

std::string state_of(const Experiment& experiment, const ExperimentRun& run) {
  const ExpectedWork work = expected_work(experiment, run);
  if (const auto result = read_result(run.out, experiment, run.arm))
    return fmt::format("{}{}", words_of(judge(*result)).english, is_provisional(*result) ? " (provisional)" : "");
  if (work.units_left == work.units) return "not run";
  return fmt::format("{} of {} units done", work.units - work.units_left, work.units);
}

int list(const ExperimentOptions& options) {
  const ExperimentRun run = options.run();
  const int64_t width = terminal_width(STDOUT_FILENO);
  if (options.json) {
    Json all = Json::array();
    for (const Experiment& experiment : experiments())
      all.push_back({{"number", experiment.number},
                     {"name", experiment.name},
                     {"title", experiment.title.english},
                     {"seconds", expected_work(experiment, run).all},
                     {"state", state_of(experiment, run)}});
    fmt::print("{}\n", all.dump());
    return 0;
  }
  double seconds = 0;
  for (const Experiment& experiment : experiments()) {
    const double each = expected_work(experiment, run).all;
    seconds += each;
    const std::string line = fmt::format("{:<3} {:14} {:>7}  {}  [{}]", experiment.number, experiment.name,
                                         clock_text(each), experiment.title.english, state_of(experiment, run));
    fmt::print("{}\n", wrapped(line, width, 28));
  }
  fmt::print("\nAll together about {}. Run one: {} experiment NAME, or all: {} experiment all; --quick is shorter.\n",
             clock_text(seconds), program_name(), program_name());
  return 0;
}

// What a person reads of one result.
std::string summary(const Experiment& experiment, const Json& result, int64_t width) {
  const Arm arm = arm_of(result);
  std::string text = wrapped(fmt::format("{}. {}{}", experiment.number, experiment.title.english,
                                         arm == Arm::claim ? "" : fmt::format(" ({})", arm_name(arm))),
                             width, 3) +
                     "\n";
  if (arm != Arm::claim)
    text += "   " + wrapped((arm == Arm::contrary ? experiment.contrary : experiment.planted).english, width, 3) + "\n";
  const auto line = [&](const Measure& measure, const char* kind) {
    const Json json = measure_json(measure);
    const PartVerdict part = judge_part(result, json);
    text += "   " +
            wrapped(fmt::format("{} {}: {}, {} {:g}{}{}", part.mark(), measure.meaning.english, spread_text(part),
                                measure.must == Measure::Must::at_least ? "at least" : "at most", measure.threshold,
                                part.seeds > 1 ? fmt::format(", {} of {} seeds", part.passed, part.seeds) : "", kind),
                    width, 5) +
            "\n";
  };
  if (experiment.baseline) line(*experiment.baseline, "  [baseline]");
  for (const Measure& part : experiment.parts) line(part, part.main ? "  [main]" : "");
  return text + fmt::format("   Verdict: {}{} ({})\n", words_of(judge(result)).english,
                            is_provisional(result) ? ", provisional" : "", clock_text(result.at("seconds")));
}

int run_chosen(const ExperimentOptions& options, const std::vector<const Experiment*>& chosen) {
  ExperimentRun run = options.run();
  double total = 0;
  for (const Experiment* experiment : chosen) total += expected_work(*experiment, run).left;
  constexpr double kScale = 1000;  // the bar counts in whole numbers
  Progress progress(std::max<int64_t>(std::llround(total * kScale), 1), options.quiet || options.json);
  const InterruptGuard guard;
  const int64_t width = terminal_width(STDOUT_FILENO);
  run.progress = [&](double done, const std::string& what) {
    progress.update(std::llround(done * kScale), what);
    return !interrupted();
  };
  run.finished = [&](const Experiment& experiment, const Json& result) {
    write_figures(run.out, experiment, result);
    write_report(run.out);
    progress.clear();
    fmt::print("{}\n", options.json ? result.dump() : summary(experiment, result, width));
    std::fflush(stdout);
  };
  try {
    run_experiments(chosen, run);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::cancelled || !interrupted()) throw;
    progress.clear();
    fmt::print(stderr, "Stopped. The same command goes on from there.\n");
    return 128 + interrupt_signal();
  }
  if (!options.json && !options.quiet) fmt::print(stderr, "The report is {}.\n", (run.out / "index.html").string());
  return 0;
}

// {"unit", "seed", "measured"} for each unit asked for and each seed.
int run_units(const ExperimentOptions& options, const std::vector<const Experiment*>& chosen) {
  check(chosen.size() == 1, "[experiment] --unit is for one experiment, not for {}", chosen.size());
  const Experiment& experiment = *chosen[0];
  ExperimentRun run = options.run();
  const InterruptGuard guard;
  run.progress = [](double, const std::string&) { return !interrupted(); };
  const std::vector<std::string> known = units_of(experiment, run);
  for (const std::string& unit : options.units)
    check(std::find(known.begin(), known.end(), unit) != known.end(), "[experiment] {} has no unit \"{}\": {}",
          experiment.name, unit, fmt::join(known, ", "));
  for (const std::string& unit : options.units)
    for (int64_t seed = 1; seed <= seeds_of(experiment, run); ++seed) {
      const Json measured = measure_once(experiment, run, unit, static_cast<uint64_t>(seed));
      fmt::print("{}\n", Json{{"unit", unit}, {"seed", seed}, {"measured", measured}}.dump());
      std::fflush(stdout);
    }
  return 0;
}

}  // namespace

int run_experiment_command(int argc, char** argv) {
  CommandLine line("experiment",
                   "Runs claims about the Transformer as experiments and judges them: numbers over several seeds, "
                   "figures, a verdict, and a report in English and Korean. Without a name it lists them. Run it again "
                   "and it goes on where it was.",
                   "limpid experiment scaling --quick\n         limpid experiment all --out my-experiments");
  ExperimentOptions options;
  line.add_option("NAME", options.names, "names or numbers of experiments, or all");
  line.add_flag("--quick", options.quick, "small sizes and one seed: the verdicts are provisional");
  line.add_flag("--tiny", options.tiny, "sizes for tests: the verdicts mean nothing")->group("");
  line.add_flag("--contrary", options.contrary,
                "with the mechanism disabled: the main part of each experiment must then fail");
  line.add_flag("--planted", options.planted,
                "of those that have one: with an effect planted, by which the main part must pass")
      ->excludes("--contrary");
  line.add_option("--seeds", options.seeds,
                  "how many (default 3 or as many as the experiment asks for; with --quick 1)")
      ->check(CLI::Range(1, 1000));
  line.add_option("--out", options.out, "the folder of results (default limpid-experiments, or …-quick)");
  line.add_option("--data", options.data, "of length: a data set instead of the grammar's sentences")
      ->check(CLI::IsMember({"multi30k"}));
  line.add_option("--unit", options.units,
                  "measure this unit of one experiment anew and print its numbers (every seed; the report names them)");
  line.add_option("--table", options.table, "print the verdicts of this folder as a table in Markdown");
  line.add_flag("--korean", options.korean, "the table in Korean");
  line.add_option("--record", options.record, "copy the results of --out, without their units, into this folder");
  line.add_flag("--json", options.json, "print results as JSON, one object per line");
  line.add_flag("--quiet", options.quiet, "no progress");
  if (const auto code = line.read(argc, argv)) return *code;
  if (!options.table.empty()) {
    fmt::print("{}", markdown_table(options.table, options.korean ? Language::korean : Language::english));
    return 0;
  }
  if (!options.record.empty()) {
    record_results(options.run().out, options.record);
    return 0;
  }
  if (options.names.empty()) return list(options);
  std::vector<const Experiment*> chosen;
  for (const std::string& name : options.names) {
    const Experiment* found = find_experiment(name, options.data);
    if (found) chosen.push_back(found);
    if (!found && name == "all" && options.data.empty())
      for (const Experiment& experiment : experiments())
        if (!options.planted || *experiment.planted.english) chosen.push_back(&experiment);
    check(!found || !options.planted || *found->planted.english, "[experiment] {} has nothing to plant", name);
    check(found || options.data.empty(), "[experiment] --data {} is for length", options.data);
    if (found || name == "all") continue;
    std::vector<std::string_view> names = {"all"};
    for (const Experiment& experiment : experiments()) names.emplace_back(experiment.name);
    const std::string meant = did_you_mean(name, names);
    fmt::print(stderr, "limpid experiment: there is no \"{}\"{} {} experiment lists them.\n", name,
               meant.empty() ? "." : meant, program_name());
    return 2;
  }
  return options.units.empty() ? run_chosen(options, chosen) : run_units(options, chosen);
}

}  // namespace limpid
