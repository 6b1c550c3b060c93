#pragma once
// The report of a whole set: one page that needs nothing else, in English and Korean, drawn from the results alone.

#include <filesystem>
#include <string>

#include "experiments/experiment.h"

namespace limpid {

std::string figure_svg(const Figure& figure);

// NAME/figure-1.svg, …; figure-1.ko.svg, …
void write_figures(const std::filesystem::path& out, const Experiment& experiment, const Json& result);

// OUT/index.html, of all results that the folder holds.
void write_report(const std::filesystem::path& out);

// Claim, verdict, the main number and its spread, what the contrary run gave: a row for every experiment that was run.
std::string markdown_table(const std::filesystem::path& out);

}  // namespace limpid
