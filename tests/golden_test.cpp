// Golden cases: our numbers are those of PyTorch, in tests/golden and wherever LIMPID_REFERENCE points; and a case that
// is wrong or broken does not pass.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>

#include "app/verify_case.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/temporary_folder.h"
#include "formats/safetensors.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

const fs::path kGolden = fs::path(LIMPID_SOURCE_DIR) / "tests" / "golden";

// Cases that others made: LIMPID_REFERENCE, or a folder beside the repository.
std::string named_reference() {
  const char* named = std::getenv("LIMPID_REFERENCE");
  return named ? named : "";
}

fs::path reference_folder() {
  const std::string named = named_reference();
  return named.empty() ? fs::path(LIMPID_SOURCE_DIR).parent_path() / "shared" / "reference" : fs::path(named);
}

std::vector<fs::path> cases_in(const fs::path& folder) {
  std::vector<fs::path> cases;
  std::error_code none;  // a folder that is not there holds no cases
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (fs::exists(entry.path() / "config.json")) cases.push_back(entry.path());
  std::sort(cases.begin(), cases.end());
  return cases;
}

std::string test_name(const testing::TestParamInfo<fs::path>& info) {
  std::string name = info.param.filename().string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

bool passes(const fs::path& folder) { return verify_case(folder).passed(); }

// ---- the cases

class Case : public testing::TestWithParam<fs::path> {};

TEST_P(Case, AgreesWithPyTorch) {
  const CaseReport report = verify_case(GetParam());
  const Tolerances allowed;
  const auto expect_within = [](const char* what, const LargestError& e, double tolerance) {
    EXPECT_GT(e.compared, 0) << what;
    EXPECT_LE(e.error, tolerance) << what << ": " << e.where;
  };
  expect_within("logits", report.logits, allowed.values);
  expect_within("loss", report.loss, allowed.values);
  expect_within("gradients", report.gradients, allowed.gradients);
  expect_within("ten steps", report.adam, allowed.values);
  EXPECT_LE(report.activations.error, allowed.values) << report.activations.where;
  EXPECT_TRUE(report.passed());
}

INSTANTIATE_TEST_SUITE_P(Golden, Case, testing::ValuesIn(cases_in(kGolden)), test_name);
INSTANTIATE_TEST_SUITE_P(Reference, Case, testing::ValuesIn(cases_in(reference_folder())), test_name);

TEST(Reference, HasCases) {
  if (!cases_in(reference_folder()).empty()) return;
  ASSERT_EQ(named_reference(), "") << "LIMPID_REFERENCE names a folder without cases";
  GTEST_SKIP() << "no cases of others in " << reference_folder()
               << ": LIMPID_REFERENCE can name a folder that has some";
}

// ---- what the golden cases promise

std::vector<size_t> lengths(const json& rows) {
  std::vector<size_t> result;
  for (const json& row : rows) result.push_back(row.size());
  return result;
}

TEST(GoldenCases, HaveSequencesOfDifferentLengthsInNoOrder) {
  for (const fs::path& folder : cases_in(kGolden)) {
    const json batch = read_json(folder / "batch.json");
    const size_t least = batch.size() == 1 ? 2 : 1;  // a language model reads one token less than its text has
    for (const char* key : {"tokens", "source", "target"}) {
      if (!batch.contains(key)) continue;
      const std::vector<size_t> all = lengths(batch[key]);
      EXPECT_THAT(all, testing::Contains(least)) << folder << key;
      EXPECT_FALSE(std::is_sorted(all.begin(), all.end())) << folder << key;
      EXPECT_FALSE(std::is_sorted(all.rbegin(), all.rend())) << folder << key;
    }
  }
}

TEST(GoldenCases, StaySmall) {
  uintmax_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kGolden))
    if (entry.is_regular_file()) bytes += entry.file_size();
  EXPECT_LT(bytes, uintmax_t{1'250'000});
}

