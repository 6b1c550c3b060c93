// Scores, words and signatures as sacreBLEU gives them: testdata/sacrebleu_cases.json, made by the script beside it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "scoring/metric.h"
#include "scoring/python_text.h"

namespace limpid {
namespace {

using nlohmann::json;

// Of numbers up to 100: the last bits are the machine's exp and log.
constexpr double kTolerance = 1e-11;

const json& golden() {
  static const json cases =
      read_json(std::filesystem::path(LIMPID_SOURCE_DIR) / "src/scoring/testdata/sacrebleu_cases.json");
  return cases;
}

struct Texts {
  std::vector<std::string> hypotheses;
  std::vector<std::vector<std::string>> references;
  std::vector<std::span<const std::string>> views;

  explicit Texts(const json& value) : hypotheses(value["hypotheses"]), references(value["references"]) {
    for (const auto& reference : references) views.emplace_back(reference);
  }
};

std::string without_version(const std::string& signature) { return signature.substr(0, signature.find("version:")); }

TEST(SacrebleuCases, WordsAndLowerCase) {
  ASSERT_GT(golden()["lines"].size(), 40U);
  for (const json& value : golden()["lines"]) {
    const std::u32string line = code_points(value["line"].get<std::string>());
    EXPECT_EQ(python_lower(line), code_points(value["lower"].get<std::string>())) << value["line"];
    for (const auto& [name, words] : value["words"].items()) {
      std::u32string joined;
      for (const std::u32string& word : bleu_words(line, find_bleu_tokenizer(name).value()))
        joined += (joined.empty() ? U"" : U" ") + word;
      EXPECT_EQ(joined, code_points(words.get<std::string>())) << name << " " << value["line"];
    }
  }
}

TEST(SacrebleuCases, Bleu) {
  ASSERT_GT(golden()["cases"].size(), 15U);
  for (const json& value : golden()["cases"]) {
    const Texts texts(value);
    for (const json& expected : value["bleu"]) {
      SCOPED_TRACE(value["name"].get<std::string>() + " " + expected["signature"].get<std::string>());
      const BleuOptions options{.tokenizer = find_bleu_tokenizer(expected["tokenize"].get<std::string>()).value(),
                                .lowercase = expected["lowercase"]};
      const BleuScore score = bleu(texts.hypotheses, References(texts.views), options);
      EXPECT_NEAR(score.score, expected["score"].get<double>(), kTolerance);
      EXPECT_NEAR(score.brevity_penalty, expected["bp"].get<double>(), kTolerance);
      EXPECT_EQ(score.hypothesis_length, expected["hyp_len"]);
      EXPECT_EQ(score.reference_length, expected["ref_len"]);
      EXPECT_EQ(json(score.matches), expected["counts"]);
      EXPECT_EQ(json(score.totals), expected["totals"]);
      for (size_t n = 0; n < 4; ++n)
        EXPECT_NEAR(score.precisions[n], expected["precisions"][n].get<double>(), kTolerance);
      const std::string own = signature(options, {.references = static_cast<int64_t>(texts.views.size())});
      EXPECT_EQ(without_version(own), without_version(expected["signature"]));
      EXPECT_TRUE(
          expected["line"].get<std::string>().ends_with(fmt::format(" = {:.1f} {}", score.score, details(score))))
          << details(score) << "\n"
          << expected["line"];
    }
  }
}

TEST(SacrebleuCases, Chrf) {
  for (const json& value : golden()["cases"]) {
    const Texts texts(value);
    for (const json& expected : value["chrf"]) {
      SCOPED_TRACE(value["name"].get<std::string>() + " " + expected["signature"].get<std::string>());
      const ChrfOptions options{.word_order = expected["word_order"], .lowercase = expected["lowercase"]};
      EXPECT_NEAR(chrf(texts.hypotheses, References(texts.views), options), expected["score"].get<double>(),
                  kTolerance);
      EXPECT_EQ(name(TextMetric(options)), expected["name"]);
      const std::string own = signature(options, {.references = static_cast<int64_t>(texts.views.size())});
      EXPECT_EQ(without_version(own), without_version(expected["signature"]));
    }
  }
}

}  // namespace
}  // namespace limpid
