#include "server/text_length.h"

#include "server/http.h"

namespace limpid {

void check_text_bytes(size_t bytes, int64_t most_tokens, const char* field) {
  constexpr int64_t kMostBytes = 256;  // of a token: vocabularies have them up to 128
  if (static_cast<int64_t>(bytes) / kMostBytes <= most_tokens) return;
  throw HttpError(400, fmt::format("A text has {} bytes and {} tokens are allowed: shorten it.", bytes, most_tokens),
                  {.param = field, .code = "context_length_exceeded"});
}

}  // namespace limpid
