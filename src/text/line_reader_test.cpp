#include "text/line_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/temporary_folder.h"

namespace limpid {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::vector<std::string> lines;
  LineReader reader(path);
  while (const auto line = reader.next()) {
    lines.emplace_back(*line);
    EXPECT_EQ(reader.line(), static_cast<int64_t>(lines.size()));
  }
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_EQ(reader.progress(), 1.0);
  return lines;
}

std::string gzip(std::string_view text) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string error_of(const std::filesystem::path& path) {
  try {
    lines_of(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

class LineReaderTest : public testing::Test {
 protected:
  std::filesystem::path file(std::string_view bytes) {
    write_text(folder_ / "text", bytes);
    return folder_ / "text";
  }
  TemporaryFolder folder_;
};

TEST_F(LineReaderTest, EndsOfLines) {
  EXPECT_THAT(lines_of(file("one\ntwo\r\n\nfour")), ElementsAre("one", "two", "", "four"));
  EXPECT_THAT(lines_of(file("one\n")), ElementsAre("one"));
  EXPECT_THAT(lines_of(file("\n")), ElementsAre(""));
  EXPECT_THAT(lines_of(file("")), ElementsAre());
}

TEST_F(LineReaderTest, ByteOrderMark) {
  EXPECT_THAT(lines_of(file("\xEF\xBB\xBFone\n\xEF\xBB\xBFtwo")), ElementsAre("one", "\xEF\xBB\xBFtwo"));
  EXPECT_THAT(lines_of(file("\xEF\xBB\xBF")), ElementsAre());
}

TEST_F(LineReaderTest, LinesAcrossChunks) {
  std::string text;
  std::vector<std::string> lines;
  for (int i = 0; i < 300; ++i) {
    lines.push_back(std::string(static_cast<size_t>(i * 7), static_cast<char>('a' + i % 26)) + "한");
    text += lines.back() + '\n';
  }
  ASSERT_GT(text.size(), 300000u);
  EXPECT_EQ(lines_of(file(text)), lines);
  EXPECT_EQ(lines_of(file(gzip(text))), lines);
}

// A stream may be one line, of any length: it comes in parts that together are the line, cut behind a space where there
// is one, and never inside a character.
TEST_F(LineReaderTest, LongLinesOfAStreamComeInParts) {
  std::string words = "the first line\n", solid;
  for (int i = 0; i < 30000; ++i) words += std::to_string(i * 7919 % 65536) + (i % 3 ? " " : "한 ");
  for (int i = 0; i < 5000; ++i) solid += "한글";
  for (const std::string& text : {words, solid, words + "\r\nlast", std::string("short")}) {
    for (const size_t longest : {size_t{17}, size_t{1000}, size_t{100000}}) {
      LineReader reader(file(text), LineReader::LongLines::cut, longest);
      std::string joined;
      int64_t line = 1;
      while (const auto part = reader.next()) {
        EXPECT_LE(part->size(), longest);
        EXPECT_EQ(reader.line(), line);
        joined += *part;
        if (reader.goes_on()) {
          EXPECT_TRUE(part->ends_with(' ') || text == solid) << *part;
          continue;
        }
        joined += '\n';
        ++line;
      }
      std::string expected = text;
      if (const size_t end = expected.find("\r\n"); end != expected.npos) expected.erase(end, 1);
      EXPECT_EQ(joined, expected + '\n');
    }
  }
  EXPECT_THROW(
      {
        LineReader refusing(file(words), LineReader::LongLines::refuse, 1000);
        while (refusing.next()) {
        }
      },
      Error);
}

TEST_F(LineReaderTest, GzipOfSeveralMembersAndPadding) {
  EXPECT_THAT(lines_of(file(gzip("one\ntw") + gzip("") + gzip("o\r\nthree") + std::string(512, '\0'))),
              ElementsAre("one", "two", "three"));
}

TEST_F(LineReaderTest, GzipCutShortIsAnError) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += std::to_string(i * 7919 % 65536) + "\n";
  const std::string packed = gzip(text);
  for (const size_t bytes : {size_t{2}, size_t{10}, packed.size() / 2, packed.size() - 1})
    EXPECT_THAT(error_of(file(packed.substr(0, bytes))), HasSubstr("end too early, after line")) << bytes;
}

TEST_F(LineReaderTest, GzipDamagedIsAnError) {
  std::string packed = gzip(std::string(1000, 'a') + "\nlast\n");
  packed[packed.size() - 6] ^= 1;  // the checksum
  EXPECT_THAT(error_of(file(packed)), HasSubstr("damaged after line"));
}

TEST_F(LineReaderTest, InvalidTextNamesLineAndByte) {
  EXPECT_THAT(error_of(file("one\ntwo\nth\xFFree\n")), HasSubstr("text:3: byte 3 of the line (0xff) is not UTF-8"));
  EXPECT_THAT(error_of(file("\xFF\xFEh\0i\0")), HasSubstr("UTF-16"));
}

TEST_F(LineReaderTest, ALineWithoutEndIsAnError) {
  EXPECT_THAT(error_of(file("short\n" + std::string((16 << 20) + 1, 'x'))), HasSubstr("text:2: the line is longer"));
}

TEST_F(LineReaderTest, MissingFilesAndFoldersAreErrors) {
  EXPECT_THAT(error_of(folder_ / "nothing"), HasSubstr("nothing: cannot be opened"));
  EXPECT_THAT(error_of(folder_.path()), HasSubstr("cannot be read"));
}

TEST_F(LineReaderTest, ProgressGrows) {
  LineReader reader(file(std::string(200000, 'x') + "\n" + std::string(200000, 'y')));
  reader.next();
  EXPECT_GT(reader.progress(), 0.4);
  EXPECT_LT(reader.progress(), 0.9);
}

}  // namespace
}  // namespace limpid
