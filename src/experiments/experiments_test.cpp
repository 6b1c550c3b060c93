// Experiments run live at tiny sizes, where that says something, each with its contrary; and recorded results of all,
// both runs where there are both, are judged.

#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "base/temporary_folder.h"
#include "experiments/length_texts.h"
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

// How many sentences a text has; what follows a full stop begins one.
int64_t sentences(const std::string& text, const std::string& next) {
  const std::regex end("\\." + next);
  return std::distance(std::sregex_iterator(text.begin(), text.end(), end), std::sregex_iterator()) + 1;
}

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
    EXPECT_EQ(sentences(experiment.method.english, " [A-Z]"), 5) << experiment.name;
    EXPECT_EQ(sentences(experiment.method.korean, " "), 5) << experiment.name;
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
    for (const auto& [one, arm] :
         {std::pair(&result, Arm::claim), {&contrary, Arm::contrary}, {&planted, Arm::planted}}) {
      if (!*one) continue;
      EXPECT_EQ((*one)->at("arm"), arm_name(arm)) << experiment.name;
      EXPECT_EQ((*one)->at("counted"), experiment.counted) << experiment.name;
      EXPECT_FALSE(is_provisional(**one)) << experiment.name;
      EXPECT_EQ((*one)->at("size"), "full") << experiment.name;
      EXPECT_EQ(name_of(judge(**one)), (*one)->at("verdict").get<std::string>()) << experiment.name;
      EXPECT_EQ(parts, (*one)->at("parts")) << experiment.name << ": the thresholds have changed: record it again";
      EXPECT_EQ(experiment.baseline ? measure_json(*experiment.baseline) : Json(), (*one)->at("baseline"));
    }
    for (const Measure& part : experiment.parts) {
      const PartVerdict verdict = judge_part(*result, measure_json(part));
      if (verdict.seeds == 0 || verdict.holds()) continue;
      for (const Language language : {Language::english, Language::korean})
        EXPECT_GT(std::string(part.otherwise.in(language)).size(), 20U)
            << experiment.name << " " << part.key << " failed: what does it mean? (explanations.cpp)";
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

// What --record leaves out is not drawn, and the rest is: a report, and a run into such a folder.
TEST(Experiments, RecordedResultsAreAReportWithoutDrawings) {
  const TemporaryFolder folder;
  record_results(records(), folder.path());
  for (const Experiment& experiment : experiments()) {
    const auto result = read_result(folder.path(), experiment, Arm::claim);
    ASSERT_TRUE(result) << experiment.name;
    EXPECT_TRUE(figures_of(experiment, *result, Language::english).empty());
    EXPECT_TRUE(tables_of(experiment, *result, Language::korean).empty());
    EXPECT_FALSE(commands_of(experiment, *result).empty());
  }
  Json other = *read_result(folder.path(), named("scaling"), Arm::claim);
  for (Json& seed : other["seeds"]) seed["units"] = {{"another unit", 1}};
  EXPECT_TRUE(figures_of(named("scaling"), other, Language::english).empty());
  write_report(folder.path());
  EXPECT_NE(read_text(folder / "index.html").find(named("mask").title.korean), std::string::npos);
}

TEST(Experiments, DamagedResultsAreErrorsAndThoseOfAnotherRevisionNone) {
  const TemporaryFolder folder;
  const Experiment& experiment = named("parameters");
  const Json whole = run_tiny(experiment, folder.path());
  const fs::path file = folder / "parameters/result.json";
  EXPECT_TRUE(read_result(folder.path(), experiment, Arm::claim));
  const auto read = [&](const Json& json) {
    write_text(file, json.dump());
    return read_result(folder.path(), experiment, Arm::claim).has_value();
  };
  for (const char* key : {"size", "counted", "parts", "baseline", "seeds", "seconds", "version"}) {
    Json damaged = whole;
    damaged[key] = key == std::string("baseline") ? Json(1) : Json();
    EXPECT_THROW(read(damaged), Error) << key;
  }
  Json without_number = whole;
  without_number["seeds"][0]["numbers"] = 3;
  EXPECT_THROW(read(without_number), Error);
  write_text(file, R"({"revision": )");
  EXPECT_THROW(read_result(folder.path(), experiment, Arm::claim), Error);
  Json older = whole;
  older["revision"] = experiment.revision - 1;
  EXPECT_FALSE(read(older));
  EXPECT_NO_THROW(run_tiny(experiment, folder.path()));  // another run mends it
  EXPECT_TRUE(read_result(folder.path(), experiment, Arm::claim));
}

// Models of a contrary run that take the place of others are models of their own: their difference is noise, not zero.
TEST(Experiments, WhatStandsInForAModelIsAnotherModel) {
  const TemporaryFolder folder;
  const Json contrary = run_tiny(named("collapse"), folder.path(), Arm::contrary);
  const double gap = contrary.at("seeds").at(0).at("numbers").at("loss_gap");
  EXPECT_NE(gap, 0);
  EXPECT_LT(std::abs(gap), 0.5);
}

TEST(LengthTexts, NewTextsAreNotAmongThoseTrained) {
  const TemporaryFolder folder;
  const LengthTexts texts = joined_texts(Lab({.folder = folder.path(), .size = Size::tiny}));
  texts.corpus.write(folder.path());
  std::set<std::string> known;
  std::istringstream lines(read_text(folder / "train.source"));
  for (std::string line; std::getline(lines, line);) known.insert(line);
  EXPECT_GT(known.size(), 150U);
  for (size_t group = 0; group + 1 < texts.edges.size(); ++group)
    for (const std::string& source : texts.group(group, 40).sources)
      EXPECT_TRUE(known.insert(source).second) << "group " << group << ": " << source;
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
