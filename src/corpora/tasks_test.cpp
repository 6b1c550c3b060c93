#include "corpora/tasks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"

namespace limpid {
namespace {

std::string letters_of(const std::string& text) {
  std::string letters;
  for (size_t i = 0; i < text.size(); ++i) {
    EXPECT_EQ(text[i] == ' ', i % 2 == 1) << text;
    if (text[i] != ' ') letters += text[i];
  }
  return letters;
}

TEST(Tasks, DoWhatTheyAreCalled) {
  for (uint64_t i = 0; i < 300; ++i) {
    const TaskPair copy = task_pair(SyntheticTask::copy, {}, i), reverse = task_pair(SyntheticTask::reverse, {}, i),
                   sort = task_pair(SyntheticTask::sort, {}, i), repeat = task_pair(SyntheticTask::repeat, {}, i);
    EXPECT_EQ(copy.source, copy.target);
    EXPECT_EQ(repeat.source, repeat.target);
    EXPECT_EQ(reverse.source, std::string(reverse.target.rbegin(), reverse.target.rend()));
    const std::string from = letters_of(sort.source), to = letters_of(sort.target);
    EXPECT_TRUE(std::is_sorted(to.begin(), to.end()));
    EXPECT_TRUE(std::is_permutation(from.begin(), from.end(), to.begin(), to.end()));
    EXPECT_GE(from.size(), 4u);
    EXPECT_LE(from.size(), 12u);
  }
}

TEST(Tasks, HoldOutSourcesWhateverTheSeed) {
  std::set<std::string> train;
  const auto options = [](uint64_t seed) {
    return TaskOptions{.seed = seed, .shortest = 1, .longest = 4, .alphabet = 3};
  };
  for (uint64_t i = 0; i < 5000; ++i)
    for (uint64_t seed : {1, 2}) train.insert(task_pair(SyntheticTask::sort, options(seed), i).source);
  EXPECT_GT(train.size(), 80u);  // of 120 sources nearly all that are not held out
  for (uint64_t i = 0; i < 200; ++i)
    for (Split split : {Split::valid, Split::test, Split::compositional})
      EXPECT_FALSE(train.contains(task_pair(SyntheticTask::sort, options(3), i, split).source));
  EXPECT_GT(letters_of(task_pair(SyntheticTask::copy, {}, 0, Split::compositional).source).size(), 12u);
}

TEST(Tasks, AreFunctionsOfSeedAndIndex) {
  EXPECT_EQ(task_pair(SyntheticTask::copy, {.seed = 4}, 9).source,
            task_pair(SyntheticTask::copy, {.seed = 4}, 9).source);
  EXPECT_NE(task_pair(SyntheticTask::copy, {.seed = 4}, 9).source,
            task_pair(SyntheticTask::copy, {.seed = 5}, 9).source);
  EXPECT_NE(task_pair(SyntheticTask::copy, {.seed = 4}, 9).source,
            task_pair(SyntheticTask::copy, {.seed = 4}, 10).source);
  EXPECT_EQ(task_of("sort"), SyntheticTask::sort);
  EXPECT_EQ(task_of("shuffle"), std::nullopt);
  EXPECT_EQ(task_names().size(), 4u);
  EXPECT_THROW(task_pair(SyntheticTask::copy, {.shortest = 5, .longest = 4}, 0), Error);
  EXPECT_THROW(task_pair(SyntheticTask::copy, {.alphabet = 27}, 0), Error);
  EXPECT_THROW(task_pair(SyntheticTask::copy, {.shortest = 1, .longest = 2}, 0), Error);
}

}  // namespace
}  // namespace limpid
