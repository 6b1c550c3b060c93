#pragma once
// The report of a whole set: one page that needs nothing else, in English and Korean, drawn from the results alone.

#include <filesystem>
#include <string>

#include "experiments/experiment.h"

namespace limpid {

// Of what the units of a result measured; none where the result was recorded without them, or by other units.
std::vector<Figure> figures_of(const Experiment& experiment, const Json& result, Language language);
std::vector<Table> tables_of(const Experiment& experiment, const Json& result, Language language);
std::string figure_svg(const Figure& figure);

// The commands that repeat a result: the whole, its contrary, and each unit of work alone.
std::vector<std::string> commands_of(const Experiment& experiment, const Json& result);

// NAME/figure-1.svg, …; figure-1.ko.svg, …
void write_figures(const std::filesystem::path& out, const Experiment& experiment, const Json& result);

// OUT/index.html, of all results that the folder holds.
void write_report(const std::filesystem::path& out);

// Claim, verdict, the main number and its spread, what the contrary run gave, processor time: a row for every
// experiment that was run; and below it the parts that failed.
std::string markdown_table(const std::filesystem::path& out, Language language);

// Copies the results of a folder without what their units measured: small enough to be kept with the source.
void record_results(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace limpid
