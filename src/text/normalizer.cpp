#include "text/normalizer.h"

#include <utf8proc.h>

#include <cstdlib>

#include "base/base64.h"
#include "base/error.h"
#include "text/character_map.h"
#include "text/regex.h"
#include "text/utf8.h"

namespace limpid {
namespace {

using nlohmann::ordered_json;
using Step = std::function<std::string(std::string)>;

utf8proc_category_t category_of(char32_t point) { return utf8proc_category(static_cast<utf8proc_int32_t>(point)); }

// Unicode's categories C… but for unassigned characters, which Hugging Face's library leaves where they are.
bool is_other(char32_t point) {
  switch (category_of(point)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO: return true;
    default: return false;
  }
}

// The ideographs that BERT takes one by one: its own list of blocks.
bool is_ideograph(char32_t point) {
  return (point >= 0x4E00 && point <= 0x9FFF) || (point >= 0x3400 && point <= 0x4DBF) ||
         (point >= 0x20000 && point <= 0x2A6DF) || (point >= 0x2A700 && point <= 0x2B73F) ||
         (point >= 0x2B740 && point <= 0x2B81F) || (point >= 0x2B920 && point <= 0x2CEAF) ||
         (point >= 0xF900 && point <= 0xFAFF) || (point >= 0x2F800 && point <= 0x2FA1F);
}

std::string cleaned(std::string_view text) {
  std::string result;
  each_code_point(text, [&](char32_t point, std::string_view bytes) {
    const bool line_space = point == '\t' || point == '\n' || point == '\r';
    if (point == 0 || point == kReplacement || (!line_space && is_other(point))) return;
    if (line_space || is_space(point))
      result += ' ';
    else
      result += bytes;
  });
  return result;
}

std::string with_spaced_ideographs(std::string_view text) {
  std::string result;
  each_code_point(text, [&](char32_t point, std::string_view bytes) {
    if (is_ideograph(point))
      result.append(" ").append(bytes).append(" ");
    else
      result += bytes;
  });
  return result;
}

Step replace_step(const ordered_json& step, const std::string& where) {
  const ordered_json& pattern = step.at("pattern");
  auto content = step.at("content").get<std::string>();
  Regex regex(pattern.contains("Regex") ? pattern.at("Regex").get<std::string>()
                                        : escaped_pattern(pattern.at("String").get<std::string>()),
              where);
  return [regex = std::move(regex), content = std::move(content)](const std::string& text) {
    std::string result;
    size_t at = 0;
    regex.each_match(text, [&](size_t begin, size_t end) {
      result.append(text, at, begin - at).append(content);
      check(result.size() <= 4096 + 8 * text.size(),
            "[tokenizer] a step Replace makes a text of {} bytes endless: is "
            "tokenizer.json damaged?",
            text.size());
      at = end;
    });
    return result.append(text, at);
  };
}

Step strip_step(bool left, bool right) {
  return [=](const std::string& text) {
    size_t begin = text.size(), end = 0, at = 0;
    each_code_point(text, [&](char32_t point, std::string_view bytes) {
      if (!is_space(point)) {
        begin = std::min(begin, at);
        end = at + bytes.size();
      }
      at += bytes.size();
    });
    if (!left) begin = 0;
    if (!right) end = text.size();
    return begin < end ? text.substr(begin, end - begin) : std::string();
  };
}

// What SentencePiece's rule "nmt" does before all others: control characters go, odd spaces become plain ones.
std::string nmt_cleaned(std::string_view text) {
  std::string result;
  each_code_point(text, [&](char32_t point, std::string_view bytes) {
    const auto in = [&](char32_t first, char32_t last) { return point >= first && point <= last; };
    if (in(0x01, 0x08) || point == 0x0B || in(0x0E, 0x1F) || point == 0x7F || point == 0x8F || point == 0x9F) return;
    const bool space = point == 0x09 || point == 0x0A || point == 0x0C || point == 0x0D || point == 0x1680 ||
                       in(0x200B, 0x200F) || in(0x2028, 0x2029) || point == 0x2581 || point == 0xFEFF ||
                       point == 0xFFFD;
    if (space)
      result += ' ';
    else
      result += bytes;
  });
  return result;
}

Step bert_step(const ordered_json& step) {
  BertNormalizing options;
  options.clean = step.value("clean_text", true);
  options.ideographs = step.value("handle_chinese_chars", true);
  options.lowercase = step.value("lowercase", true);
  const auto accents = step.find("strip_accents");
  options.strip_accents = accents == step.end() || accents->is_null() ? options.lowercase : accents->get<bool>();
  return [options](const std::string& text) { return bert_normalized(text, options); };
}

}  // namespace

std::string normal_form(const std::string& text, std::string_view form) {
  int options = UTF8PROC_STABLE | (form.ends_with('C') ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE);
  if (form.find('K') != std::string_view::npos) options |= UTF8PROC_COMPAT;
  utf8proc_uint8_t* made = nullptr;
  const utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &made, static_cast<utf8proc_option_t>(options));
  check(size >= 0, "[tokenizer] a text has no form {} ({}): is it valid UTF-8?", form, utf8proc_errmsg(size));
  std::string result(reinterpret_cast<const char*>(made), static_cast<size_t>(size));
  std::free(made);
  return result;
}

