// Experiments run live at tiny sizes, where that says something, each with its contrary; and recorded results of all,
// both runs where there are both, are judged.

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/temporary_folder.h"
#include "experiments/list.h"
#include "experiments/report.h"
#include "experiments/result.h"
#include "experiments/runner.h"
#include "experiments/verdict.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

const Experiment& named(const std::string& name) {
  const Experiment* found = find_experiment(name);
  check(found != nullptr, "no experiment {}", name);
  return *found;
}

const Measure& main_part(const Experiment& experiment) {
  for (const Measure& part : experiment.parts)
    if (part.main) return part;
  fail("{} has no main part", experiment.name);
}

Json run_tiny(const Experiment& experiment, const fs::path& out, Arm arm = Arm::claim) {
  return run_experiment(experiment, {.out = out, .size = Size::tiny, .arm = arm, .seeds = 1});
}

class LiveExperiment : public testing::TestWithParam<const char*> {};

TEST_P(LiveExperiment, MainPartPassesAndItsContraryFails) {
  const Experiment& experiment = named(GetParam());
  const TemporaryFolder folder;
  EXPECT_TRUE(judge_main_part(run_tiny(experiment, folder.path())).holds());
  EXPECT_EQ(judge_main_part(run_tiny(experiment, folder.path(), Arm::contrary)).passed, 0);
  write_report(folder.path());
  EXPECT_NE(read_text(folder / "index.html").find(experiment.title.korean), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Claims, LiveExperiment,
                         testing::Values("sequential", "scaling", "order", "sinusoids", "collapse", "mask",
                                         "parameters", "temperature", "superposition"));

TEST(Experiments, AreWellFormed) {
  std::set<std::string> names;
  int before = 0;
  for (const Experiment& experiment : experiments()) {
    EXPECT_TRUE(names.insert(experiment.name).second) << experiment.name;
    EXPECT_GT(experiment.number, before) << experiment.name;
    before = experiment.number;
    int mains = 0;
    std::set<std::string> keys;
    for (const Measure& part : experiment.parts) {
      mains += part.main ? 1 : 0;
      EXPECT_TRUE(keys.insert(part.key).second) << experiment.name << " " << part.key;
    }
    EXPECT_EQ(mains, 1) << experiment.name;
    EXPECT_FALSE(main_part(experiment).timed) << experiment.name;
    for (const Words& words : {experiment.title, experiment.claim, experiment.origin, experiment.method,
                               experiment.reported, experiment.contrary}) {
      EXPECT_GT(std::string(words.english).size(), 5U) << experiment.name;
      EXPECT_GT(std::string(words.korean).size(), 5U) << experiment.name;
    }
    EXPECT_TRUE(experiment.units && experiment.measure && experiment.numbers) << experiment.name;
    EXPECT_GT(experiment.full_seconds, 0) << experiment.name;
    EXPECT_GT(experiment.quick_seconds, 0) << experiment.name;
  }
}

TEST(Experiments, TwoRunsAndAResumedOneGiveTheSameResult) {
  const Experiment& experiment = named("scaling");
  const TemporaryFolder first, second;
  const Json once = run_tiny(experiment, first.path());
  EXPECT_EQ(without_times(once), without_times(run_tiny(experiment, second.path())));
  // Stopped at every moment that it asks, again and again, it comes to the same end.
  const TemporaryFolder third;
  int64_t allowed = 0;
  for (;; ++allowed) {
    int64_t asked = 0;
    try {
      const Json resumed = run_experiment(
          experiment,
          {.out = third.path(), .size = Size::tiny, .seeds = 1, .progress = [&](double, const std::string&) {
             return asked++ < allowed;
           }});
      EXPECT_EQ(without_times(once), without_times(resumed));
      break;
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::cancelled) << error.what();
    }
  }
  EXPECT_GT(allowed, 1);
}

