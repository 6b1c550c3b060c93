#include "text/corpus.h"

#include <algorithm>

#include "base/error.h"

namespace limpid {
namespace {

// The column of a line of tab-separated values.
std::optional<std::string_view> column(std::string_view line, int64_t wanted) {
  for (; wanted > 0; --wanted) {
    const size_t tab = line.find('\t');
    if (tab == std::string_view::npos) return std::nullopt;
    line.remove_prefix(tab + 1);
  }
  return line.substr(0, line.find('\t'));
}

int64_t count_rest(LineReader& reader) {
  while (reader.next()) {
  }
  return reader.line();
}

}  // namespace

CorpusReader::CorpusReader(const CorpusFiles& files) : files_(files) {
  check(!files.paths.empty(), "[data] no file is named: data.train takes the names of the text files");
  check(!files.pairs || files.paths.size() <= 2,
        "[data] {} files for pairs: name a source and a target file, or one TSV with both", files.paths.size());
  readers_.push_back(open(0));
  if (files.pairs && files.paths.size() == 2) readers_.push_back(open(1));
}

LineReader CorpusReader::open(size_t file) const {
  return LineReader(files_.paths[file],
                    files_.stream && !files_.pairs ? LineReader::LongLines::cut : LineReader::LongLines::refuse);
}

std::optional<TextExample> CorpusReader::next() {
  if (files_.pairs) return files_.paths.size() == 2 ? next_aligned() : next_columns();
  while (true) {
    if (const auto line = readers_[0].next()) return TextExample{*line, {}, readers_[0].line(), readers_[0].goes_on()};
    if (file_ + 1 == files_.paths.size()) return std::nullopt;
    readers_[0] = open(++file_);
  }
}

std::optional<TextExample> CorpusReader::next_aligned() {
  const auto source = readers_[0].next(), target = readers_[1].next();
  if (source && target) return TextExample{*source, *target, readers_[0].line()};
  if (!source && !target) return std::nullopt;
  const size_t longer = source ? 0 : 1;
  const int64_t lines = readers_[1 - longer].line();
  fail("[data] {} has {} lines, {} has {}: line-aligned files have equally many", files_.paths[1 - longer].string(),
       lines, files_.paths[longer].string(), count_rest(readers_[longer]));
}

std::optional<TextExample> CorpusReader::next_columns() {
  const auto line = readers_[0].next();
  if (!line) return std::nullopt;
  const auto first = column(*line, files_.columns[0]), second = column(*line, files_.columns[1]);
  check(first && second, "[data] {}: line {} has no column {} (they are separated by tabs and count from 0)",
        files_.paths[0], readers_[0].line(), first ? files_.columns[1] : files_.columns[0]);
  return TextExample{*first, *second, readers_[0].line()};
}

double CorpusReader::progress() const {
  return (static_cast<double>(file_) + readers_[0].progress()) /
         static_cast<double>(files_.pairs ? 1 : files_.paths.size());
}

}  // namespace limpid
