#include "text/chat_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/temporary_folder.h"

namespace limpid {
namespace {

using testing::HasSubstr;
using Json = nlohmann::ordered_json;

std::string rendered(const std::string& text, const Json& messages = Json::array(), const ChatOptions& options = {}) {
  return ChatTemplate::parse(text).render(messages, options);
}
std::string error_of(const std::string& text) {
  try {
    rendered(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

const Json kTalk = Json::array({{{"role", "system"}, {"content", "Be brief."}},
                                {{"role", "user"}, {"content", " Hi\n"}},
                                {{"role", "assistant"}, {"content", "Hello."}},
                                {{"role", "user"}, {"content", "한글?"}}});

// What Jinja 3.1 makes of each, with the settings of Hugging Face's library.
TEST(ChatTemplate, ExpressionsAreThoseOfJinja) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{{ 1 + 2 * 3 ** 2 - 7 // 2 }}", "16"},
      {"{{ 7 / 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 2.0 }} {{ 1e3 }}", "3.5 -4 2 2.0 1000.0"},
      {"{{ 'a' ~ 1 ~ none ~ true }}", "a1NoneTrue"},
      {"{{ [1, 'a', none, {'b': 2.5}] }}", "[1, 'a', None, {'b': 2.5}]"},
      {"{{ 'it''s' }} {{ \"q\\\"\" }}", "its q\""},
      {"{{ 'abcdef'[1:3] }} {{ 'abcdef'[::-1] }} {{ 'abcdef'[-2] }} {{ '한국어'[1:] }}", "bc fedcba e 국어"},
      {"{{ 1 < 2 < 3 }} {{ 3 > 2 > 2 }} {{ 'a' in 'cat' }} {{ 4 not in [1, 2] }}", "True False True True"},
      {"{{ not true or true and false }}", "False"},
      {"{{ 'yes' if 1 == 1.0 else 'no' }}{{ 'x' if false }}", "yes"},
      {"{{ missing }}{{ missing is defined }}{{ missing | default('d') }}", "Falsed"},
      {"{{ '  x ' | trim }}{{ 'a,b' .split(',') | join('-') }}", "xa-b"},
      {"{{ {'b': 1, 'a': [true, none]} | tojson }}", "{\"b\": 1, \"a\": [true, null]}"},
      {"{{ {'a': [1, 2]} | tojson(indent=2) }}", "{\n  \"a\": [\n    1,\n    2\n  ]\n}"},
      {"{{ 'é<\"' | tojson }}", "\"é<\\\"\""},
      {"{{ [3, 1, 2] | sort | first }} {{ [1, 2, 3] | map('string') | join }} {{ 'aBc' | upper }}", "1 123 ABC"},
      {"{{ [{'r': 'u'}, {'r': 'a'}] | selectattr('r', 'equalto', 'u') | list | length }}", "1"},
      {"{{ {'a': 1}.get('b', 5) }} {{ {'a': 1}.items() | list }}", "5 [['a', 1]]"},
      {"{{ 'x' is string }} {{ 1 is number }} {{ [] is iterable }} {{ {} is mapping }} {{ none is none }}",
       "True True True True True"},
      {"{{ 'hello world' | title }} {{ 'abc' | replace('b', 'd') }} {{ 'a\nb' | indent(2) }}",
       "Hello World adc a\n  b"},
      {"{{ range(3) | list }} {{ range(5, 0, -2) | list }}", "[0, 1, 2] [5, 3, 1]"},
      {"{{ 5 is divisibleby 5 }} {{ 4 is even }} {{ 3 is not odd }}", "True True False"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(rendered(text), expected) << text;
}

TEST(ChatTemplate, StatementsAreThoseOfJinja) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{% for x in [1, 2, 3] if x != 2 %}{{ loop.index }}{{ x }}{{ ',' if not loop.last }}{% endfor %}", "11,23"},
      {"{% for x in [] %}a{% else %}none{% endfor %}", "none"},
      {"{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}{{ v }}{% endfor %}", "a1b2"},
      {"{% set x = 1 %}{% for i in [1] %}{% set x = 2 %}{% endfor %}{{ x }}", "1"},
      {"{% set n = namespace(x=1) %}{% for i in [1] %}{% set n.x = n.x + 1 %}{% endfor %}{{ n.x }}", "2"},
      {"{% if false %}a{% elif 1 %}b{% else %}c{% endif %}", "b"},
      {"{% macro m(a, b='z') %}[{{ a }}{{ b }}]{% endmacro %}{{ m('x') }}{{ m('x', b='y') }}", "[xz][xy]"},
      {"{% for i in range(9) %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 4 %}{% break %}{% endif %}{{ i }}"
       "{% endfor %}",
       "013"},
      {"{% set t %}a{{ 1 }}{% endset %}{{ t }}", "a1"},
      {"{% raw %}{{ x }}{% endraw %}", "{{ x }}"},
      {"{% filter upper %}abc{% endfilter %}", "ABC"},
      {"{% generation %}x{% endgeneration %}{# comment #}", "x"},
      {"{% with a = 1, b = 2 %}{{ a + b }}{% endwith %}", "3"},
      {"{% macro outer() %}<{{ caller() }}>{% endmacro %}{% call outer() %}in{% endcall %}", "<in>"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(rendered(text), expected) << text;
}

TEST(ChatTemplate, WhiteSpaceGoesAsWithTrimAndLstripBlocks) {
  EXPECT_EQ(rendered("a\n  {% if true %}\nb\n  {% endif %}\nc\n"), "a\nb\nc");
  EXPECT_EQ(rendered("a\n  {%- if true -%}\n  b {%- endif %}  c"), "ab  c");
  EXPECT_EQ(rendered("{{ 1 }}\n  {{ 2 -}}  \n 3"), "1\n  23");
  EXPECT_EQ(rendered("x {% if true %}\ny{% endif %}\n"), "x y");
  EXPECT_EQ(rendered("  {%+ if true %}a{% endif %}"), "  a");
  EXPECT_EQ(rendered("a\n  {# c #}\nb"), "a\nb");
}

TEST(ChatTemplate, AConversation) {
  const std::string chatml =
      "{%- for message in messages %}\n"
      "{{- '<|im_start|>' + message.role + '\\n' + message['content'] | trim + '<|im_end|>' + '\\n' }}\n"
      "{%- endfor %}\n"
      "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";
  EXPECT_EQ(rendered(chatml, kTalk),
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello."
            "<|im_end|>\n<|im_start|>user\n한글?<|im_end|>\n<|im_start|>assistant\n");
  ChatOptions options{.add_generation_prompt = false, .special = {{"bos_token", "<s>"}}};
  options.extra["enable_thinking"] = false;
  EXPECT_EQ(rendered("{{ bos_token }}{{ messages | length }}{{ enable_thinking }}{{ tools is none }}", kTalk, options),
            "<s>4FalseTrue");
  options.now = 0;
  EXPECT_EQ(rendered("{{ strftime_now('%Y') | length }}", kTalk, options), "4");
}

TEST(ChatTemplate, WhatIsWrongIsSaid) {
  EXPECT_THAT(error_of("{{ raise_exception('roles must alternate') }}"), HasSubstr("roles must alternate"));
  EXPECT_THAT(error_of("a\n{% if %}"), HasSubstr("line 2"));
  EXPECT_THAT(error_of("{% if x %}"), HasSubstr("ends before"));
  EXPECT_THAT(error_of("{% endif %}"), HasSubstr("closes nothing"));
  EXPECT_THAT(error_of("{{ x.y }}"), HasSubstr("undefined"));
  EXPECT_THAT(error_of("{{ 'a' | frobnicate }}"), HasSubstr("frobnicate"));
  EXPECT_THAT(error_of("{% include 'x' %}"), HasSubstr("include"));
  EXPECT_THAT(error_of("{{ 'a' + 1 }}"), HasSubstr("no meaning"));
  EXPECT_THAT(error_of("{{ [].append(1) }}"), HasSubstr("no function"));
  EXPECT_THAT(error_of("{{ 1 // 0 }}"), HasSubstr("zero"));
}

TEST(ChatTemplate, WhatItTakesIsBounded) {
  EXPECT_THAT(error_of("{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"),
              HasSubstr("more"));
  EXPECT_THAT(error_of("{{ range(1000000000) }}"), HasSubstr("too long"));
  EXPECT_THAT(error_of("{{ 'x' * 1000000000 }}"), HasSubstr("more bytes"));
  EXPECT_THAT(error_of("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"), HasSubstr("deeper"));
  EXPECT_THAT(error_of("{{ " + std::string(5000, '(') + "1" + std::string(5000, ')') + " }}"), HasSubstr("deeper"));
  EXPECT_THAT(error_of("{% set n = namespace(x=1) %}{% for i in range(9999) %}{% set n.x = [n.x] %}{% endfor %}"),
              HasSubstr("deeper"));
  EXPECT_THAT(error_of("{% set h = namespace(x=1) %}{% for i in range(9999) %}{% set n = namespace() %}"
                       "{% set n.x = h.x %}{% set h.x = n %}{% endfor %}"),
              HasSubstr("deeper"));
  EXPECT_THAT(
      error_of("{% set h = namespace(x=1) %}{% for i in range(9999) %}{% set h.x = {'a': h.x}.get %}{% endfor %}"),
      HasSubstr("deeper"));
  std::string doubling = "{% set x = 'aaaaaaaa' %}";
  for (int i = 0; i < 40; ++i) doubling += "{% set x = x + x %}";
  EXPECT_THAT(error_of(doubling), HasSubstr("more bytes"));
}

TEST(ChatTemplate, IsFoundInAModelsFolder) {
  const TemporaryFolder folder;
  EXPECT_EQ(chat_template_of(folder.path()), "");
  write_text(folder / "chat_template.json", R"({"chat_template": "from its file"})");
  EXPECT_EQ(chat_template_of(folder.path()), "from its file");
  write_text(folder / "tokenizer_config.json",
             R"({"chat_template": [{"name": "tool_use", "template": "tools"}, {"name": "rag", "template": "rag"}],
                 "eos_token": null})");
  EXPECT_EQ(chat_template_of(folder.path()), "tools");
  write_text(
      folder / "tokenizer_config.json",
      R"({"chat_template": [{"name": "tool_use", "template": "tools"}, {"name": "default", "template": "plain"}]})");
  EXPECT_EQ(chat_template_of(folder.path()), "plain");
  write_text(folder / "special_tokens_map.json", R"({"bos_token": "<s>", "eos_token": {"content": "</s>"}})");
  EXPECT_EQ(special_names_of(folder.path()).at("bos_token"), "<s>");
  EXPECT_EQ(special_names_of(folder.path()).at("eos_token"), "</s>");
  write_text(folder / "chat_template.jinja", "first of all");
  EXPECT_EQ(chat_template_of(folder.path()), "first of all");
}

}  // namespace
}  // namespace limpid
