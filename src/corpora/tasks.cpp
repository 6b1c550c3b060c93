#include "corpora/tasks.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/random.h"

namespace limpid {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"copy", "reverse", "sort", "repeat"};

std::string random_letters(Random& random, const TaskOptions& options, Split split) {
  int shortest = options.shortest, longest = options.longest;
  if (split == Split::compositional) {
    shortest = options.longest + 1;
    longest = options.longest + std::max(1, options.longest / 2);
  }
  const auto length = static_cast<size_t>(shortest + random.below(longest - shortest + 1));
  std::string letters;
  for (size_t i = 0; i < length; ++i) letters += static_cast<char>('a' + random.below(options.alphabet));
  return letters;
}

Split split_of_letters(std::string_view letters) {
  uint64_t hash = letters.size();
  for (const char c : letters) hash = mix(hash ^ static_cast<unsigned char>(c));
  const uint64_t part = hash % 100;
  return part < 5 ? Split::test : part < 10 ? Split::valid : Split::train;
}

std::string spaced(std::string_view letters) {
  std::string text;
  for (const char c : letters) {
    if (!text.empty()) text += ' ';
    text += c;
  }
  return text;
}

}  // namespace

std::span<const std::string_view> task_names() { return kNames; }

std::optional<SyntheticTask> task_of(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<SyntheticTask>(found - kNames.begin());
}

TaskPair task_pair(SyntheticTask task, const TaskOptions& options, uint64_t index, Split split) {
  check(options.shortest >= 1 && options.shortest <= options.longest && options.alphabet >= 2 && options.alphabet <= 26,
        "[tasks] {} to {} of {} letters: pass 1 <= shortest <= longest and 2 to 26 letters", options.shortest,
        options.longest, options.alphabet);
  // So few sources could all fall into one split, and the search for one of another would not end.
  check(options.longest >= 4, "[tasks] sources of at most {} letters are too few to hold some out: pass 4 or more",
        options.longest);
  const uint64_t place = static_cast<uint64_t>(task) * kSplits.size() + static_cast<uint64_t>(split);
  Random random(random_key(options.seed, index, place));
  std::string letters;
  do letters = random_letters(random, options, split);
  while (split != Split::compositional && split_of_letters(letters) != split);
  TaskPair pair{.source = spaced(letters)};
  if (task == SyntheticTask::reverse) std::reverse(letters.begin(), letters.end());
  if (task == SyntheticTask::sort) std::sort(letters.begin(), letters.end());
  pair.target = spaced(letters);
  return pair;
}

}  // namespace limpid
