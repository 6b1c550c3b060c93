// limpid models: which models can be opened.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/command.h"
#include "formats/family_abilities.h"
#include "models/family_table.h"

namespace limpid {

int run_models(int argc, char** argv) {
  CommandLine line("models", "Lists the families of models that can be opened, by the model_type of their config.json.",
                   "limpid models");
  bool markdown = false, json = false;
  line.add_flag("--markdown", markdown, "the table of docs/models.md");
  line.add_flag("--json", json, "print JSON, one object per line");
  if (const auto code = line.read(argc, argv)) return *code;
  if (markdown) {
    fmt::print("{}", family_markdown(family_abilities));
    return 0;
  }
  if (json) {
    for (const FamilyRow& row : family_table())
      fmt::print(
          "{}\n",
          nlohmann::ordered_json{{"model_type", row.model_type}, {"kind", row.kind}, {"models", row.models}}.dump());
    return 0;
  }
  std::string_view kind;
  for (const FamilyRow& row : family_table()) {
    if (row.kind != kind) fmt::print("{}{}s\n", kind.empty() ? "" : "\n", row.kind);
    kind = row.kind;
    fmt::print("  {:12} {}\n", row.model_type, row.models);
  }
  return 0;
}

}  // namespace limpid
