#include "training/shared_dataset.h"

#include "cluster/same_on_all.h"
#include "kernels/instruction_set.h"

namespace limpid {
namespace {

// What has to be the same on all ranks: everything that decides the result but for the processor.
NamedFacts facts_of(const Recipe& recipe, NamedFacts facts) {
  facts.emplace_back("version", LIMPID_VERSION);
  facts.emplace_back("numbers", sizeof(real) == 4 ? "float" : "double");
  for (const auto& [key, value] : recipe_values(recipe))
    if (key != "data.folder") facts.emplace_back(key, value.dump());
  const DatasetRecord record = record_dataset(recipe);
  for (const auto* files : {&record.train, &record.valid})
    for (const FileHash& file : *files) facts.emplace_back("contents of " + file.name, file.hash);
  return facts;
}

}  // namespace

Dataset shared_dataset(const Recipe& recipe, const std::filesystem::path& folder, TrainingObserver& observer,
                       Courier& ranks, const NamedFacts& program) {
  if (ranks.size() > 1) {
    check_same_on_all(ranks, facts_of(recipe, program));
    for (const std::string& text : differences_between_ranks(ranks, {{"instruction set", kernels::instruction_set()}}))
      observer.note(text + ": the bits of the result then depend on which rank has which shard");
  }
  std::optional<Dataset> made;
  if (ranks.first())
    made =
        prepare_dataset(recipe, folder, [&](const std::string& what, double done) { observer.preparing(what, done); });
  ranks.gather("");  // the others wait for it
  return made ? std::move(*made) : open_dataset(recipe, folder);
}

}  // namespace limpid
