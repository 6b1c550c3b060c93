#include "inference/text_stream.h"

#include <algorithm>

#include "base/error.h"
#include "text/utf8.h"

namespace limpid {
namespace {

constexpr std::string_view kReplaced = "\uFFFD";  // what decoding makes of half a character, byte by byte

// So much of what stands before decides how the text goes on.
constexpr size_t kBefore = 16;

// The length of the text without the characters at its end that further bytes may still complete: at most three bytes
// wait for a fourth.
size_t complete_length(std::string_view text) {
  size_t length = text.size();
  for (int i = 0; i < 3 && text.substr(0, length).ends_with(kReplaced); ++i) length -= kReplaced.size();
  return length;
}

// The most characters at the end of the text that begin a stop string.
size_t begun_length(std::string_view text, const std::vector<std::string>& stop) {
  size_t longest = 0;
  for (const std::string& string : stop)
    for (size_t length = std::min(text.size(), string.size() - 1); length > longest; --length)
      if (text.ends_with(std::string_view(string).substr(0, length))) longest = length;
  return longest;
}

}  // namespace

TextStream::TextStream(const Tokenizer& tokenizer, std::span<const int32_t> before, std::vector<std::string> stop)
    : tokenizer_(tokenizer), stop_(std::move(stop)) {
  for (const std::string& string : stop_) {
    check(!string.empty(), "[text] an empty stop string would stop everything: leave it out");
    check(!invalid_utf8(string), "[text] a stop string is not valid UTF-8: write it as text");
  }
  before = before.last(std::min(before.size(), kBefore));
  ids_.assign(before.begin(), before.end());
  done_ = ids_.size();
  given_ = decoded(0, done_).size();
}

std::string TextStream::decoded(size_t begin, size_t end) const {
  return tokenizer_.decode(std::span(ids_).subspan(begin, end - begin));
}

std::string TextStream::add(int32_t id) {
  if (stopped()) return "";
  ids_.push_back(id);
  const std::string text = decoded(anchor_, ids_.size());
  const size_t length = complete_length(text);
  std::string fresh = length > given_ ? text.substr(given_, length - given_) : "";
  given_ = std::max(given_, length);
  if (length == text.size()) {
    // Everything so far is whole, and what is older than this step is not needed again. A part without text would not
    // do as an anchor: the token after it would be written like the first one of a text.
    if (const std::string part = decoded(done_, ids_.size()); !part.empty()) {
      anchor_ = done_;
      given_ = part.size();
    }
    done_ = ids_.size();
  }
  return release(fresh, false);
}

std::string TextStream::finish() {
  if (stopped()) return "";
  const std::string text = decoded(anchor_, ids_.size());
  const std::string rest = text.size() > given_ ? text.substr(given_) : "";
  given_ = text.size();
  return release(rest, true);
}

std::string TextStream::release(std::string_view text, bool last) {
  held_ += text;
  size_t first = std::string::npos;
  for (size_t i = 0; i < stop_.size(); ++i)
    if (const size_t at = held_.find(stop_[i]); at < first) {
      first = at;
      stopped_ = static_cast<int64_t>(i);
    }
  const size_t shown = stopped() ? first : last ? held_.size() : held_.size() - begun_length(held_, stop_);
  std::string result = held_.substr(0, shown);
  held_.erase(0, stopped() ? held_.size() : shown);
  return result;
}

}  // namespace limpid
