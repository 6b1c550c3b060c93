#pragma once
// Lines of text as a model reads them, for commands that answer line by line.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "inference/loaded_model.h"

namespace limpid {

struct LineTexts {
  int64_t first = 1;  // the number of the first line, counted from 1
  std::vector<std::string> lines;
  std::vector<std::vector<int32_t>> ids;  // no more tokens than the model reads
};

struct LineOptions {
  int64_t longest = 0;  // tokens of a text; 0: as many as the model reads
  // The ids of a line; else what the model reads of any text.
  std::function<std::vector<int32_t>(const std::string& line)> ids = {};
};

// Calls body with some lines at a time, until the input ends. The end of a text that is too long for the model is left
// out, which is said in the name of the command; what the model has behind every text stays. What body has written to
// the standard output is flushed.
void for_each_line_texts(const std::string& command, const LoadedModel& loaded, const std::vector<std::string>& files,
                         const std::function<void(const LineTexts&)>& body, const LineOptions& options = {});

}  // namespace limpid
