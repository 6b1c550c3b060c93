#include "text/pre_tokenizer.h"

#include "base/error.h"

namespace limpid {
namespace {

using nlohmann::ordered_json;

struct Stretch {
  size_t begin, end;
  bool match;
};

std::vector<Stretch> stretches_of(const Regex& regex, std::string_view part, bool invert) {
  std::vector<Stretch> stretches;
  size_t at = 0;
  const auto gap = [&](size_t end) {
    if (end > at) stretches.push_back({at, end, invert});
  };
  regex.each_match(part, [&](size_t begin, size_t end) {
    gap(begin);
    stretches.push_back({begin, end, !invert});
    at = end;
  });
  gap(part.size());
  return stretches;
}

}  // namespace

const char* const kGpt2Pattern = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

PreTokenizer::PreTokenizer(const ordered_json& json, const std::string& where) : json_(json) {
  if (!json.is_null()) read(json, where);
}

PreTokenizer::Behavior PreTokenizer::behavior_named(const std::string& name, const std::string& where) {
  if (name == "Isolated") return Behavior::isolated;
  if (name == "Removed") return Behavior::removed;
  if (name == "MergedWithPrevious") return Behavior::merged_with_previous;
  if (name == "MergedWithNext") return Behavior::merged_with_next;
  if (name == "Contiguous") return Behavior::contiguous;
  fail("{}: splits text in the manner \"{}\", which Limpid does not know: use another tokenizer", where, name);
}

void PreTokenizer::read_split(const ordered_json& step, const std::string& where) {
  const ordered_json& pattern = step.at("pattern");
  const std::string regex = pattern.contains("Regex") ? pattern.at("Regex").get<std::string>()
                                                      : escaped_pattern(pattern.at("String").get<std::string>());
  rules_.push_back({Regex(regex, where), behavior_named(step.at("behavior").get<std::string>(), where),
                    step.value("invert", false)});
}

void PreTokenizer::read_metaspace(const ordered_json& step, const std::string& where) {
  space_mark_ = step.value("replacement", "\u2581");
  space_prefix_ = step.value("prepend_scheme", step.value("add_prefix_space", true) ? "always" : "never");
  if (step.value("split", true))
    rules_.push_back({Regex(escaped_pattern(space_mark_), where), Behavior::merged_with_next});
}

void PreTokenizer::read(const ordered_json& step, const std::string& where) {
  const auto type = step.at("type").get<std::string>();
  const auto rule = [&](const char* pattern, Behavior behavior, bool invert = false) {
    rules_.push_back({Regex(pattern, where), behavior, invert});
  };
  // Unicode's punctuation and the signs of ASCII that it does not count as such.
  constexpr const char* kPunctuation = "[\\p{P}!-/:-@\\[-`{-~]";
  if (type == "Sequence") {
    for (const ordered_json& one : step.at("pretokenizers")) read(one, where);
  } else if (type == "Split") {
    read_split(step, where);
  } else if (type == "ByteLevel") {
    byte_level_ = true;
    prefix_space_ = step.value("add_prefix_space", true);
    if (step.value("use_regex", true)) rule(kGpt2Pattern, Behavior::isolated);
  } else if (type == "Metaspace") {
    read_metaspace(step, where);
  } else if (type == "Digits") {
    rule("\\p{N}", step.value("individual_digits", false) ? Behavior::isolated : Behavior::contiguous);
  } else if (type == "Punctuation") {
    rules_.push_back({Regex(kPunctuation, where), behavior_named(step.value("behavior", "Isolated"), where)});
  } else if (type == "Whitespace") {
    rule("\\w+|[^\\w\\s]+", Behavior::removed, true);
  } else if (type == "WhitespaceSplit") {
    rule("\\s", Behavior::removed);
  } else if (type == "CharDelimiterSplit") {
    rules_.push_back({Regex(escaped_pattern(step.at("delimiter").get<std::string>()), where), Behavior::removed});
  } else if (type == "BertPreTokenizer") {
    rule("\\s", Behavior::removed);
    rule(kPunctuation, Behavior::isolated);
  } else {
    fail("{}: has the pre-tokenizer {}, which Limpid does not know: use a tokenizer without it", where, type);
  }
}

void PreTokenizer::apply(const Rule& rule, std::string_view part, std::vector<std::string_view>& parts) {
  const std::vector<Stretch> stretches = stretches_of(rule.regex, part, rule.invert);
  std::vector<Stretch> joined;
  for (const Stretch& now : stretches) {
    const bool first = joined.empty();
    const bool after_match = !first && joined.back().match;
    const bool joins = !first && ((rule.behavior == Behavior::contiguous && now.match == after_match) ||
                                  (rule.behavior == Behavior::merged_with_previous && now.match && !after_match) ||
                                  (rule.behavior == Behavior::merged_with_next && !now.match && after_match));
    if (rule.behavior == Behavior::removed && now.match) continue;
    if (joins)
      joined.back() = {joined.back().begin, now.end, now.match};
    else
      joined.push_back(now);
  }
  for (const Stretch& stretch : joined) parts.push_back(part.substr(stretch.begin, stretch.end - stretch.begin));
}

std::vector<std::string_view> PreTokenizer::split(std::string_view text) const {
  std::vector<std::string_view> parts;
  if (!text.empty()) parts.push_back(text);
  for (const Rule& rule : rules_) {
    std::vector<std::string_view> finer;
    finer.reserve(parts.size());
    for (const std::string_view part : parts) apply(rule, part, finer);
    parts = std::move(finer);
  }
  return parts;
}

}  // namespace limpid
