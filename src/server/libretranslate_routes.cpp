#include "server/libretranslate_routes.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "server/html_text.h"
#include "server/json_fields.h"
#include "server/openai_json.h"
#include "server/text_length.h"
#include "server/translation.h"

namespace limpid {
namespace {

using nlohmann::json;

// JSON and form bodies alike, as one object.
json read_body(const Request& request) {
  const std::string_view type = request.header("content-type");
  if (type.find("application/x-www-form-urlencoded") == std::string_view::npos) {
    json body = parse_body(request.body);  // what LibreTranslate's clients may send besides changes nothing
    if (!body.is_object()) throw HttpError(400, "The body must be a JSON object or a form.");
    return body;
  }
  const auto form = parse_form(request.body);
  if (!form) throw HttpError(400, "The form cannot be read.");
  json body = json::object();
  for (const auto& [name, value] : *form) body[name] = value;
  return body;
}

std::string text_field(const json& body, const char* name, const std::string& otherwise = "") {
  const auto found = body.find(name);
  if (found == body.end() || found->is_null()) return otherwise;
  if (!found->is_string()) throw HttpError(400, fmt::format("Invalid request: {} must be a string", name));
  return found->get<std::string>();
}

int64_t whole_field(const json& body, const char* name, int64_t high) {
  const auto found = body.find(name);
  if (found == body.end() || found->is_null()) return 0;
  const std::string text = found->is_string() ? found->get<std::string>() : found->dump();
  const bool digits = !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || std::stoll(text) > high)
    throw HttpError(400, fmt::format("Invalid request: {} must be a whole number from 0 to {}", name, high));
  return std::stoll(text);
}

struct Texts {
  std::vector<std::string> list;
  bool several = false;
};

Texts read_texts_field(const json& body) {
  const auto found = body.find("q");
  if (found == body.end() || found->is_null()) throw HttpError(400, "Invalid request: missing q parameter");
  Texts texts{.several = found->is_array()};
  const json list = texts.several ? *found : json::array({*found});
  for (const json& text : list) {
    if (!text.is_string()) throw HttpError(400, "Invalid request: q must be a text or a list of texts");
    texts.list.push_back(text.get<std::string>());
  }
  return texts;
}

// What of an HTML document is in its language: no tags.
std::string words_of(const std::string& html) {
  std::string words;
  for (const HtmlPart& part : html_parts(html))
    if (!part.stays) words += part.text;
  return words;
}

class TranslationRoutes {
 public:
  TranslationRoutes(Server& server, const ServedModels& models, std::map<std::string, LanguagePair> pairs,
                    const RequestLimits& limits)
      : server_(server), models_(models), pairs_(std::move(pairs)), limits_(limits) {}

  Response languages(const Request&) const {
    std::map<std::string, std::set<std::string>> targets;
    for (const auto& [model, pair] : translators()) {
      targets[pair.source].insert(pair.target);
      targets[pair.target];
    }
    OrderedJson list = OrderedJson::array();
    for (const auto& [code, to] : targets)
      list.push_back({{"code", code}, {"name", language_name(code)}, {"targets", to}});
    return {200, dump_json(list)};
  }

  Response detect(const Request& request) const {
    const json body = read_body(request);
    check_key(request, body);
    const Texts texts = read_texts_field(body);
    std::string all;
    for (const std::string& text : texts.list) all += text + "\n";
    std::set<std::string> codes;
    for (const auto& [model, pair] : translators()) codes.insert({pair.source, pair.target});
    const auto found = detect_language(all, {codes.begin(), codes.end()});
    if (!found) throw HttpError(400, cannot_tell());
    return {200, dump_json(OrderedJson::array({{{"confidence", found->confidence}, {"language", found->code}}}))};
  }

  void translate(const Request& request, const std::shared_ptr<Reply>& reply) const {
    const json body = read_body(request);
    check_key(request, body);
    const Texts texts = read_texts_field(body);
    const std::string source = text_field(body, "source", "auto"), target = text_field(body, "target");
    if (target.empty()) throw HttpError(400, "Invalid request: missing target parameter");
    const std::string format = text_field(body, "format", "text");
    if (format != "text" && format != "html") throw HttpError(400, fmt::format("{} format is not supported", format));
    TranslationCall call{texts.list,
                         format == "html",
                         whole_field(body, "alternatives", 10),
                         request.deadline,
                         {limits_.prompt_tokens, limits_.output_tokens}};
    check_length(call);
    if (std::ssize(call.texts) > limits_.texts)
      throw HttpError(400,
                      fmt::format("Invalid request: {} texts, and {} are allowed", call.texts.size(), limits_.texts));

    std::vector<std::optional<DetectedLanguage>> detected(call.texts.size());
    const ServedModel* model = source == "auto" ? model_of(call, target, detected) : model_of(source, target);
    const auto done = [this, model, reply, detected, several = texts.several,
                       alternatives = call.alternatives](const Translated& translated) {
      if (model) count_tokens(&server_.metrics(), *model, translated.tokens_read, translated.tokens_written);
      reply->send({200, dump_json(answer(translated.texts, detected, several, alternatives > 0))});
    };
    const auto failed = [reply](const HttpError& error) { reply->send(error_response(error, ErrorShape::plain)); };
    if (!model) {  // it is in the wanted language already
      Translated same;
      for (const std::string& text : call.texts) same.texts.push_back({text});
      return done(same);
    }
    const int64_t number = translate_texts(*model, call, done, failed);
    if (number >= 0) reply->on_cancel([model, number] { model->writer().cancel(number); });
  }

