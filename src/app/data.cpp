// limpid data: writes the project's own corpora, or shows a few examples of them.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <span>

#include "app/command.h"
#include "app/data_files.h"
#include "base/error.h"
#include "base/nearest.h"
#include "corpora/english_korean.h"
#include "corpora/facts.h"
#include "corpora/tasks.h"

namespace limpid {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 6> kCorpora = {"english-korean", "facts", "copy", "reverse", "sort", "repeat"};

struct DataOptions {
  std::string name, out, split;
  int64_t count = 0;  // lines of the training part; 0: the corpus's own default
  int64_t held_out = 2000;
  uint64_t seed = 1;
  bool json = false;
};

std::string pharaoh(const SentencePair& pair) {
  std::string text;
  for (const auto& [english, korean] : pair.alignment)
    text += fmt::format("{}{}-{}", text.empty() ? "" : " ", english, korean);
  return text;
}

std::string withheld_text(uint32_t bits) {
  std::string text;
  for (int kind = 0; kind < kWithheldKinds; ++kind)
    if ((bits >> kind) & 1) text += fmt::format("{}{}", text.empty() ? "" : " ", withheld_name(kind));
  return text;
}

std::string fact_line(const FactWorld& world, const FactSentence& sentence) {
  const Fact& fact = world.facts()[sentence.fact];
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{}", fact.subject, fact.relation, fact.object, sentence.prompt,
                     sentence.held_out ? "test" : "train", fact.real ? "real" : "invented");
}

// The splits to write: the one asked for, or all that the corpus has.
std::vector<Split> splits_of(const DataOptions& options) {
  if (options.split.empty()) return {kSplits.begin(), kSplits.end()};
  for (Split split : kSplits)
    if (options.split == split_name(split)) return {split};
  return {};
}

int64_t lines_of(const DataOptions& options, Split split) {
  if (split != Split::train) return options.held_out;
  return options.count > 0 ? options.count : 200000;
}

// --- Writing ---

void write_withheld(Written& written) {
  Lines lines(written.path("withheld.tsv"));
  int64_t count = 0;
  for (int kind = 0; kind < kWithheldKinds; ++kind)
    for (const std::string& word : withheld_words(kind)) {
      lines.add(fmt::format("{}\t{}\t{}", withheld_name(kind), word, withheld_description(kind)));
      ++count;
    }
  lines.commit();
  written.add("withheld.tsv", count);
}

void write_english_korean(const DataOptions& options, Written& written) {
  const EnglishKorean corpus(options.seed);
  for (Split split : splits_of(options)) {
    const std::string stem(split_name(split));
    const int64_t count = lines_of(options, split);
    Lines english(written.path(stem + ".en")), korean(written.path(stem + ".ko")), links(written.path(stem + ".align"));
    std::optional<Lines> kinds;
    if (split == Split::compositional) kinds.emplace(written.path(stem + ".kinds"));
    for (int64_t i = 0; i < count; ++i) {
      const SentencePair pair = corpus.pair(static_cast<uint64_t>(i), split);
      english.add(pair.english);
      korean.add(pair.korean);
      links.add(pharaoh(pair));
      if (kinds) kinds->add(withheld_text(pair.withheld));
    }
    for (Lines* lines : {&english, &korean, &links}) lines->commit();
    for (const char* ending : {".en", ".ko", ".align"}) written.add(stem + ending, count);
    if (!kinds) continue;
    kinds->commit();
    written.add(stem + ".kinds", count);
    write_withheld(written);
  }
}

void write_facts(const DataOptions& options, Written& written) {
  const FactWorld world({.seed = options.seed});
  const bool all = options.split.empty();
  if (all || options.split == "train") {
    const int64_t count = options.count > 0 ? options.count : 100000;
    Lines train(written.path("train.txt"));
    for (int64_t i = 0; i < count; ++i) train.add(world.training(static_cast<uint64_t>(i)).text());
    train.commit();
    written.add("train.txt", count);
    Lines known(written.path("known.txt"));  // what can be learned from it: every sentence once
    int64_t sentences = 0;
    for (const FactSentence& sentence : world.sentences())
      if (!sentence.held_out) known.add(sentence.text()), ++sentences;
    known.commit();
    written.add("known.txt", sentences);
  }
  if (all || options.split == "test") {
    Lines test(written.path("test.txt"));
    int64_t count = 0;
    for (const FactSentence& sentence : world.sentences())
      if (sentence.held_out) test.add(sentence.text()), ++count;
    test.commit();
    written.add("test.txt", count);
  }
  Lines truth(written.path("facts.tsv"));
  truth.add("subject\trelation\tobject\tprompt\tsplit\tworld");
  for (const FactSentence& sentence : world.sentences()) truth.add(fact_line(world, sentence));
  truth.commit();
  written.add("facts.tsv", static_cast<int64_t>(world.sentences().size()) + 1);
}

void write_task(SyntheticTask task, const DataOptions& options, Written& written) {
  const bool text = task == SyntheticTask::repeat;  // for language models: one line, not a pair
  for (Split split : splits_of(options)) {
    const std::string stem(split_name(split));
    const int64_t count = lines_of(options, split);
    const std::string first = stem + (text ? ".txt" : ".src"), second = stem + ".tgt";
    Lines source(written.path(first));
    std::optional<Lines> target;
    if (!text) target.emplace(written.path(second));
    for (int64_t i = 0; i < count; ++i) {
      const TaskPair pair = task_pair(task, {.seed = options.seed}, static_cast<uint64_t>(i), split);
      source.add(text ? pair.source + " " + pair.target : pair.source);
      if (target) target->add(pair.target);
    }
    source.commit();
    written.add(first, count);
    if (!target) continue;
    target->commit();
    written.add(second, count);
  }
}

