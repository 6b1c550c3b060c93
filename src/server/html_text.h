#pragma once
// The texts of an HTML document: what people read in it, and what stands between and stays as it is.

#include <string>
#include <string_view>
#include <vector>

namespace limpid {

struct HtmlPart {
  std::string text;  // to translate: with its characters instead of entities; else as it stands
  bool stays = false;
};

// In their order; joined they are the document. What stays: tags and comments; script, style, textarea, pre and code
// with what is in them; elements with translate="no"; entities that are not known. A tag ends a text, be it within a
// sentence.
std::vector<HtmlPart> html_parts(std::string_view html);

// A text as HTML has it.
std::string html_escaped(std::string_view text);

}  // namespace limpid