 private:
  // A key in the body counts where the headers have none.
  void check_key(const Request& request, const json& body) const {
    if (!server_.access().has_key() || !Access::key_in_headers(request).empty()) return;
    if (!server_.access().is_key(text_field(body, "api_key")))
      throw HttpError(403,
                      "This server wants a key: send it as api_key, or in the header \"Authorization: Bearer KEY\"");
  }

  void check_length(const TranslationCall& call) const {
    constexpr size_t kMostBytes = 1 << 20;
    for (const std::string& text : call.texts) {
      if (text.size() > kMostBytes)
        throw HttpError(
            400, fmt::format("Invalid request: a text has {} bytes and {} are allowed", text.size(), kMostBytes));
      if (limits_.prompt_tokens > 0) check_text_bytes(text.size(), limits_.prompt_tokens, "q");
    }
  }

  std::vector<std::pair<const ServedModel*, LanguagePair>> translators() const {
    std::vector<std::pair<const ServedModel*, LanguagePair>> result;
    for (const auto& model : models_.all()) {
      if (!model->config().has_source()) continue;
      const auto told = pairs_.find(model->id);
      if (told != pairs_.end())
        result.emplace_back(model.get(), told->second);
      else if (const auto pair = language_pair_of(model->id))
        result.emplace_back(model.get(), *pair);
    }
    return result;
  }

  // Null: both are the same language.
  const ServedModel* model_of(const std::string& source, const std::string& target) const {
    bool is_source = false, is_target = false;
    for (const auto& [model, pair] : translators()) {
      if (pair.source == source && pair.target == target) return model;
      is_source = is_source || pair.source == source;
      is_target = is_target || pair.target == source;
    }
    if (source == target && (is_source || is_target)) return nullptr;
    if (!is_source) throw HttpError(400, fmt::format("{} is not supported", source));
    throw HttpError(400, fmt::format("{} is not available as a target language for {}", target, source));
  }

  std::string cannot_tell() const { return "The language cannot be told from the script alone: name it as \"source\""; }

  // One language for all texts of a request, as one model translates them; a text without letters ("2024") is in that
  // of the others.
  const ServedModel* model_of(const TranslationCall& call, const std::string& target,
                              std::vector<std::optional<DetectedLanguage>>& detected) const {
    std::vector<std::string> sources;
    for (const auto& [model, pair] : translators())
      if (pair.target == target) sources.push_back(pair.source);
    if (sources.empty()) throw HttpError(400, fmt::format("{} is not supported", target));
    std::vector<std::string> candidates = sources;
    candidates.push_back(target);
    std::string code;
    for (size_t i = 0; i < call.texts.size(); ++i) {
      const std::string text = call.html ? words_of(call.texts[i]) : call.texts[i];
      if (!has_letters(text)) continue;
      detected[i] = detect_language(text, candidates);
      if (!detected[i]) throw HttpError(400, cannot_tell());
      if (!code.empty() && detected[i]->code != code)
        throw HttpError(400, "The texts are in several languages: send one request for each");
      code = detected[i]->code;
    }
    if (code.empty() && !call.texts.empty()) throw HttpError(400, cannot_tell());
    for (auto& language : detected)
      if (!language) language = {code, 0};
    return code.empty() || code == target ? nullptr : model_of(code, target);
  }

  static OrderedJson answer(const Translations& translations,
                            const std::vector<std::optional<DetectedLanguage>>& detected, bool several,
                            bool alternatives) {
    OrderedJson texts = OrderedJson::array(), others = OrderedJson::array(), languages = OrderedJson::array();
    for (size_t i = 0; i < translations.size(); ++i) {
      texts.push_back(translations[i][0]);
      others.push_back(std::vector<std::string>(translations[i].begin() + 1, translations[i].end()));
      if (detected[i]) languages.push_back({{"confidence", detected[i]->confidence}, {"language", detected[i]->code}});
    }
    OrderedJson body = {{"translatedText", several ? texts : texts[0]}};
    if (!languages.empty()) body["detectedLanguage"] = several ? languages : languages[0];
    if (alternatives) body["alternatives"] = several ? others : others[0];
    return body;
  }

  Server& server_;
  const ServedModels& models_;
  const std::map<std::string, LanguagePair> pairs_;
  const RequestLimits limits_;
};

}  // namespace

void add_libretranslate_routes(Server& server, const ServedModels& models, std::map<std::string, LanguagePair> pairs,
                               const RequestLimits& limits) {
  describe_token_metrics(server.metrics());
  const auto routes = std::make_shared<const TranslationRoutes>(server, models, std::move(pairs), limits);
  Router& router = server.router();
  router.add("GET", "/languages", [routes](const Request& request) { return routes->languages(request); },
             {.summary = "Languages of the translators that are served.", .errors = ErrorShape::plain});
  router.add("POST", "/detect", [routes](const Request& request) { return routes->detect(request); },
             {.summary = "The language of a text, where its script tells.",
              .fields = "q:strings! api_key:string",
              .errors = ErrorShape::plain,
              .key_in_body = true});
  router.add("POST", "/translate", Handler([routes](const Request& request, const std::shared_ptr<Reply>& reply) {
               routes->translate(request, reply);
             }),
             {.summary = "Translates texts.",
              .fields = "q:strings! source:string target:string! format:string alternatives:integer api_key:string",
              .errors = ErrorShape::plain,
              .key_in_body = true});
}

}  // namespace limpid
