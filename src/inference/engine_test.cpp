// Many texts on one engine: they come and go at any step, within the memory that was stated, and come out as if alone.

#include "inference/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/parallel.h"
#include "inference/byte_tokenizer.h"
#include "inference/complete.h"
#include "inference/generate.h"
#include "inference/small_translators.h"

namespace limpid {
namespace {

using testing::HasSubstr;
using Ids = std::vector<int32_t>;

SmallModel byte_writer(const std::string& name) {
  nlohmann::ordered_json json = small_configs().at(name);
  json["vocab_size"] = 260;
  json["bos_token_id"] = ByteTokenizer::kBegin;
  json["eos_token_id"] = ByteTokenizer::kEnd;
  json[name == "gpt2" ? "n_positions" : "max_position_embeddings"] = 128;
  return small_model(json);
}

Ids ids_of(const Completion& completion) {
  Ids ids;
  for (const GeneratedToken& token : completion.tokens) ids.push_back(token.id);
  return ids;
}

class EngineOfWriters : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    set_threads(1);
    small_ = byte_writer(GetParam());
  }
  void TearDown() override { set_threads(0); }
  const Model& model() const { return *small_.model; }

  static CompletionRequest request(const std::string& prompt, int64_t tokens, uint64_t sample = 0) {
    CompletionRequest result{.options = {.max_tokens = tokens, .ignore_end = true, .seed = 3}, .sample = sample};
    for (const char c : prompt) result.ids.push_back(static_cast<uint8_t>(c));
    return result;
  }
  int64_t add(Engine& engine, const CompletionRequest& request,
              std::optional<Engine::Clock::time_point> deadline = std::nullopt) {
    const size_t place = results_.size();
    results_.emplace_back();
    return engine.add(make_completion(model().config(), bytes_, request,
                                      [this, place](Completion result) { results_[place] = std::move(result); }),
                      deadline);
  }
  Completion alone(const CompletionRequest& request) const { return complete(model(), bytes_, {&request, 1}).at(0); }

  ByteTokenizer bytes_;
  SmallModel small_;
  std::vector<std::optional<Completion>> results_;
};

const std::string kPrompt = "the quick brown fox jumps over ";

TEST_P(EngineOfWriters, TextsJoinAndLeaveAtAnyStep) {
  Engine engine(model(), {.max_batch = 3});
  std::vector<CompletionRequest> requests;
  for (int i = 0; i < 8; ++i) {
    requests.push_back(request(kPrompt.substr(0, 3 + 3 * i), 4 + 5 * (i % 4), i));
    add(engine, requests.back());
    engine.step();
    engine.step();
  }
  while (engine.step()) {
  }
  EXPECT_EQ(engine.running() + engine.waiting(), 0);
  for (size_t i = 0; i < requests.size(); ++i) EXPECT_EQ(ids_of(*results_[i]), ids_of(alone(requests[i]))) << i;
}

// More texts than a lane holds: each thread takes a lane, and nothing changes but the time.
TEST_P(EngineOfWriters, LanesTakeWhatOneDoesNotHold) {
  set_threads(3);
  Engine engine(model(), {.max_batch = 2});
  std::vector<CompletionRequest> requests;
  std::vector<int64_t> numbers;
  for (int i = 0; i < 9; ++i) {
    requests.push_back(request(kPrompt.substr(0, 3 + 3 * i), 6 + i, i));
    numbers.push_back(add(engine, requests.back()));
  }
  engine.step();
  EXPECT_EQ(engine.running(), 6);
  EXPECT_EQ(engine.waiting(), 3);
  const int64_t before = engine.memory().used;
  EXPECT_TRUE(engine.cancel(numbers[4]));  // of the third lane
  EXPECT_LT(engine.memory().used, before);
  EXPECT_EQ(results_[4]->finish_reason, FinishReason::cancelled);
  while (engine.step()) {
    EXPECT_LE(engine.running(), 6);
  }
  EXPECT_EQ(engine.running() + engine.waiting(), 0);
  for (size_t i = 0; i < requests.size(); ++i) {
    if (i != 4) {
      EXPECT_EQ(ids_of(*results_[i]), ids_of(alone(requests[i]))) << i;
    }
  }
}

TEST_P(EngineOfWriters, ABeginningInCommonIsReadOnce) {
  Engine engine(model(), {});
  for (uint64_t i = 0; i < 4; ++i) add(engine, request(kPrompt, 6, i));  // at once: three go on from what one has read
  const int64_t read = static_cast<int64_t>(kPrompt.size()) - 1;
  engine.step();
  EXPECT_EQ(engine.reused_tokens(), 3 * read);
  add(engine, request(kPrompt + "the lazy dog", 6));  // beside those that run: the last letter is read anew
  engine.step();
  EXPECT_GE(engine.reused_tokens(), 4 * read);
  while (engine.step()) {
  }
  const int64_t before = engine.reused_tokens();
  add(engine, request(kPrompt + "a cat", 6));  // after they have left
  while (engine.step()) {
  }
  EXPECT_GE(engine.reused_tokens(), before + read);
  for (uint64_t i = 0; i < 4; ++i) EXPECT_EQ(ids_of(*results_[i]), ids_of(alone(request(kPrompt, 6, i)))) << i;
  EXPECT_EQ(ids_of(*results_[4]), ids_of(alone(request(kPrompt + "the lazy dog", 6))));
  EXPECT_EQ(ids_of(*results_[5]), ids_of(alone(request(kPrompt + "a cat", 6))));
}

