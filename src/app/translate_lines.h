#pragma once
// What limpid translate does with lines: translates, draws or scores them, and writes what comes out in their order.

#include <nlohmann/json.hpp>

#include <deque>
#include <string>
#include <vector>

#include "app/input_lines.h"
#include "inference/alignment.h"
#include "inference/complete.h"
#include "inference/generate.h"
#include "inference/loaded_model.h"

namespace limpid {

struct TranslateOptions {
  std::string model;
  std::vector<std::string> files;
  GenerateOptions generate{.beam = 4};
  std::string prefix;
  std::string source_language, target_language;
  bool sample = false;  // drawn instead of searched for
  CompletionOptions drawing;
  bool score = false;         // lines are pairs, whose score is told
  std::string alignment;      // empty: none; "all", "LAYER" or "LAYER.HEAD"
  int64_t split_above = 128;  // tokens; a longer line is translated sentence by sentence
  bool json = false;
};

class LineTranslator {
 public:
  LineTranslator(const TranslateOptions& options, const LoadedModel& loaded);

  // Every line that comes, until there is none; each is written as soon as it and those before it are done.
  void translate();
  // Lines are pairs, a tab between source and translation.
  void score();

 private:
  using Json = nlohmann::ordered_json;

  // What the model is given at once: a line, or a sentence or part of a long one.
  struct Part {
    std::vector<int32_t> source;  // with the end token
    std::vector<Hypothesis> results;
  };
  struct Line {
    int64_t number = 0;
    std::string text;
    std::vector<Part> parts;  // of a blank line none
    size_t open = 0;          // results to come
  };

  std::vector<int32_t> source_ids(std::string_view text) const;
  std::vector<std::vector<int32_t>> split(const Line& line);
  void accept(Engine& engine, std::string text);
  void search(Engine& engine, Line& line, size_t part);
  void draw(Engine& engine, Line& line, size_t part);
  double normalised(double log_probability, size_t tokens) const;

  size_t choices(const Line& line) const;
  Hypothesis whole(const Line& line, size_t choice) const;
  std::string text_of(const Line& line, size_t choice) const;
  void write_ready();
  void write(const Line& line) const;
  void write_json(const Line& line) const;
  std::string links(const Line& line, size_t choice) const;
  Alignment aligned(const Part& part, size_t choice) const;
  Json alignment_json(const Part& part, size_t choice) const;

  const TranslateOptions& options_;
  const LoadedModel& loaded_;
  std::vector<int32_t> prefix_;
  AlignmentOptions alignment_;
  int64_t most_tokens_;     // that the model reads, without the end
  int64_t read_ = 0;        // lines of all files
  std::deque<Line> lines_;  // not written yet; results refer to them while they come
  bool told_split_ = false;
};

}  // namespace limpid
