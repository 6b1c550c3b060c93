#pragma once
// Corpus: the examples of text files in constant memory. Two line-aligned files or a TSV give pairs; other files give
// their lines one after the other.

#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/line_reader.h"

namespace limpid {

struct CorpusFiles {
  std::vector<std::filesystem::path> paths;
  bool pairs = false;                       // every example has two sides
  std::array<int64_t, 2> columns = {0, 1};  // where one TSV holds both
  bool stream = false;                      // one long text, whose lines may be so long that they come in parts
};

struct TextExample {
  std::string_view first, second;  // valid until the next one
  int64_t line = 0;                // in its file, from 1
  bool goes_on = false;            // of a stream: the next example goes on with the same line
};

class CorpusReader {
 public:
  explicit CorpusReader(const CorpusFiles& files);  // an Error where the number of files makes no sense

  // The next example. Files of different length and a TSV line without the columns are Errors with the line's number.
  std::optional<TextExample> next();
  double progress() const;  // share of the bytes read, about

 private:
  std::optional<TextExample> next_aligned();
  std::optional<TextExample> next_columns();

  LineReader open(size_t file) const;

  CorpusFiles files_;
  std::vector<LineReader> readers_;  // two of aligned files, else the one being read
  size_t file_ = 0;                  // being read
};

}  // namespace limpid
