#include "app/line_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "app/input_lines.h"
#include "base/error.h"
#include "inference/decoder_state.h"
#include "inference/model_text.h"

namespace limpid {

void for_each_line_texts(const std::string& command, const LoadedModel& loaded, const std::vector<std::string>& files,
                         const std::function<void(const LineTexts&)>& body, const LineOptions& options) {
  constexpr size_t kLinesAtOnce = 256;
  // Rotary positions go on for ever, but a model is not made for more than its context, and the work grows with the
  // square of the length.
  const int64_t context = loaded.config().max_positions;
  int64_t limit = context > 0 ? context : most_positions(loaded.config());
  if (options.longest > 0) limit = std::min(limit, options.longest);
  const auto most = static_cast<size_t>(limit);
  InputLines input(files);
  for (int64_t first = 1;;) {
    LineTexts texts{.first = first, .lines = input.next_lines(kLinesAtOnce)};
    if (texts.lines.empty()) return;
    for (const std::string& line : texts.lines) {
      auto& ids = texts.ids.emplace_back(options.ids ? options.ids(line) : input_ids(loaded, line));
      if (ids.size() > most) {
        fmt::print(stderr, "limpid {}: line {} has {} tokens, the model reads {}: its end is left out\n", command,
                   first, ids.size(), most);
        const ptrdiff_t after = std::min(special_count(loaded).after, limit);  // what ends every text stays
        ids.erase(ids.begin() + limit - after, ids.end() - after);
      }
      ++first;
    }
    body(texts);
    check(std::fflush(stdout) == 0, "[{}] the output cannot be written: is the disk full?", command);
  }
}

}  // namespace limpid
