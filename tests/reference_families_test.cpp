// Every family against Hugging Face's own code: cases that lie beside the repository, or where
// LIMPID_REFERENCE_FAMILIES points. And docs/models.md is what limpid models prints.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "app/verify_reference.h"
#include "base/file.h"
#include "formats/family_abilities.h"
#include "models/config_steps.h"
#include "models/family_table.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

fs::path cases_folder() {
  const char* named = std::getenv("LIMPID_REFERENCE_FAMILIES");
  return named ? fs::path(named) : fs::path(LIMPID_SOURCE_DIR).parent_path() / "shared" / "reference-families";
}

TEST(ReferenceFamilies, EveryCaseAgrees) {
  if (!fs::exists(cases_folder()))
    GTEST_SKIP() << "no cases at " << cases_folder() << ": set LIMPID_REFERENCE_FAMILIES";
  int64_t cases = 0;
  for (const auto& entry : fs::directory_iterator(cases_folder())) {
    if (!is_reference_case(entry.path())) continue;
    ++cases;
    SCOPED_TRACE(entry.path().filename().string());
    try {
      const CaseReport report = verify_reference(entry.path());
      EXPECT_LE(report.logits.error, kReferenceTolerance) << report.logits.where;
      EXPECT_LE(report.activations.error, kReferenceTolerance) << report.activations.where;
      EXPECT_TRUE(report.passed());
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_GE(cases, std::getenv("LIMPID_REFERENCE_FAMILIES") ? 1 : 68);
}

TEST(FamilyTable, HasEveryModelTypeThatIsRead) {
  std::vector<std::string_view> read = known_model_types(), listed;
  for (const FamilyRow& row : family_table()) listed.push_back(row.model_type);
  std::sort(read.begin(), read.end());
  std::sort(listed.begin(), listed.end());
  EXPECT_EQ(listed, read);
}

TEST(FamilyTable, IsWhatTheDocumentShows) {
  const std::string document = read_text(fs::path(LIMPID_SOURCE_DIR) / "docs" / "models.md");
  EXPECT_NE(document.find(family_markdown(family_abilities)), std::string::npos)
      << "replace the table of docs/models.md by what limpid models --markdown prints";
}

}  // namespace
}  // namespace limpid