// --- Showing ---

void show_pair(const DataOptions& options, const SentencePair& pair) {
  if (options.json) {
    fmt::print("{}\n", json{{"english", pair.english},
                            {"korean", pair.korean},
                            {"alignment", pair.alignment},
                            {"withheld", withheld_text(pair.withheld)}}
                           .dump());
    return;
  }
  fmt::print("{}\n{}\n{}\n\n", pair.english, pair.korean, pharaoh(pair));
}

void show_fact(const DataOptions& options, const FactWorld& world, const FactSentence& sentence) {
  const Fact& fact = world.facts()[sentence.fact];
  if (options.json)
    fmt::print("{}\n", json{{"subject", fact.subject},
                            {"relation", fact.relation},
                            {"object", fact.object},
                            {"prompt", sentence.prompt},
                            {"held_out", sentence.held_out}}
                           .dump());
  else
    fmt::print("{}\n", sentence.text());
}

void show_task(const DataOptions& options, SyntheticTask task, const TaskPair& pair) {
  if (options.json)
    fmt::print("{}\n", json{{"source", pair.source}, {"target", pair.target}}.dump());
  else
    fmt::print("{}{}{}\n", pair.source, task == SyntheticTask::repeat ? " " : "  ->  ", pair.target);
}

void show(const DataOptions& options) {
  const int64_t count = options.count > 0 ? options.count : 10;
  const Split split = options.split.empty() ? Split::train : splits_of(options).front();
  if (options.name == "english-korean") {
    const EnglishKorean corpus(options.seed);
    for (int64_t i = 0; i < count; ++i) show_pair(options, corpus.pair(static_cast<uint64_t>(i), split));
  } else if (options.name == "facts") {
    const FactWorld world({.seed = options.seed});
    int64_t shown = 0;
    for (const FactSentence& sentence : world.sentences())
      if (sentence.held_out == (split == Split::test) && shown++ < count) show_fact(options, world, sentence);
  } else {
    const SyntheticTask task = *task_of(options.name);
    for (int64_t i = 0; i < count; ++i)
      show_task(options, task, task_pair(task, {.seed = options.seed}, static_cast<uint64_t>(i), split));
  }
}

void write(const DataOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(options.out, error);
  check(!error, "[data] {}: cannot be created ({}): choose another --out", options.out,
        [&] { return error.message(); });
  Written written(options.out);
  if (options.name == "english-korean")
    write_english_korean(options, written);
  else if (options.name == "facts")
    write_facts(options, written);
  else
    write_task(*task_of(options.name), options, written);
  if (options.json) {
    fmt::print("{}\n", json{{"corpus", options.name}, {"seed", options.seed}, {"files", written.files()}}.dump());
    return;
  }
  for (const json& file : written.files())
    fmt::print("{:>9} lines  {}\n", file["lines"].get<int64_t>(), file["file"].get<std::string>());
}

std::string listed(std::span<const std::string_view> names) {
  std::string text;
  for (std::string_view name : names) (text += text.empty() ? "" : ", ") += name;
  return text;
}

// What is wrong with the names given, or nothing.
std::string wrong_name(const DataOptions& options) {
  if (std::find(kCorpora.begin(), kCorpora.end(), options.name) == kCorpora.end())
    return fmt::format("no corpus \"{}\": there are {}{}", options.name, listed(kCorpora),
                       did_you_mean(options.name, kCorpora));
  constexpr std::array<std::string_view, 4> kNames = {"train", "test", "valid", "compositional"};
  const std::span<const std::string_view> names(kNames.data(), options.name == "facts" ? 2 : kNames.size());
  if (options.split.empty() || std::find(names.begin(), names.end(), options.split) != names.end()) return "";
  return fmt::format("{} has no split \"{}\": there are {}{}", options.name, options.split, listed(names),
                     did_you_mean(options.split, names));
}

}  // namespace

int run_data(int argc, char** argv) {
  CommandLine line(
      "data",
      "Writes corpora of the project's own, generated from a seed: english-korean sentence pairs with their "
      "alignment, a world of facts, and the tasks copy, reverse, sort and repeat.",
      "limpid data english-korean");
  DataOptions options;
  line.add_option("NAME", options.name, listed(kCorpora))->required();
  line.add_option("--out", options.out, "folder to write to; without it a few examples are shown");
  line.add_option("--count", options.count, "lines of the training part, or examples to show (0: as the corpus likes)")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40));
  line.add_option("--held-out", options.held_out, "lines of each of the other parts")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40))
      ->capture_default_str();
  line.add_option("--seed", options.seed, "of everything drawn")->capture_default_str();
  line.add_option("--split", options.split, "only this part: train, valid, test or compositional");
  line.add_flag("--json", options.json, "print JSON, one object per line");
  if (const auto code = line.read(argc, argv)) return *code;

  if (const std::string wrong = wrong_name(options); !wrong.empty()) {
    fmt::print(stderr, "limpid data: {}\n", wrong);
    return 2;
  }
  if (options.out.empty())
    show(options);
  else
    write(options);
  return 0;
}

}  // namespace limpid
