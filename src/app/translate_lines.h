#pragma once
// What limpid translate does with lines: translates, draws or scores them, and writes what comes out in their order.

#include <deque>
#include <string>
#include <vector>

#include "app/input_lines.h"
#include "inference/text_translator.h"

namespace limpid {

struct TranslateOptions : TextTranslatorOptions {
  std::string model;
  std::vector<std::string> files;
  std::string source_language, target_language;
  int64_t samples = 0;    // translations drawn of each line; 0: searched for
  bool score = false;     // lines are pairs, whose score is told
  std::string alignment;  // empty: none; "all", "LAYER" or "LAYER.HEAD"
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
  struct Line {
    int64_t number = 0;
    std::string text;
    TranslatedText translated = {};
  };

  void accept(Engine& engine, std::string text);
  void tell_split(const Line& line);
  void write_ready();
  void write(const Line& line) const;
  void write_json(const Line& line) const;

  const TranslateOptions& options_;
  const LoadedModel& loaded_;
  TextTranslator translator_;
  AlignmentOptions alignment_;
  int64_t read_ = 0;        // lines of all files
  std::deque<Line> lines_;  // not written yet; results refer to them while they come
  bool told_split_ = false;
};

}  // namespace limpid
