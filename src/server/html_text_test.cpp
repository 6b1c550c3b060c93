#include "server/html_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace limpid {
namespace {

using testing::ElementsAre;

// What is translated in [brackets], the rest as it stands.
std::string marked(std::string_view html) {
  std::string text;
  for (const HtmlPart& part : html_parts(html)) text += part.stays ? part.text : "[" + part.text + "]";
  return text;
}

TEST(HtmlText, TagsStay) {
  EXPECT_EQ(marked("a <b>c</b> d"), "[a ]<b>[c]</b>[ d]");
  EXPECT_EQ(marked("<a title=\"x > y\" href='a>b'>c</a>"), "<a title=\"x > y\" href='a>b'>[c]</a>");
  EXPECT_EQ(marked("<a title = \"x > y\">c"), "<a title = \"x > y\">[c]");
  EXPECT_EQ(marked("a<br/>b<!-- c > d -->e<!DOCTYPE html><?x?>f"),
            "[a]<br/>[b]<!-- c > d -->[e]<!DOCTYPE html><?x?>[f]");
  EXPECT_EQ(marked("a < b, c <3"), "[a < b, c <3]");
  EXPECT_EQ(marked("a<b title=\"c"), "[a]<b title=\"c");
  EXPECT_EQ(marked("<"), "[<]");
}

TEST(HtmlText, SomeElementsStayWhole) {
  for (const char* html : {"<script>if (a < b) \"</b>\"</script>", "<STYLE>b {}</style >", "<textarea>a <b></textarea>",
                           "<pre>a <i>b</i></pre>", "<code>a</code>", "<p translate=\"no\">a <p>b</p> c</p>",
                           "<span class=x translate=NO>a<br>b</span>", "<pre>never closed", "<script>never closed"})
    EXPECT_EQ(marked(html), html);
  EXPECT_EQ(marked("<p translate=no>a</p>b<p translate=\"yes\">c</p>"),
            "<p translate=no>a</p>[b]<p translate=\"yes\">[c]</p>");
  EXPECT_EQ(marked("<img translate=no>a"), "<img translate=no>[a]");
  EXPECT_EQ(marked("<preface>a</preface>"), "<preface>[a]</preface>");
}

TEST(HtmlText, EntitiesAreTheirCharacters) {
  EXPECT_EQ(marked("caf&eacute; &lt;&amp;&gt; &#233;&#xE9; &yuml;&nbsp;&Uuml; &euro;"),
            "[caf\u00e9 <&> \u00e9\u00e9 \u00ff\u00a0\u00dc \u20ac]");
  EXPECT_EQ(marked("a &unheard; b & c &; &#xD800; AT&T;"), "[a ]&unheard;[ b & c &; ]&#xD800;[ AT]&T;");
  EXPECT_EQ(html_escaped("a <b> & c"), "a &lt;b&gt; &amp; c");
}

}  // namespace
}  // namespace limpid