std::string without_marks(std::string_view text, bool spacing) {
  std::string result;
  each_code_point(text, [&](char32_t point, std::string_view bytes) {
    const utf8proc_category_t category = category_of(point);
    const bool wide = category == UTF8PROC_CATEGORY_MC || category == UTF8PROC_CATEGORY_ME;
    if (category != UTF8PROC_CATEGORY_MN && !(spacing && wide)) result += bytes;
  });
  return result;
}

std::string bert_normalized(std::string_view text, const BertNormalizing& options) {
  std::string result = options.clean ? cleaned(text) : std::string(text);
  if (options.ideographs) result = with_spaced_ideographs(result);
  if (options.strip_accents) result = without_marks(normal_form(result, "NFD"), false);
  return options.lowercase ? lower_case(result) : result;
}

Normalizer::Normalizer(const ordered_json& json, const std::string& where) : json_(json) {
  if (!json.is_null()) read(json, where);
}

void Normalizer::read(const ordered_json& step, const std::string& where) {
  const auto type = step.at("type").get<std::string>();
  if (type == "Sequence") {
    for (const ordered_json& one : step.at("normalizers")) read(one, where);
  } else if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") {
    steps_.emplace_back([type](const std::string& text) { return normal_form(text, type); });
  } else if (type == "Lowercase") {
    steps_.emplace_back([](const std::string& text) { return lower_case(text); });
  } else if (type == "StripAccents") {
    steps_.emplace_back([](const std::string& text) { return without_marks(text, true); });
  } else if (type == "Nmt") {
    steps_.emplace_back([](const std::string& text) { return nmt_cleaned(text); });
  } else if (type == "Strip") {
    steps_.push_back(strip_step(step.value("strip_left", true), step.value("strip_right", true)));
  } else if (type == "Prepend") {
    steps_.emplace_back([prefix = step.at("prepend").get<std::string>()](std::string text) {
      return text.empty() ? std::move(text) : prefix + text;
    });
  } else if (type == "Replace") {
    steps_.push_back(replace_step(step, where));
  } else if (type == "Precompiled") {
    const ordered_json& map = step.at("precompiled_charsmap");
    if (!map.is_string()) return;
    steps_.emplace_back([map = CharacterMap(bytes_of_base64(map.get<std::string>()), where)](const std::string& text) {
      return map.apply(text);
    });
  } else if (type == "BertNormalizer") {
    steps_.push_back(bert_step(step));
  } else {
    fail("{}: has the normalizer {}, which Limpid does not know beside this model: use a tokenizer without it", where,
         type);
  }
}

std::string Normalizer::apply(std::string_view text) const {
  // Of Unicode's own forms none makes a text more than 18 times as long; a chain of replacements could make it endless.
  const size_t most = 4096 + 64 * text.size();
  std::string result(text);
  for (const auto& step : steps_) {
    result = step(std::move(result));
    check(result.size() <= most, "[tokenizer] the normalizer makes {} bytes of {}: is tokenizer.json damaged?",
          result.size(), text.size());
  }
  return result;
}

}  // namespace limpid