// The bound holds at every step, texts wait for it, and what is remembered gives way.
TEST_P(EngineOfWriters, MemoryStaysWithinItsBound) {
  Engine measure(model(), {});
  add(measure, request(kPrompt, 40));
  measure.step();
  const int64_t one = measure.memory().set_aside;
  ASSERT_GT(one, 0);
  const int64_t bound = 2 * one + one / 2;
  Engine engine(model(), {.memory = bound});
  std::vector<CompletionRequest> requests;
  for (uint64_t i = 0; i < 7; ++i) requests.push_back(request(kPrompt + static_cast<char>('a' + i), 30, i));
  const size_t first = results_.size();
  for (const CompletionRequest& next : requests) add(engine, next);
  int64_t most_running = 0;
  while (engine.step()) {
    const EngineMemory memory = engine.memory();
    EXPECT_LE(memory.used, bound);
    EXPECT_LE(memory.set_aside + memory.remembered, bound);
    most_running = std::max(most_running, engine.running());
  }
  EXPECT_LE(engine.memory().most_used, bound);
  EXPECT_EQ(most_running, 2);
  for (size_t i = 0; i < requests.size(); ++i) EXPECT_EQ(ids_of(*results_[first + i]), ids_of(alone(requests[i]))) << i;
}

TEST_P(EngineOfWriters, WhatCanNeverFitIsRefused) {
  Engine engine(model(), {.memory = 1000});
  try {
    add(engine, request(kPrompt, 40));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("raise it"));
  }
  EXPECT_EQ(engine.waiting(), 0);
  EXPECT_THROW(Engine(model(), {.max_batch = 0}), Error);
  EXPECT_THROW(Engine(model(), {.memory = -1}), Error);
}

TEST_P(EngineOfWriters, CancellingFreesMemoryAtOnce) {
  Engine engine(model(), {.max_batch = 2});
  const int64_t a = add(engine, request(kPrompt, 50)), b = add(engine, request("another text altogether", 20, 1)),
                c = add(engine, request("and one that waits", 20, 2));
  for (int i = 0; i < 5; ++i) engine.step();
  const EngineMemory before = engine.memory();
  EXPECT_TRUE(engine.cancel(a));
  EXPECT_LT(engine.memory().used, before.used);
  EXPECT_LT(engine.memory().set_aside, before.set_aside);
  EXPECT_EQ(results_[0]->finish_reason, FinishReason::cancelled);
  EXPECT_EQ(results_[0]->tokens.size(), 5u);
  EXPECT_TRUE(engine.cancel(c));
  EXPECT_EQ(results_[2]->finish_reason, FinishReason::cancelled);
  EXPECT_TRUE(results_[2]->tokens.empty());
  EXPECT_FALSE(engine.cancel(a));
  EXPECT_FALSE(engine.cancel(99));
  while (engine.step()) {
  }
  EXPECT_EQ(ids_of(*results_[1]), ids_of(alone(request("another text altogether", 20, 1))));  // undisturbed
  EXPECT_FALSE(engine.cancel(b));
  EXPECT_EQ(engine.memory().set_aside, 0);
}

TEST_P(EngineOfWriters, ADeadlineEndsWhatRunsAndWhatWaits) {
  Engine::Clock::time_point now{};
  Engine engine(model(), {.max_batch = 1, .now = [&] { return now; }});
  const auto at = [](int seconds) { return Engine::Clock::time_point(std::chrono::seconds(seconds)); };
  add(engine, request(kPrompt, 50), at(10));
  add(engine, request(kPrompt, 5), at(10));
  add(engine, request("a text with time", 5), at(100));
  for (int i = 0; i < 4; ++i) engine.step();
  now = at(10);
  EXPECT_TRUE(engine.step());
  ASSERT_TRUE(results_[0] && results_[1]);
  EXPECT_EQ(results_[0]->finish_reason, FinishReason::deadline);
  EXPECT_EQ(name_of(results_[0]->finish_reason), "deadline");
  EXPECT_EQ(results_[0]->tokens.size(), 4u);  // what was written by then
  EXPECT_EQ(results_[1]->finish_reason, FinishReason::deadline);
  EXPECT_TRUE(results_[1]->tokens.empty());
  while (engine.step()) {
  }
  EXPECT_EQ(results_[2]->finish_reason, FinishReason::max_tokens);
}

// A text may be added while another one hands over its result.
TEST_P(EngineOfWriters, ResultsMayAddTexts) {
  Engine engine(model(), {});
  int done = 0;
  std::function<void(Completion)> next = [&](const Completion&) {
    if (++done < 3) engine.add(make_completion(model().config(), bytes_, request("go on", 2), next));
  };
  engine.add(make_completion(model().config(), bytes_, request("go on", 2), next));
  while (engine.step()) {
  }
  EXPECT_EQ(done, 3);
}

