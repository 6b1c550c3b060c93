#include "inspect/capture.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <fstream>

#include "base/temporary_folder.h"
#include "formats/safetensors.h"
#include "inspect/tap_record.h"
#include "models/small_models.h"

namespace limpid {
namespace {

Examples two_texts(const Config& config) {
  return [&config](const std::function<void(const Example&)>& use) {
    use(example_of(config, {3, 7, 5, 11}, {4, 9, 2}));
    use(example_of(config, {3, 7}, {5, 8, 1, 6, 2}));
  };
}

std::string bytes_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<float> floats(std::span<const std::byte> bytes, size_t count) {
  std::vector<float> numbers(count);
  std::memcpy(numbers.data(), bytes.data(), 4 * count);
  return numbers;
}

TEST(Capture, RowsOfAllTextsStandOneAfterAnother) {
  const SmallModel small = small_model(small_configs().at("marian"));
  const TemporaryFolder folder;
  const Examples texts = two_texts(small.model->config());
  const CapturePlan plan =
      plan_capture(*small.model, {.patterns = {"decoder.1.resid_post", "decoder.*.cross_attn.pattern"}}, texts);
  ASSERT_EQ(plan.taps.size(), 3u);
  EXPECT_EQ(plan.arrays[0].shape, (std::vector<int64_t>{8, 12}));
  EXPECT_EQ(plan.arrays[1].shape, (std::vector<int64_t>{3 * (3 * 4 + 5 * 2)}));
  capture(*small.model, plan, texts, folder / "taps");
  const std::string file = bytes_of_file(folder / "taps" / "decoder.1.resid_post.npy");
  EXPECT_EQ(file.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  ASSERT_EQ(file.size() % 64, (8 * 12 * 4) % 64);
  std::vector<real> expected;
  texts([&](const Example& example) {
    const auto numbers =
        record_taps(*small.model, example, {"decoder.1.resid_post"}).at("decoder.1.resid_post").numbers;
    expected.insert(expected.end(), numbers.begin(), numbers.end());
  });
  const std::vector<float> written = floats(std::as_bytes(std::span(file)).last(4 * expected.size()), expected.size());
  // Watching the patterns takes other kernels, so equal within rounding.
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(static_cast<double>(written[i]), static_cast<double>(expected[i]), 1e-5);
}

TEST(Capture, TheFileIsOneThatSafetensorsReadersOpen) {
  const SmallModel small = small_model(small_configs().at("gpt2"));
  const TemporaryFolder folder;
  const Examples texts = two_texts(small.model->config());
  const CaptureOptions options{
      .patterns = {"blocks.*.hook_resid_post", "*pattern"}, .layers = {1}, .positions = {0, -1}};
  const CapturePlan plan = plan_capture(*small.model, options, texts);
  capture(*small.model, plan, texts, folder / "taps.safetensors");
  const SafetensorsFile file(folder / "taps.safetensors");
  EXPECT_EQ(file.get("blocks.1.resid_post").shape, (std::vector<int64_t>{4, 12}));
  EXPECT_EQ(file.get("blocks.1.attn.pattern").shape, (std::vector<int64_t>{3 * (2 * 3 + 2 * 5)}));
  EXPECT_EQ(file.find("blocks.0.resid_post"), nullptr);
}

TEST(Capture, StatesTheBytesExactly) {
  for (const std::string& name : small_config_names()) {
    const SmallModel small = small_model(small_configs().at(name));
    const TemporaryFolder folder;
    const Examples texts = two_texts(small.model->config());
    const CapturePlan plan = plan_capture(*small.model, {.patterns = {"*"}}, texts);
    capture(*small.model, plan, texts, folder / "all.safetensors");
    const std::string file = bytes_of_file(folder / "all.safetensors");
    uint64_t header = 0;
    std::memcpy(&header, file.data(), 8);
    EXPECT_EQ(file.size(), 8 + header + static_cast<uint64_t>(plan.bytes)) << name;
  }
}

TEST(Capture, TokenByTokenTheNumbersAreTheSame) {
  for (const std::string name : {"gpt2", "llama", "marian", "gru_attention", "lstm"}) {
    SCOPED_TRACE(name);
    const SmallModel small = small_model(small_configs().at(name));
    const TemporaryFolder folder;
    const Examples text = [&](const std::function<void(const Example&)>& use) {
      use(example_of(small.model->config(), {3, 7, 5, 11}, {4, 9, 2, 6}));
    };
    for (const bool token_by_token : {false, true})
      capture(*small.model, plan_capture(*small.model, {.patterns = {"*"}, .token_by_token = token_by_token}, text),
              text, folder / fmt::format("{}.safetensors", token_by_token));
    const SafetensorsFile whole(folder / "false.safetensors"), steps(folder / "true.safetensors");
    for (const SafetensorsEntry& entry : whole.entries()) {
      if (entry.type != DType::f32) continue;
      const SafetensorsEntry& other = steps.get(entry.name);
      ASSERT_EQ(entry.shape, other.shape) << entry.name;
      const auto count = static_cast<size_t>(entry.count());
      const std::vector<float> a = floats(entry.bytes, count), b = floats(other.bytes, count);
      for (size_t i = 0; i < count; ++i) {
        const bool later = entry.name.ends_with("scores") && std::isinf(b[i]);  // a key that was not there yet
        if (later || a[i] == b[i]) continue;
        ASSERT_NEAR(a[i], b[i], 1e-4) << entry.name << " " << i;
      }
    }
  }
}

TEST(Capture, WithoutAPatternOrATextIsAnError) {
  const SmallModel small = small_model(small_configs().at("gpt2"));
  const Examples texts = two_texts(small.model->config());
  EXPECT_THROW(plan_capture(*small.model, {}, texts), Error);
  EXPECT_THROW(plan_capture(*small.model, {.patterns = {"embed"}, .layers = {1}}, texts), Error);
  EXPECT_THROW(plan_capture(*small.model, {.patterns = {"embed"}}, [](const auto&) {}), Error);
}

TEST(ArrayFile, LeavesNothingWhenNotFinished) {
  const TemporaryFolder folder;
  {
    ArrayFile file(folder / "half", {{"a", {2, 2}}});
    const real numbers[] = {1, 2};
    file.append(0, numbers);
    EXPECT_THROW(file.finish(), Error);
    const real more[] = {3, 4, 5};
    EXPECT_THROW(file.append(0, more), Error);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ArrayFile, LeavesNothingWhereItCannotBegin) {
  const TemporaryFolder folder;
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit before = limit;
  limit.rlim_cur = 1000;  // as if the disk were full
  ::setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_THROW(ArrayFile(folder / "x.safetensors", {{"a", {1000}}}), Error);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace limpid
