#include "server/chat_prompt.h"

#include "server/json_fields.h"
#include "server/text_length.h"

namespace limpid {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

// A message's text: a string, or a list of parts of text.
std::string text_of(const json& content) {
  if (content.is_string()) return content.get<std::string>();
  if (content.is_null()) return "";
  std::string text;
  for (const json& part : content.is_array() ? content : json::array({content})) {
    const bool is_text =
        part.is_object() && part.value("type", json()) == "text" && part.contains("text") && part["text"].is_string();
    if (!is_text)
      JsonFields::refuse("messages", "A message's content must be text, or a list of parts of type \"text\".");
    text += part["text"].get_ref<const std::string&>();
  }
  return text;
}

ordered_json read_messages(const json& messages) {
  if (!messages.is_array() || messages.empty())
    JsonFields::refuse("messages", "\"messages\" must be a list of at least one message.");
  ordered_json result = ordered_json::array();
  for (const json& message : messages) {
    if (!message.is_object() || !message.contains("role") || !message["role"].is_string())
      JsonFields::refuse("messages", "A message is an object with \"role\" and \"content\".");
    for (const auto& [name, value] : message.items())
      if (name != "role" && name != "content" && name != "name" && !value.empty())  // null and [] say nothing
        JsonFields::refuse("messages", fmt::format("A message's \"{}\" is not supported here.", name.substr(0, 100)));
    const json content = message.value("content", json());
    if (content.is_null() && message["role"] != "assistant")
      JsonFields::refuse("messages", "A message is an object with \"role\" and \"content\".");
    ordered_json& entry = result.emplace_back(ordered_json{{"role", message["role"]}});
    entry["content"] = text_of(content);
    if (message.contains("name")) entry["name"] = message["name"];
  }
  return result;
}

}  // namespace

std::vector<int32_t> chat_prompt(const ServedModel& model, const json& messages, const json* extra,
                                 int64_t most_tokens) {
  const ordered_json conversation = read_messages(messages);
  size_t bytes = 0;
  for (const ordered_json& message : conversation) bytes += message["content"].get_ref<const std::string&>().size();
  check_text_bytes(bytes, most_tokens, "messages");
  if (!model.chat)
    throw HttpError(400,
                    fmt::format("The model \"{}\" has no chat template{}: it continues texts, by /v1/completions.",
                                model.id, model.chat_error.empty() ? "" : " that can be used: " + model.chat_error),
                    {.param = "model", .code = "no_chat_template"});
  if (extra && !extra->is_object())
    JsonFields::refuse("chat_template_kwargs", "\"chat_template_kwargs\" must be an object.");
  ChatOptions options;
  if (extra) options.extra = *extra;
  try {
    return model.chat->ids(*model.loaded().tokenizers.source, conversation, options);
  } catch (const Error& error) {  // the template's own words about roles that it does not know, and the like
    throw HttpError(400, error.what(), {.param = "messages", .code = "refused_by_chat_template"});
  }
}

}  // namespace limpid
