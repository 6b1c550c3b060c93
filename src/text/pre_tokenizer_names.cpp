// The pre-tokenizers that GGUF files name, with the patterns of the vocabularies they belong to.

#include <fmt/ranges.h>

#include <array>

#include "base/error.h"
#include "text/pre_tokenizer.h"

namespace limpid {
namespace {

using nlohmann::ordered_json;

// Llama 3: endings of English in any case, words with one sign before them, numbers of three digits, signs with the
// line ends after them.
constexpr const char* kLlama3 =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"
    "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
// Qwen 2: the same with digits one by one.
constexpr const char* kQwen2 =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"
    "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

// GPT-4o: words by the case of their letters, with an English ending; Mistral's Tekken: without, and digits one by one.
constexpr const char* kGpt4o =
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+"
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*"
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
constexpr const char* kTekken =
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+|"
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*|"
    "\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
// DeepSeek 3: numbers of three digits, runs of ideographs and kana, then words and signs.
constexpr const char* kDeepSeek3Ideographs = "[\\x{4E00}-\\x{9FA5}\\x{3040}-\\x{309F}\\x{30A0}-\\x{30FF}]+";
constexpr const char* kDeepSeek3Words =
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+|"
    " ?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

constexpr const char* kLineEnds = "[\\r\\n]";
// DeepSeek LLM: letters that have cases, as ranges, since its table is that of an older Unicode.
constexpr const char* kDeepSeekLetters =
    "\\s?[A-Za-z\\x{B5}\\x{C0}-\\x{D6}\\x{D8}-\\x{F6}\\x{F8}-\\x{1BA}\\x{1BC}-\\x{1BF}\\x{1C4}-\\x{293}"
    "\\x{295}-\\x{2AF}\\x{370}-\\x{373}\\x{376}\\x{377}\\x{37B}-\\x{37D}\\x{37F}\\x{386}\\x{388}-\\x{38A}\\x{38C}"
    "\\x{38E}-\\x{3A1}\\x{3A3}-\\x{3F5}\\x{3F7}-\\x{481}\\x{48A}-\\x{52F}\\x{531}-\\x{556}\\x{10A0}-\\x{10C5}"
    "\\x{13A0}-\\x{13F5}\\x{13F8}-\\x{13FD}\\x{1C90}-\\x{1CBA}\\x{1CBD}-\\x{1CBF}\\x{1D00}-\\x{1D2B}"
    "\\x{1D6B}-\\x{1D77}\\x{1D79}-\\x{1D9A}\\x{1E00}-\\x{1F15}\\x{1F18}-\\x{1F1D}\\x{1F20}-\\x{1F45}"
    "\\x{1F48}-\\x{1F4D}\\x{1F50}-\\x{1F57}\\x{1F59}\\x{1F5B}\\x{1F5D}\\x{1F5F}-\\x{1F7D}\\x{1F80}-\\x{1FB4}"
    "\\x{1FB6}-\\x{1FBC}\\x{1FBE}\\x{1FC2}-\\x{1FC4}\\x{1FC6}-\\x{1FCC}\\x{1FD0}-\\x{1FD3}\\x{1FD6}-\\x{1FDB}"
    "\\x{1FE0}-\\x{1FEC}\\x{1FF2}-\\x{1FF4}\\x{1FF6}-\\x{1FFC}\\x{2102}\\x{2107}\\x{210A}-\\x{2113}\\x{2115}"
    "\\x{2119}-\\x{211D}\\x{2124}\\x{2126}\\x{2128}\\x{212A}-\\x{212D}\\x{212F}-\\x{2134}\\x{2139}"
    "\\x{213C}-\\x{213F}\\x{2145}-\\x{2149}\\x{214E}\\x{2183}\\x{2184}\\x{2C00}-\\x{2C7B}\\x{2C7E}-\\x{2CE4}"
    "\\x{2CEB}-\\x{2CEE}\\x{2CF2}\\x{2CF3}\\x{A640}-\\x{A66D}\\x{A680}-\\x{A69B}\\x{A722}-\\x{A76F}"
    "\\x{A771}-\\x{A787}\\x{A78B}-\\x{A78E}\\x{AB70}-\\x{ABBF}\\x{FB00}-\\x{FB06}\\x{FB13}-\\x{FB17}"
    "\\x{FF21}-\\x{FF3A}\\x{FF41}-\\x{FF5A}\\x{10400}-\\x{1044F}\\x{104B0}-\\x{104D3}\\x{104D8}-\\x{104FB}"
    "\\x{10C80}-\\x{10CB2}\\x{10CC0}-\\x{10CF2}\\x{118A0}-\\x{118DF}\\x{1E900}-\\x{1E943}]+";
constexpr const char* kDeepSeekSigns =
    "\\s?[!-/:-~\\x{FF01}-\\x{FF0F}\\x{FF1A}-\\x{FF5E}\\x{2018}-\\x{201F}\\x{3000}-\\x{3002}]+";
constexpr const char* kDeepSeekIdeographs = "[\\x{4E00}-\\x{9FA5}\\x{0800}-\\x{4E00}\\x{AC00}-\\x{D7FF}]+";

struct Named {
  std::string_view name;
  std::array<const char*, 6> patterns;  // each cuts what those before it have left
  bool whole_words = false, begins = false;
};
// llama.cpp's own, for files that name none: signs, GPT-2's words, numbers, three digits.
constexpr const char* kDefaultSigns = "[\\p{P}\\$\\+<=>\\^~\\|]+";
// Seed-Coder: as Qwen 2, where line ends do not follow signs.
constexpr const char* kSeedCoder =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|"
    "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
// BLOOM and those with its vocabulary.
constexpr const char* kBloom = " ?[^(\\s|.,!?\u2026\u3002\uFF0C\u3001\u0964\u06D4\u060C)]+";

constexpr std::array kNamed = {
    Named{"gpt-2", {"gpt-2"}},
    Named{"default", {kDefaultSigns, "gpt-2", "\\p{N}+", "[0-9][0-9][0-9]"}},
    Named{"phi-2", {"gpt-2"}},
    Named{"mpt", {"gpt-2"}},
    Named{"olmo", {"gpt-2"}},
    Named{"trillion", {"gpt-2"}},
    Named{"exaone4", {"gpt-2"}},
    Named{"modern-bert", {"gpt-2"}},
    Named{"jais", {"gpt-2"}},
    Named{"roberta-bpe", {"gpt-2"}},
    Named{"starcoder", {"\\p{N}", "gpt-2"}},
    Named{"refact", {"\\p{N}", "gpt-2"}},
    Named{"command-r", {"\\p{N}", "gpt-2"}},
    Named{"minerva-7b", {"\\p{N}", "gpt-2"}},
    Named{"codeshell", {"\\p{N}", "gpt-2"}},
    Named{"exaone", {"\\p{N}", "gpt-2"}},
    Named{"smollm", {"\\p{N}", "gpt-2"}},
    Named{"falcon", {"[\\p{P}\\$\\+<=>\\^~\\|`]+", "gpt-2", "[0-9][0-9][0-9]"}},
    Named{"deepseek-llm", {kLineEnds, kDeepSeekLetters, kDeepSeekSigns, "\\s+$", kDeepSeekIdeographs, "\\p{N}+"}},
    Named{"deepseek-coder", {kLineEnds, "\\s?\\p{L}+", "\\s?\\p{P}+", kDeepSeekIdeographs, "\\p{N}"}},
    Named{"llama-bpe", {kLlama3}, true, true},
    Named{"llama3", {kLlama3}, true, true},
    Named{"llama-v3", {kLlama3}, true, true},
    Named{"falcon3", {kLlama3}, true, true},
    Named{"pixtral", {kLlama3}, true, true},
    Named{"qwen2", {kQwen2}},
    Named{"stablelm2", {kQwen2}},
    Named{"megrez", {kQwen2}},
    Named{"seed-coder", {kSeedCoder}},
    Named{"glm4", {kLlama3}},
    Named{"chatglm-bpe", {kLlama3}},
    Named{"bloom", {kBloom}},
    Named{"gpt3-finnish", {kBloom}},
    Named{"deepseek-r1-qwen", {kQwen2}},
    Named{"smaug-bpe", {kLlama3}},
    Named{"dbrx", {kLlama3}},
    Named{"gpt-4o", {kGpt4o}},
    Named{"llama4", {kGpt4o}},
    Named{"tekken", {kTekken}, true, true},
    Named{"deepseek-v3", {"\\p{N}{1,3}", kDeepSeek3Ideographs, kDeepSeek3Words}},
};

const Named& named(const std::string& name, const std::string& where) {
  for (const Named& one : kNamed)
    if (one.name == name) return one;
  std::vector<std::string_view> known;
  for (const Named& one : kNamed) known.push_back(one.name);
  fail("{}: has the pre-tokenizer \"{}\"; Limpid knows {}: use a model with one of these", where, name,
       fmt::join(known, ", "));
}

}  // namespace

ordered_json named_pre_tokenizer(const std::string& name, const std::string& where) {
  ordered_json steps = ordered_json::array();
  for (const char* pattern : named(name, where).patterns) {
    if (!pattern) break;
    const std::string_view regex = pattern == std::string_view("gpt-2") ? kGpt2Pattern : pattern;
    steps.push_back({{"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", "Isolated"}, {"invert", false}});
  }
  steps.push_back({{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", false}});
  return {{"type", "Sequence"}, {"pretokenizers", steps}};
}

NamedHabits named_habits(const std::string& name, const std::string& where) {
  const Named& found = named(name, where);
  return {.whole_words = found.whole_words, .begins = found.begins};
}

}  // namespace limpid