// ---- cases that were tampered with

class Tampered : public testing::Test {
 protected:
  // A copy of a golden case.
  fs::path copy(const std::string& name) {
    const fs::path to = folder_ / (name + std::to_string(copies_++));
    fs::copy(kGolden / name, to);
    return to;
  }

  TemporaryFolder folder_;
  int copies_ = 0;
};

// Without write_text's wait for the disk.
void write_file(const fs::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

void change_json(const fs::path& path, const std::function<void(json&)>& change) {
  json value = read_json(path);
  change(value);
  write_file(path, value.dump());
}

std::vector<float> numbers_of(const SafetensorsEntry& entry) {
  std::vector<float> numbers(static_cast<size_t>(entry.count()));
  std::memcpy(numbers.data(), entry.bytes.data(), entry.bytes.size());
  return numbers;
}

// Changes numbers of a tensor in a safetensors file of float32.
void change_numbers(const fs::path& path, const std::string& name,
                    const std::function<void(std::vector<float>&)>& change) {
  std::string file = read_text(path);
  const auto bytes = std::as_bytes(std::span(file));
  const SafetensorsContents contents = parse_safetensors(bytes, "[test]");
  for (const SafetensorsEntry& entry : contents.entries) {
    if (entry.name != name) continue;
    std::vector<float> numbers = numbers_of(entry);
    change(numbers);
    std::memcpy(file.data() + (entry.bytes.data() - bytes.data()), numbers.data(), entry.bytes.size());
    return write_file(path, file);
  }
  FAIL() << path << " has no " << name;
}

// Moves the first number by a ten-thousandth of the largest: twice what gradients may be off, twenty times what others
// may.
void nudge(std::vector<float>& numbers) {
  float largest = 0;
  for (const float x : numbers) largest = std::max(largest, std::abs(x));
  numbers[0] += 1e-4F * largest;
}

void put_nan(std::vector<float>& numbers) { numbers[0] = std::numeric_limits<float>::quiet_NaN(); }

constexpr const char* kKinds[] = {"logits", "loss", "losses", "act.encoder.0.self_attn.pattern",
                                  "grad.model.decoder.layers.0.fc1.weight"};

TEST_F(Tampered, AnUntouchedCopyPasses) { EXPECT_TRUE(passes(copy("marian"))); }

TEST_F(Tampered, OneWrongNumberOfAnyKindFails) {
  for (const char* name : kKinds) {
    const fs::path folder = copy("marian");
    change_numbers(folder / "expected.safetensors", name, nudge);
    const CaseReport report = verify_case(folder);
    EXPECT_FALSE(report.passed()) << name;
    const auto off = [](const LargestError& e) { return e.error > Tolerances().gradients; };
    EXPECT_EQ(off(report.logits), name == std::string("logits"));
    EXPECT_EQ(off(report.loss), name == std::string("loss"));
    EXPECT_EQ(off(report.adam), name == std::string("losses"));
    EXPECT_EQ(off(report.activations), std::string(name).starts_with("act."));
    EXPECT_EQ(off(report.gradients), std::string(name).starts_with("grad."));
  }
}

TEST_F(Tampered, NotANumberFailsWhereverItStands) {
  for (const char* name : kKinds) {
    const fs::path folder = copy("marian");
    change_numbers(folder / "expected.safetensors", name, put_nan);
    EXPECT_FALSE(passes(folder)) << name;
  }
  const fs::path folder = copy("marian");  // computed by us, and so in every number
  change_numbers(folder / "model.safetensors", "final_logits_bias", put_nan);
  EXPECT_FALSE(passes(folder));
}

TEST_F(Tampered, OneWrongWeightFails) {
  const fs::path folder = copy("lstm");
  change_numbers(folder / "model.safetensors", "encoder.rnn.weight_hh_l1", [](auto& numbers) { numbers[7] += 0.01F; });
  EXPECT_FALSE(passes(folder));
}

TEST_F(Tampered, AnActivationThatTheModelDoesNotShowFails) {
  const fs::path folder = copy("gpt2");
  std::string file = read_text(folder / "expected.safetensors");
  const std::string name = "\"act.blocks.1.attn.q\"";
  file.replace(file.find(name), name.size(), "\"act.blocks.7.attn.q\"");
  write_file(folder / "expected.safetensors", file);
  const CaseReport report = verify_case(folder);
  EXPECT_FALSE(report.passed());
  EXPECT_EQ(report.activations.where, "act.blocks.7.attn.q");
}

// Every key of the object "limpid" changes the numbers, so the cases would notice a variant that is not computed.
TEST_F(Tampered, WithoutAKeyOfItsVariantACaseFails) {
  for (const fs::path& golden : cases_in(kGolden)) {
    const json variant = read_json(golden / "config.json").value("limpid", json::object());
    for (const auto& [key, value] : variant.items()) {
      const fs::path folder = copy(golden.filename().string());
      change_json(folder / "config.json", [&, &k = key](json& c) { c["limpid"].erase(k); });
      try {
        EXPECT_FALSE(passes(folder)) << golden << ": " << key;
      } catch (const Error&) {  // the plain family has weights that the variant has not
      }
    }
  }
}

// Likewise each key of a mechanism, changed to another value.
TEST_F(Tampered, WithAnotherMechanismACaseFails) {
  const struct {
    const char* name;
    json keys;
  } changes[] = {{"mistral", {{"sliding_window", 3}}},
                 {"qwen2-window", {{"max_window_layers", 2}}},
                 {"gemma2", {{"sliding_window", 3}}},
                 {"gemma2", {{"attn_logit_softcapping", nullptr}}},
                 {"gemma2", {{"final_logit_softcapping", nullptr}}},
                 {"gemma2", {{"query_pre_attn_scalar", 6}}},
                 {"gemma3", {{"rope_local_base_freq", 100.0}}},
                 {"gemma3", {{"rope_scaling", nullptr}}},
                 {"gemma3", {{"layer_types", {"full_attention", "full_attention"}}}},
                 {"llama-rope-linear", {{"rope_scaling", nullptr}}},
                 {"llama-rope-dynamic", {{"rope_scaling", nullptr}}},
                 {"llama-rope-llama3", {{"rope_scaling", nullptr}}},
                 {"llama-rope-yarn", {{"rope_scaling", nullptr}}},
                 {"phi3-longrope", {{"original_max_position_embeddings", 4}}},
                 {"phi3-longrope", {{"max_position_embeddings", 16}}},
                 {"smollm3", {{"no_rope_layers", {1, 1}}}},
                 {"granite", {{"embedding_multiplier", 1.0}}},
                 {"granite", {{"attention_multiplier", 0.5}}},
                 {"granite", {{"residual_multiplier", 1.0}}},
                 {"granite", {{"logits_scaling", 1.0}}},
                 {"cohere", {{"logit_scale", 0.25}}},
                 {"mixtral", {{"num_experts_per_tok", 1}}},
                 {"qwen2-experts", {{"norm_topk_prob", true}}},
                 {"gpt-neox", {{"use_parallel_residual", false}}},
                 {"gpt-neox", {{"rotary_pct", 1.0}}},
                 {"t5", {{"relative_attention_max_distance", 5}}}};
  for (const auto& change : changes) {
    const fs::path folder = copy(change.name);
    change_json(folder / "config.json", [&](json& config) { config.merge_patch(change.keys); });
    EXPECT_FALSE(passes(folder)) << change.name << ": " << change.keys;
  }
}

// ---- labels of a masked language model

TEST_F(Tampered, TokensWithoutALabelAreNotScored) {
  const json labels = read_json(kGolden / "bert" / "batch.json")["labels"];
  int64_t scored = 0, unscored = 0, silent_rows = 0;
  for (const auto& row : labels.get<std::vector<std::vector<int>>>()) {
    const auto without = std::count(row.begin(), row.end(), -1);
    unscored += without;
    scored += static_cast<int64_t>(row.size()) - without;
    silent_rows += without == static_cast<int64_t>(row.size());
  }
  EXPECT_GT(unscored, 0);
  EXPECT_GT(silent_rows, 0);  // a sequence that nothing is asked of
  EXPECT_EQ(SafetensorsFile(kGolden / "bert" / "expected.safetensors").get("logits").shape[0], scored);

  const fs::path folder = copy("bert");
  change_json(folder / "batch.json", [](json& batch) { batch["labels"][3][0] = 5; });
  EXPECT_FALSE(passes(folder));
}

// ---- cases that cannot be read

std::string error_of(const fs::path& folder) {
  try {
    verify_case(folder);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_F(Tampered, AMissingFileIsNamed) {
  for (const char* name : {"config.json", "model.safetensors", "batch.json", "expected.safetensors"}) {
    const fs::path folder = copy("gru");
    fs::remove(folder / name);
    EXPECT_THAT(error_of(folder), AllOf(HasSubstr(folder.string()), HasSubstr(name)));
  }
  EXPECT_THAT(error_of(folder_ / "nowhere"), HasSubstr("nowhere"));
}

TEST_F(Tampered, AMissingGradientIsNamed) {
  const fs::path folder = copy("gpt2");
  std::string file = read_text(folder / "expected.safetensors");
  file.replace(file.find("grad.wte.weight"), 4, "drag");
  write_file(folder / "expected.safetensors", file);
  EXPECT_THAT(error_of(folder), HasSubstr("grad.wte.weight"));
}

TEST_F(Tampered, ABrokenBatchIsExplained) {
  const auto error_with = [&](const std::string& name, const std::string& batch) {
    const fs::path folder = copy(name);
    write_file(folder / "batch.json", batch);
    return error_of(folder);
  };
  EXPECT_THAT(error_with("gpt2", R"({"tokens": [[1, 2], [3)"), HasSubstr("batch.json:1:"));
  EXPECT_THAT(error_with("gpt2", R"({"source": [[1, 2]]})"), AllOf(HasSubstr("batch.json"), HasSubstr("tokens")));
  EXPECT_THAT(error_with("gpt2", R"([[1, 2]])"), AllOf(HasSubstr("batch.json"), HasSubstr("tokens")));
  EXPECT_THAT(error_with("gpt2", R"({"tokens": [1, 2]})"), HasSubstr("list of lists"));
  EXPECT_THAT(error_with("gpt2", R"({"tokens": [["one", "two"]]})"), HasSubstr("list of lists"));
  EXPECT_THAT(error_with("gpt2", R"({"tokens": [[1]]})"), HasSubstr("it takes two"));
  EXPECT_THAT(error_with("gpt2", R"({"tokens": [[1, 17, 2]]})"), HasSubstr("17"));
  EXPECT_THAT(error_with("gpt2", R"({"tokens": [[-1, 2]]})"), HasSubstr("-1"));
  EXPECT_THAT(error_with("gpt2", R"({"tokens": [[1, 2, 17]]})"), HasSubstr("17"));
  EXPECT_THAT(error_with("gpt2", R"({"tokens": [[1, 1, 1, 1, 1, 1, 1, 1, 1, 1]]})"), HasSubstr("8 positions"));
  EXPECT_THAT(error_with("gru", R"({"source": [[1], [2]], "target": [[1]]})"), HasSubstr("2 sources for 1 targets"));
  EXPECT_THAT(error_with("gru", R"({"source": [[1]], "target": [[]]})"), HasSubstr("empty target"));
  EXPECT_THAT(error_with("bert", R"({"tokens": [[1, 2]], "labels": [[1]]})"), HasSubstr("1 labels for 2 tokens"));
}

}  // namespace
}  // namespace limpid
