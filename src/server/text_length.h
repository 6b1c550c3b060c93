#pragma once
// How long a text may be, asked before it is cut into tokens: that takes time which nobody has asked for.

#include <cstddef>
#include <cstdint>

namespace limpid {

// Refuses (HttpError 400) a text of so many bytes that it cannot come to that few tokens, whatever they are. `field` is
// that of the request which holds it.
void check_text_bytes(size_t bytes, int64_t most_tokens, const char* field);

}  // namespace limpid
