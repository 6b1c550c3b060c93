#include "app/evaluate_texts.h"

#include "base/error.h"
#include "text/line_reader.h"

namespace limpid {
namespace {

std::vector<std::string> read_lines(const std::filesystem::path& path) {
  std::vector<std::string> lines;
  LineReader reader(path);
  while (const auto line = reader.next()) lines.emplace_back(*line);
  check(!lines.empty(), "[evaluate] {}: has no lines: give a text with one sentence per line", path);
  return lines;
}

void check_same_length(const std::filesystem::path& path, size_t lines, const std::filesystem::path& reference_path,
                       size_t reference_lines) {
  check(
      lines == reference_lines,
      "[evaluate] {} has {} lines and {} has {}: line n of one must translate line n of the other; is one of them cut "
      "off, or of another text?",
      path, lines, reference_path, reference_lines);
}

}  // namespace

int evaluate_texts(const EvaluateTextsOptions& options) {
  check(!options.references.empty(), "[evaluate] there is no reference: give one with --reference");
  std::vector<ScoredSystem> systems = {{.name = options.hypothesis.string(), .lines = read_lines(options.hypothesis)}};
  if (!options.system_b.empty())
    systems.push_back({.name = options.system_b.string(), .lines = read_lines(options.system_b)});
  std::vector<std::vector<std::string>> references;
  for (const auto& path : options.references) {
    references.push_back(read_lines(path));
    for (const ScoredSystem& system : systems)
      check_same_length(system.name, system.lines.size(), path, references.back().size());
  }
  print_scores(systems, references, options.scores);
  return 0;
}

}  // namespace limpid
