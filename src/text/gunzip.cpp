#include "text/gunzip.h"

#include <utility>

#include "base/error.h"

namespace limpid {

Gunzip::Gunzip(std::string name) : name_(std::move(name)) {
  if (inflateInit2(&stream_, 15 + 16) != Z_OK)
    fail(ErrorKind::out_of_memory, "[text] {}: no memory to unpack it", name_);
}

Gunzip::~Gunzip() { inflateEnd(&stream_); }

std::string_view Gunzip::next(const std::function<std::string_view()>& more, int64_t line) {
  stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
  stream_.avail_out = static_cast<uInt>(buffer_.size());
  while (stream_.avail_out == buffer_.size()) {
    if (stream_.avail_in == 0) {
      const std::string_view packed = more();
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));  // zlib only reads it
      stream_.avail_in = static_cast<uInt>(packed.size());
    }
    if (stream_.avail_in == 0) {
      check(between_members_, "[text] {}: its gzip data end too early, after line {}: copy or download it again", name_,
            line);
      break;
    }
    if (between_members_ && *stream_.next_in == 0) {  // zeros that pad the file to a block
      ++stream_.next_in;
      --stream_.avail_in;
      continue;
    }
    between_members_ = false;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      between_members_ = true;
      inflateReset(&stream_);
    } else {
      check(result == Z_OK || result == Z_BUF_ERROR,
            "[text] {}: its gzip data are damaged after line {} ({}): copy or download it again", name_, line,
            stream_.msg != nullptr ? stream_.msg : "zlib gives no reason");
    }
  }
  return {buffer_.data(), buffer_.size() - stream_.avail_out};
}

}  // namespace limpid
