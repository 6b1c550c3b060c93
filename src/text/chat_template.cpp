#include "text/chat_template.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/file.h"
#include "base/paths.h"
#include "text/jinja_evaluator.h"
#include "text/tokenizer_json.h"

namespace limpid {
namespace {

using jinja::Call;
using jinja::Value;

constexpr size_t kLargest = 1 << 20;  // bytes of a template

Value range(Call& call) {
  std::array<int64_t, 3> bounds = {0, 0, 1};
  const size_t count = call.values.size();
  check(count >= 1 && count <= 3, "[chat template] range wants one to three numbers");
  for (size_t i = 0; i < count; ++i) {
    check(call.values[i].is_whole(), "[chat template] range wants whole numbers");
    bounds[count == 1 ? 1 : i] = call.values[i].whole();
  }
  const auto [begin, end, step] = bounds;
  constexpr int64_t kFurthest = int64_t{1} << 40;
  check(step != 0 && std::abs(step) < kFurthest && std::abs(begin) < kFurthest && std::abs(end) < kFurthest,
        "[chat template] range cannot go from {} to {} by {}", begin, end, step);
  const int64_t items = step > 0 ? (end - begin + step - 1) / step : (begin - end - step - 1) / -step;
  check(items <= 100000, "[chat template] a range of {} numbers is too long", items);
  jinja::List list;
  for (int64_t i = 0; i < items; ++i) list.emplace_back(begin + i * step);
  return list;
}

Value make_namespace(Call& call) {
  auto space = std::make_shared<jinja::Namespace>();
  if (!call.values.empty() && call.values[0].dict()) space->members = *call.values[0].dict();
  for (const auto& [name, value] : call.named) put(space->members, Value(name), value);
  for (const auto& [name, value] : space->members)
    space->depth = std::max(space->depth, jinja::depth_around(value.depth()));
  return space;
}

Value make_dict(Call& call) {
  jinja::Dict dict;
  if (!call.values.empty() && call.values[0].dict()) dict = *call.values[0].dict();
  for (const auto& [name, value] : call.named) put(dict, Value(name), value);
  return dict;
}

Value raise(Call& call) { fail("[chat template] {}", call.values.empty() ? "refused" : to_text(call.values[0])); }

std::string formatted_time(const std::string& format, std::time_t time) {
  std::tm parts{};
  localtime_r(&time, &parts);
  std::string text(512, '\0');
  check(format.size() < 256, "[chat template] the format of a time is too long");
  text.resize(std::strftime(text.data(), text.size(), format.c_str(), &parts));
  return text;
}

}  // namespace

ChatTemplate ChatTemplate::parse(std::string text) {
  check(text.size() <= kLargest, "[chat template] has {}: too long for one", bytes_text(text.size()));
  ChatTemplate result;
  result.root_ = jinja::parse(text);
  result.text_ = std::move(text);
  return result;
}

std::string ChatTemplate::render(const nlohmann::ordered_json& messages, const ChatOptions& options) const {
  check(messages.is_array(), "[chat template] the messages are no list: give objects with \"role\" and \"content\"");
  const auto globals = std::make_shared<jinja::Scope>();
  auto& variables = globals->variables;
  variables["range"] = jinja::Function{"range", range};
  variables["namespace"] = jinja::Function{"namespace", make_namespace};
  variables["dict"] = jinja::Function{"dict", make_dict};
  variables["raise_exception"] = jinja::Function{"raise_exception", raise};
  variables["strftime_now"] = jinja::Function{
      "strftime_now", [now = options.now](Call& call) {
        return Value(formatted_time(to_text(call.needed(0, "format")), now.value_or(std::time(nullptr))));
      }};
  for (const auto& [name, text] : options.special) variables[name] = Value(text);
  variables["documents"] = Value();
  for (const auto& [name, value] : options.extra.items()) variables[name] = Value::from_json(value);
  variables["messages"] = Value::from_json(messages);
  variables["tools"] = Value::from_json(options.tools);
  variables["add_generation_prompt"] = Value(options.add_generation_prompt);
  jinja::Evaluator evaluator(std::make_shared<jinja::Scope>(jinja::Scope{globals}));
  return evaluator.render(*root_);
}

std::string chat_template_of(const std::filesystem::path& folder) {
  if (const auto file = folder / "chat_template.jinja"; path_exists(file)) return read_text(file);
  const nlohmann::json config = read_tokenizer_config(folder);
  const auto found = config.find("chat_template");
  if (found == config.end()) {  // as some releases write it for models that read pictures too
    const auto file = folder / "chat_template.json";
    const nlohmann::json json = path_exists(file) ? read_tokenizer_file(file) : nlohmann::json::object();
    return special_name(json, "chat_template");
  }
  if (found->is_string()) return found->get<std::string>();
  if (!found->is_array()) return {};
  std::string first;
  for (const auto& one : *found) {
    if (!one.is_object() || !one.contains("template") || !one.at("template").is_string()) continue;
    const auto text = one.at("template").get<std::string>();
    if (one.value("name", nlohmann::json()) == "default") return text;
    if (first.empty()) first = text;
  }
  return first;
}

std::map<std::string, std::string> special_names_of(const std::filesystem::path& folder) {
  std::map<std::string, std::string> names;
  const nlohmann::json config = read_tokenizer_config(folder);
  for (const char* key : {"bos_token", "eos_token", "unk_token", "pad_token", "sep_token", "cls_token", "mask_token"})
    if (std::string name = special_name(config, key); !name.empty()) names[key] = std::move(name);
  return names;
}

}  // namespace limpid
