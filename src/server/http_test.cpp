#include "server/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "server/languages.h"
#include "server/page_files.h"
#include "server/router.h"
#include "server/transport.h"

namespace limpid {
namespace {

TEST(PageFiles, WhoReadsGzipGetsTheFileThatLiesBesideIt) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "page-files";
  std::filesystem::create_directories(folder / "assets");
  for (const auto& [name, text] :
       {std::pair{"index.html", "<p>"}, {"assets/a.js", "long"}, {"assets/a.js.gz", "short"}})
    std::ofstream(folder / name) << text;
  const PageFiles page(folder);
  const Response plain = page.answer("assets/a.js"), small = page.answer("assets/a.js", true);
  EXPECT_EQ(plain.body, "long");
  EXPECT_EQ(small.body, "short");
  EXPECT_EQ(small.content_type, plain.content_type);
  EXPECT_TRUE(std::count(small.headers.begin(), small.headers.end(),
                         std::pair<std::string, std::string>("Content-Encoding", "gzip")));
  EXPECT_FALSE(std::count(plain.headers.begin(), plain.headers.end(),
                          std::pair<std::string, std::string>("Content-Encoding", "gzip")));
  EXPECT_TRUE(std::count(plain.headers.begin(), plain.headers.end(),
                         std::pair<std::string, std::string>("Vary", "Accept-Encoding")));
  EXPECT_EQ(page.answer("", true).body, "<p>");  // nothing smaller lies beside it
  EXPECT_THROW(page.answer("assets/a.js.gz"), HttpError);
}

TEST(Http, DecodesPathsAndForms) {
  EXPECT_EQ(percent_decoded("a%20b%C3%A9+"), "a bé+");
  EXPECT_EQ(percent_decoded("a%2"), std::nullopt);
  EXPECT_EQ(percent_decoded("%g0"), std::nullopt);
  const auto form = parse_form("q=the+fox&empty=&bare&q2=a%26b");
  ASSERT_TRUE(form);
  EXPECT_EQ(form->at("q"), "the fox");
  EXPECT_EQ(form->at("empty"), "");
  EXPECT_EQ(form->at("bare"), "");
  EXPECT_EQ(form->at("q2"), "a&b");
  Request request;
  EXPECT_TRUE(parse_target("/a%2Fb?x=1#c", request));
  EXPECT_EQ(request.path, "/a%2Fb") << "as it was sent: a route splits it before it is decoded";
  EXPECT_EQ(request.query.at("x"), "1");
  EXPECT_FALSE(parse_target("a", request));
  EXPECT_FALSE(parse_target("/a%00", request));
}

TEST(Http, WritesEvents) {
  EXPECT_EQ(event_text("a"), "data: a\n\n");
  EXPECT_EQ(event_text("a\nb", "progress"), "event: progress\ndata: a\ndata: b\n\n");
}

TEST(Http, ParsesWholeRequests) {
  const auto request = parse_request("POST /x?y=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", {});
  ASSERT_TRUE(request);
  EXPECT_EQ(request->method, "POST");
  EXPECT_EQ(request->path, "/x");
  EXPECT_EQ(request->header("host"), "a");
  EXPECT_EQ(request->body, "abc");
  EXPECT_FALSE(parse_request("POST /x HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc", {}));
  EXPECT_FALSE(parse_request("POST /x HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc", {}));
  EXPECT_FALSE(parse_request("nonsense", {}));
}

TEST(Router, FindsByPattern) {
  Router router;
  const auto handler = [](const Request&) { return Response{}; };
  router.add("GET", "/runs/{id}/log", handler);
  router.add("POST", "/runs", handler);
  router.add("GET", "/{file...}", handler);
  EXPECT_EQ(router.find("GET", "/runs/7/log").parameters.at("id"), "7");
  EXPECT_EQ(router.find("HEAD", "/runs/7/log").route->pattern, "/runs/{id}/log");
  EXPECT_EQ(router.find("GET", "/runs//log").parameters.at("file"), "runs//log");
  EXPECT_EQ(router.find("GET", "/").parameters.at("file"), "");
  EXPECT_EQ(router.find("DELETE", "/runs").allowed, "POST");
  EXPECT_EQ(router.find("GET", "/runs").allowed, "POST");  // and not a file of the page
  EXPECT_EQ(router.find("POST", "/other").route, nullptr);
  EXPECT_THROW(router.add("POST", "/runs", handler), Error);
}

TEST(Languages, AreKnownByNameAndScript) {
  EXPECT_EQ(language_pair_of("opus-mt-en-ko")->target, "ko");
  EXPECT_EQ(language_pair_of("en_de")->source, "en");
  EXPECT_FALSE(language_pair_of("translator"));
  EXPECT_THROW(parse_language_pair("english"), Error);
  EXPECT_EQ(detect_language("선생님은 reads", {"en", "ko"})->code, "en") << "five letters of nine";
  EXPECT_EQ(detect_language("선생님은 책을", {"en", "ko"})->code, "ko");
  EXPECT_FALSE(detect_language("the fox", {"en", "de"})) << "the script does not tell";
  EXPECT_FALSE(detect_language("123", {"en", "ko"}));
}

}  // namespace
}  // namespace limpid