TEST(Experiments, UnitsThatAreDoneAreNotDoneAgain) {
  Experiment experiment = named("scaling");
  const TemporaryFolder folder;
  run_tiny(experiment, folder.path());
  const ExperimentRun run{.out = folder.path(), .size = Size::tiny, .seeds = 1};
  EXPECT_EQ(expected_work(experiment, run).units_left, 0);
  experiment.measure = [](Lab&, const std::string&) -> Json { fail("measured again"); };
  EXPECT_NO_THROW(run_tiny(experiment, folder.path()));
  experiment.revision += 1;  // another method: what was measured before is void
  EXPECT_THROW(run_tiny(experiment, folder.path()), Error);
}

// Results of the whole set at full size, without what units measured (limpid experiment --record).
fs::path records() { return fs::path(LIMPID_SOURCE_DIR) / "tests/experiments"; }

TEST(Experiments, RecordedResultsAreJudgedAsTheyWere) {
  int undecided = 0;
  for (const Experiment& experiment : experiments()) {
    const auto result = read_result(records(), experiment, Arm::claim),
               contrary = read_result(records(), experiment, Arm::contrary),
               planted = read_result(records(), experiment, Arm::planted);
    ASSERT_TRUE(result) << experiment.name << " is not recorded";
    ASSERT_TRUE(contrary) << experiment.name << ": its contrary is not recorded";
    Json parts = Json::array();
    for (const Measure& part : experiment.parts) parts.push_back(measure_json(part));
    for (const auto* one : {&result, &contrary, &planted}) {
      if (!*one) continue;
      EXPECT_EQ((*one)->at("size"), "full") << experiment.name;
      EXPECT_EQ(name_of(judge(**one)), (*one)->at("verdict").get<std::string>()) << experiment.name;
      EXPECT_EQ(parts, (*one)->at("parts")) << experiment.name << ": the thresholds have changed: record it again";
      EXPECT_EQ(experiment.baseline ? measure_json(*experiment.baseline) : Json(), (*one)->at("baseline"));
    }
    undecided += judge(*result) == Verdict::undecided ? 1 : 0;
    const PartVerdict flipped = judge_main_part(*contrary);
    EXPECT_GT(flipped.seeds, 0) << experiment.name;
    EXPECT_LT(2 * flipped.passed, flipped.seeds) << experiment.name << ": its contrary passes";
    if (judge(*result) != Verdict::fails_here) continue;
    ASSERT_TRUE(planted) << experiment.name << " does not hold: would it, with the effect planted?";
    EXPECT_TRUE(judge_main_part(*planted).holds()) << experiment.name;
  }
  EXPECT_LE(undecided, 2);
}

TEST(Experiments, DocumentsShowTheRecordedVerdicts) {
  const std::pair<const char*, Language> documents[] = {{"docs/experiments.md", Language::english},
                                                        {"docs/experiments.ko.md", Language::korean}};
  for (const auto& [document, language] : documents)
    EXPECT_NE(read_text(fs::path(LIMPID_SOURCE_DIR) / document).find(markdown_table(records(), language)),
              std::string::npos)
        << document << ": put in what limpid experiment --table tests/experiments prints (with --korean)";
}

TEST(Experiments, ATableOfVerdictsFollowsFromTheNumbers) {
  const TemporaryFolder folder;
  record_results(records(), folder.path());
  EXPECT_EQ(markdown_table(folder.path(), Language::english), markdown_table(records(), Language::english));
  const fs::path file = folder / "scaling/result.json";
  Json result = Json::parse(read_text(file));
  for (Json& seed : result["seeds"]) seed["numbers"]["slope_error"] = 1;
  write_text(file, result.dump());
  EXPECT_NE(markdown_table(folder.path(), Language::english)
                .find("| 3 | `scaling` | Why scores are divided by √d_k | "
                      "does not hold here |"),
            std::string::npos);
}

}  // namespace
}  // namespace limpid