// Where the texts that are written take all of a step's time, prompts are read a little, some steps apart.
TEST_P(EngineOfWriters, PromptsGiveWayToWritingAndAreReadAllTheSame) {
  Engine engine(model(), {.step_seconds = 1e-9});
  EXPECT_FALSE(engine.step());
  EXPECT_EQ(engine.texts_of_step(), 0);
  add(engine, request("a", 90));
  for (int i = 0; i < 3; ++i) engine.step();
  EXPECT_EQ(engine.texts_of_step(), 1);
  CompletionRequest late = request(kPrompt + kPrompt, 1);
  const int64_t number = add(engine, late);
  int steps = 0;
  while (engine.has(number)) {
    EXPECT_FALSE(engine.waits(number) && steps > 0);
    engine.step();
    ++steps;
  }
  EXPECT_EQ(engine.texts_of_step(), 2);
  EXPECT_GT(steps, 10) << "62 tokens, 16 in every fourth step";
  EXPECT_LT(steps, 20);
  EXPECT_EQ(ids_of(*results_[1]), ids_of(alone(late)));
}

INSTANTIATE_TEST_SUITE_P(Models, EngineOfWriters, testing::Values("gpt2", "llama"),
                         [](const testing::TestParamInfo<std::string>& test) { return test.param; });

class EngineOfTranslators : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    set_threads(1);
    small_ = small_translator(GetParam());
  }
  void TearDown() override { set_threads(0); }
  const Model& model() const { return *small_.model; }

  SmallModel small_;
};

TEST_P(EngineOfTranslators, MemoryStaysWithinItsBound) {
  const auto sources = small_sources(12, 23);
  const GenerateOptions options{.beam = 4, .max_tokens = 12};
  const auto free = translate(model(), sources, options);
  Engine measure(model(), {});
  Ids longest(8, 5);
  longest.back() = kSmallEnd;
  measure.add(make_search(model().config(), longest, {}, options, [](const SearchResult&) {}));
  measure.step();
  const int64_t bound = 3 * measure.memory().set_aside;
  Engine engine(model(), {.memory = bound});
  std::vector<std::vector<Hypothesis>> results(sources.size());
  for (size_t i = 0; i < sources.size(); ++i)
    engine.add(make_search(model().config(), sources[i], {}, options,
                           [&results, i](SearchResult result) { results[i] = std::move(result.hypotheses); }));
  while (engine.step()) {
    EXPECT_LE(engine.memory().used, bound);
    EXPECT_GE(engine.running() + engine.waiting(), 1);
  }
  EXPECT_LE(engine.memory().most_used, bound);
  EXPECT_GT(engine.memory().most_used, 0);
  EXPECT_EQ(engine.memory().used, 0);
  for (size_t i = 0; i < sources.size(); ++i) EXPECT_EQ(results[i][0].ids, free[i][0].ids) << i;
}

// Searching and drawing texts run side by side; a search that is broken off gives what it has.
TEST_P(EngineOfTranslators, SearchAndDrawingShareAnEngine) {
  class Numbers : public ByteTokenizer {
    int64_t size() const override { return 23; }
    SpecialIds special() const override { return {.end = kSmallEnd}; }
  };
  const Numbers tokenizer;
  const auto sources = small_sources(4, 23);
  const GenerateOptions options{.beam = 3, .n_best = 3, .max_tokens = 12, .rules = {.least_tokens = 12}};
  Engine engine(model(), {});
  SearchResult searched, broken_off;
  Completion drawn;
  engine.add(make_search(model().config(), sources[0], {}, options, [&](SearchResult r) { searched = std::move(r); }));
  const CompletionRequest request{.ids = sources[1], .options = {.max_tokens = 9, .seed = 5}};
  engine.add(make_completion(model().config(), tokenizer, request, [&](Completion r) { drawn = std::move(r); }));
  const int64_t third = engine.add(
      make_search(model().config(), sources[2], {}, options, [&](SearchResult r) { broken_off = std::move(r); }));
  for (int i = 0; i < 4; ++i) engine.step();
  EXPECT_TRUE(engine.cancel(third));
  EXPECT_EQ(broken_off.finish_reason, FinishReason::cancelled);
  ASSERT_EQ(broken_off.hypotheses.size(), 3u);
  EXPECT_EQ(broken_off.hypotheses[0].ids.size(), 4u);
  while (engine.step()) {
  }
  EXPECT_EQ(searched.finish_reason, FinishReason::end_token);
  EXPECT_EQ(searched.hypotheses[0].ids, translate(model(), {&sources[0], 1}, options)[0][0].ids);
  EXPECT_EQ(ids_of(drawn), ids_of(complete(model(), tokenizer, {&request, 1}).at(0)));
}

INSTANTIATE_TEST_SUITE_P(All, EngineOfTranslators, testing::ValuesIn(small_translator_names()), config_of_test);

}  // namespace
}  // namespace limpid
