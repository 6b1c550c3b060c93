#pragma once
// Comma-separated values (RFC 4180): a field that needs quotes gets them, and quotes in it are doubled.

#include <string>
#include <string_view>

namespace limpid {

std::string csv_field(std::string_view text);

}  // namespace limpid
