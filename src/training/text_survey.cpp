#include "training/text_survey.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "text/duplicates.h"
#include "text/utf8.h"
#include "text/word_tokenizer.h"

namespace limpid {
namespace {

// All lines of a small text; of a large one every sixteenth after these.
constexpr int64_t kAllOf = 50000, kThenEvery = 16;
constexpr size_t kMostWords = 1 << 20;  // different ones that are remembered

struct ScriptRange {
  char32_t first, last;
  const char* name;
};

// Unicode's blocks of letters that are in daily use, roughly: enough to say what a text is written in.
constexpr ScriptRange kScripts[] = {
    {0x41, 0x5A, "Latin"},        {0x61, 0x7A, "Latin"},        {0xC0, 0x24F, "Latin"},
    {0x370, 0x3FF, "Greek"},      {0x400, 0x52F, "Cyrillic"},   {0x530, 0x58F, "Armenian"},
    {0x590, 0x5FF, "Hebrew"},     {0x600, 0x6FF, "Arabic"},     {0x900, 0x97F, "Devanagari"},
    {0x980, 0x9FF, "Bengali"},    {0xB80, 0xBFF, "Tamil"},      {0xC00, 0xC7F, "Telugu"},
    {0xE00, 0xE7F, "Thai"},       {0x10A0, 0x10FF, "Georgian"}, {0x1100, 0x11FF, "Hangul"},
    {0x1200, 0x137F, "Ethiopic"}, {0x1780, 0x17FF, "Khmer"},    {0x1E00, 0x1EFF, "Latin"},
    {0x3040, 0x30FF, "Kana"},     {0x3400, 0x9FFF, "Han"},      {0xAC00, 0xD7AF, "Hangul"},
    {0x20000, 0x323AF, "Han"},
};

const char* script_of(char32_t c) {
  for (const ScriptRange& range : kScripts)
    if (c >= range.first && c <= range.last) return range.name;
  return nullptr;
}

class SideCounter {
 public:
  void add(std::string_view line) {
    int64_t length = 0;
    each_code_point(line, [&](char32_t c, std::string_view) {
      ++length;
      characters_.insert(c);
      if (const char* script = script_of(c)) ++scripts_[script];
    });
    if (lines_.size() < kMostWords) lines_.insert(std::hash<std::string_view>()(line));
    lengths_.push_back(static_cast<int32_t>(std::min<int64_t>(length, INT32_MAX)));
    side_.characters += length;
    for (const std::string_view word : split_words(line)) {
      ++side_.words;
      const auto found = words_.find(std::string(word));
      if (found != words_.end())
        ++found->second;
      else if (words_.size() < kMostWords)
        words_.emplace(word, 1);
    }
  }

  SideSurvey finish(int64_t bytes) {
    side_.bytes = bytes;
    side_.distinct_words = std::ssize(words_);
    side_.single_words =
        std::count_if(words_.begin(), words_.end(), [](const auto& entry) { return entry.second == 1; });
    side_.distinct_characters = std::ssize(characters_);
    side_.distinct_lines = std::ssize(lines_);
    int64_t most = 0;
    for (const auto& [name, count] : scripts_)
      if (count > most) most = count, side_.script = name;
    std::sort(lengths_.begin(), lengths_.end());
    if (!lengths_.empty()) {
      side_.median_characters = lengths_[lengths_.size() / 2];
      side_.most_characters = lengths_[lengths_.size() * 95 / 100];
    }
    return side_;
  }

 private:
  SideSurvey side_;
  std::map<std::string, int64_t> scripts_;
  std::unordered_map<std::string, int64_t> words_;
  std::unordered_set<char32_t> characters_;
  std::unordered_set<size_t> lines_;  // hashes
  std::vector<int32_t> lengths_;
};

bool ends_as_a_sentence(std::string_view line) {
  constexpr std::string_view kClosers = " \t\"')]";
  while (!line.empty() && kClosers.find(line.back()) != std::string_view::npos) line.remove_suffix(1);
  if (line.empty()) return false;
  for (const std::string_view mark : {".", "!", "?", "…", "。", "！", "？", "।", "”", "’", "»"})
    if (line.ends_with(mark)) return true;
  return false;
}

}  // namespace

TextSurvey survey_text(const CorpusFiles& files, const SurveyProgress& progress) {
  CorpusReader reader(files);
  TextSurvey survey;
  SideCounter counters[2];
  DuplicateCounter duplicates;
  int64_t bytes[2] = {0, 0}, read = 0, ends = 0;
  while (const auto example = reader.next()) {
    if (progress && read++ % 10000 == 0) progress(reader.progress());
    bytes[0] += std::ssize(example->first) + 1;
    bytes[1] += files.pairs ? std::ssize(example->second) + 1 : 0;
    if (example->first.find_first_not_of(" \t") == std::string_view::npos) continue;
    duplicates.add(text_hash(example->first, example->second));
    if (survey.lines++ >= kAllOf && survey.lines % kThenEvery != 0) continue;
    ++survey.sampled;
    counters[0].add(example->first);
    if (files.pairs) counters[1].add(example->second);
    ends += ends_as_a_sentence(example->first);
  }
  survey.duplicates = duplicates.duplicates();
  for (size_t side = 0; side < 2; ++side) survey.sides[side] = counters[side].finish(bytes[side]);
  if (survey.sampled > 0) survey.ends_sentence = static_cast<double>(ends) / static_cast<double>(survey.sampled);
  return survey;
}

}  // namespace limpid
