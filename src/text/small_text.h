#pragma once
// A few lines of English and Korean to train tokenizers on in tests.

#include <string>
#include <vector>

#include "text/tokenizer_training.h"

namespace limpid {

inline std::vector<std::string> english() {
  std::vector<std::string> lines;
  for (const char* subject : {"the weather", "the music", "this book", "her garden", "our house", "the coffee"})
    for (const char* rest : {"is nice today", "was better yesterday", "is not so bad", "will be ready tomorrow"})
      lines.push_back(std::string(subject) + " " + rest + ".");
  return lines;
}

inline std::vector<std::string> korean() {
  std::vector<std::string> lines;
  for (const char* subject : {"날씨가", "음악이", "이 책이", "정원이", "우리 집이", "커피가"})
    for (const char* rest : {"오늘 좋아요", "어제 더 좋았어요", "나쁘지 않아요", "내일 준비될 거예요"})
      lines.push_back(std::string(subject) + " " + rest + ".");
  return lines;
}

inline EachLine each_of(const std::vector<std::string>& lines) {
  return [lines](const std::function<void(std::string_view)>& body) {
    for (const std::string& line : lines) body(line);
  };
}

}  // namespace limpid
