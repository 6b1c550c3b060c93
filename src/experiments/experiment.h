#pragma once
// Experiment: one claim about the Transformer as something that can be run and judged. What is measured, the thresholds
// and what the baseline must have learned stand in the source before anything runs; the verdict follows from the
// numbers alone (experiments/verdict.h). Each has a file of its own with texts, work, figures and tables, and gives
// itself by a function that experiments/list.h names.

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "inspect/chart.h"

namespace limpid {

using Json = nlohmann::ordered_json;

enum class Language { english, korean };

struct Words {
  const char* english = "";
  const char* korean = "";
  const char* in(Language language) const { return language == Language::korean ? korean : english; }
};

// A number of every seed and what it must be.
struct Measure {
  enum class Must { at_least, at_most };
  const char* key;  // among the numbers of a seed
  Words meaning;
  Must must = Must::at_least;
  double threshold = 0;
  bool main = false;
  bool timed = false;    // a speed of this machine: two runs differ in it
  Words otherwise = {};  // what it means where the part fails, for the report
};

// Full size is what verdicts rest on, quick gives provisional ones, tiny is for tests.
enum class Size { full, quick, tiny };

// The run that judges a claim; the contrary one, with the mechanism disabled, whose main part must fail; and, where the
// main part fails anyway, one with an effect planted, in which it must pass: or the experiment would say no to
// anything.
enum class Arm { claim, contrary, planted };

// What one unit of work is given. A unit is a variant of an experiment at one seed; its numbers are kept on disk, so
// that a run that was killed goes on with the next one.
class Lab;

struct Figure {
  Chart chart;
  std::string svg = {};  // instead of the chart
  std::string caption = {};
};

struct Table {
  std::string caption;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

struct Experiment {
  int number = 0;
  const char* name = "";
  const char* data = "";  // a data set that it needs and limpid get brings; such experiments are no part of `all`
  Words title;
  Words claim;                 // in our own words
  Words origin;                // by title: paper, lecture, textbook
  Words method;                // some five sentences
  Words reported;              // what the paper or the field reports
  Words contrary;              // what --contrary disables; the main part must then fail
  Words planted = {};          // what --planted plants, where there is something to plant; the main part must then pass
  std::vector<Measure> parts;  // exactly one is the main part
  std::optional<Measure> baseline = {};
  bool counted = false;  // exact: every seed would give the same numbers, one is enough
  int64_t seeds = 3;     // at full size; more where seeds differ by as much as what is asked
  // Processor time as it was measured, of all seeds at full size and of one at quick size; models that an earlier
  // experiment has trained are not counted again.
  double full_seconds = 0, quick_seconds = 0;
  int revision = 1;  // another one makes kept numbers void

  // The units of one seed, by name, cheapest to explain first.
  std::function<std::vector<std::string>(const Lab& lab)> units;
  // The work: numbers of one unit, a pure function of lab.seed(), lab.size(), its arm and the name. Speeds and times
  // stand under keys "timed", which comparisons leave out.
  std::function<Json(Lab& lab, const std::string& unit)> measure;
  // From {unit: its numbers} of one seed to {key: number} for the parts and the baseline.
  std::function<Json(const Json& units)> numbers;
  // Of a whole result (experiments/result.h).
  std::function<std::vector<Figure>(const Json& result, Language language)> figures = {};
  std::function<std::vector<Table>(const Json& result, Language language)> tables = {};
};

}  // namespace limpid
