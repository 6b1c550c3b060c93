#include "server/inspect_call.h"

#include <fmt/format.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "inference/decoder_state.h"
#include "inference/generate.h"
#include "inference/model_text.h"
#include "inspect/head_statistics_json.h"
#include "inspect/weight_edit.h"
#include "server/http.h"

namespace limpid {

namespace {

using Json = nlohmann::ordered_json;

void refuse_files(const InterventionList& list) {
  const auto refuse = [](bool named, const char* what) {
    if (named)
      throw HttpError(400,
                      fmt::format("{} reads a file, and a server reads no files for its clients: use token:, "
                                  "embed: or texts:, or the command line.",
                                  what),
                      {.param = "interventions"});
  };
  for (const Intervention& one : list.values) {
    refuse(!one.over.empty(), "\"over\"");
    refuse(one.along.starts_with("npy:"), "npy:");
  }
  for (const WeightEdit& edit : list.weights)
    refuse(edit.left.starts_with("npy:") || edit.right.starts_with("npy:"), "npy:");
}

void check_tokens(const Config& config, size_t tokens) {
  constexpr int64_t kMostTokens = 8192;  // more than that in one request would keep others waiting
  const int64_t most = std::min(context_length(config), kMostTokens);
  if (static_cast<int64_t>(tokens) > most)
    throw HttpError(
        400, fmt::format("The text has {} tokens and at most {} are looked at: give a shorter one.", tokens, most),
        {.param = "text", .code = "context_length_exceeded"});
}

}  // namespace

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string shell_quoted(const std::string& word) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("-_./=+:,@%").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string quoted = "'";
  for (char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string interventions_toml(const nlohmann::json& given) {
  if (given.is_string()) return given.get<std::string>();
  if (!given.is_array())
    throw HttpError(
        400,
        "\"interventions\" must be a list of objects such as {\"zero\": \"blocks.0.attn_out\"}, or the same as TOML.",
        {.param = "interventions"});
  std::string toml;
  for (const nlohmann::json& one : given) {
    if (!one.is_object())
      throw HttpError(400, "An intervention is an object such as {\"zero\": \"blocks.0.attn_out@-1\"}.",
                      {.param = "interventions"});
    toml += toml.empty() ? "[[intervention]]\n" : "\n[[intervention]]\n";
    for (const auto& [key, value] : one.items()) {
      if (key.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") != std::string::npos ||
          !(value.is_string() || value.is_number()))
        throw HttpError(400, fmt::format("An intervention has no \"{}\" of this kind.", key),
                        {.param = "interventions"});
      toml += fmt::format("{} = {}\n", key, dumped(value));
    }
  }
  return toml;
}

InspectCall::InspectCall(const InspectedModel& model, const nlohmann::json& request, const InspectLimits& limit)
    : fields(request), served(model), limits(limit), memory_(model.memory ? *model.memory : own_) {
  fields.text("model");
  fields.flag("stream");
  read_interventions();
}

InspectCall::~InspectCall() = default;

void InspectCall::read_interventions() {
  const nlohmann::json* given = fields.any("interventions");
  if (!given || given->empty() || (given->is_string() && given->get<std::string>().empty())) return;
  toml_ = interventions_toml(*given);
  list_ = parse_interventions(toml_, "interventions");
  refuse_files(list_);
}

const Session& InspectCall::session() {
  if (list_.weights.empty()) return served.session;
  if (!edited_) edited_ = has_text() ? changed_text().session : edited_session();
  return *edited_;
}

std::shared_ptr<const Session> InspectCall::edited_session() const {
  return std::make_shared<const Session>(with_weight_edits(served.session, list_.weights));
}

// All that decides what the model reads.
std::string InspectCall::text_key() {
  nlohmann::json key = nlohmann::json::array();
  for (const char* name : {"text", "target", "ids", "target_ids", "open"}) {
    const nlohmann::json* value = fields.any(name);
    key.push_back(value ? *value : nlohmann::json());
  }
  return key.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

const ReadText& InspectCall::text() {
  if (!text_) text_ = memory_.text(text_key(), [&] { return read_text(); });
  return *text_;
}

ReadText InspectCall::read_text() {
  const Config& config = this->config();
  const std::string text = fields.text("text"), target = fields.text("target");
  const bool open = fields.flag("open"), two_sided = served.session.two_sided();
  std::vector<int32_t> ids = fields.ids("ids", config.vocab);
  ReadText read{.example = {}, .target_ids = fields.ids("target_ids", config.vocab)};
  if (!fields.has("text") && ids.empty())
    throw HttpError(400, "There is no text: give \"text\", or \"ids\".", {.param = "text"});
  const bool own_target = fields.has("target") || fields.has("target_ids");
  if (!two_sided && (own_target || open))
    throw HttpError(400, "This model reads one text: leave \"target\" out.", {.param = "target"});
  if (ids.empty()) ids = input_ids(served.session.loaded, text);
  check_tokens(config, ids.size());
  if (!two_sided) {
    read.example = example_of(config, {}, ids);
    read.example.input = pieces_of(served.session.reader(), ids);
    memory_.remember_passes(served.session, read.example);
    return read;
  }
  if (!fields.has("target_ids") && fields.has("target")) {
    read.target_ids = limpid::target_ids(served.session.loaded, target);
    if (open && !read.target_ids.empty()) read.target_ids.pop_back();
  } else if (!own_target && !open) {
    // By the model as it is, so that what is before and after an intervention is about the same tokens.
    read.target_ids = translate(served.session.model(), std::span(&ids, 1), {.beam = 1}).at(0).at(0).ids;
    read.written_by_model = true;
    if (served.session.writer().special().end >= 0) read.target_ids.push_back(served.session.writer().special().end);
  }
  // A decoder's input is its target moved by one: where the target is open, a last token that nobody reads stands in.
  std::vector<int32_t> said = read.target_ids;
  if (open) said.push_back(0);
  check_tokens(config, said.size());
  read.example = example_of(config, ids, said);
  if (open) read.example.next.back() = -1;
  read.example.source = pieces_of(served.session.reader(), ids);
  read.example.input = pieces_of(served.session.writer(), read.example.batch.input.ids);
  memory_.remember_passes(served.session, read.example);
  return read;
}

Example InspectCall::changed(Example example) {
  // What interventions put in (means, patches) are values of the model as it is, before its weights change.
  if (!list_.values.empty()) example.changes = std::make_shared<Intervener>(served.session, example, list_.values);
  return example;
}

const ChangedText& InspectCall::changed_text() {
  if (!changed_)
    changed_ = memory_.changed(text_key() + toml_, [&] {
      ChangedText made{.session = list_.weights.empty() ? nullptr : edited_session(),
                       .example = changed(text().example)};
      memory_.remember_passes(served.session, made.example);
      return made;
    });
  return *changed_;
}

Example InspectCall::example_without_interventions() { return text().example; }

const Example& InspectCall::example() { return list_.empty() ? text().example : changed_text().example; }

const std::vector<HeadScore>& InspectCall::induction() {
  const auto compute = [&] { return induction_scores(model(), induction_options(session())); };
  return list_.weights.empty() ? memory_.induction(compute) : own_.induction(compute);
}

std::string InspectCall::side() {
  const std::string side = fields.text("side");
  if (!side.empty() && side != "encoder" && side != "decoder")
    throw HttpError(400, "\"side\" is encoder or decoder.", {.param = "side"});
  return served.session.two_sided() ? side : "";
}

int32_t InspectCall::token(const std::string& name) {
  const std::string word = fields.text(name);
  return word.empty() ? -1 : served.session.token(served.session.writer(), word);
}

void InspectCall::check_bytes(int64_t bytes) const {
  if (bytes > limits.bytes)
    throw HttpError(
        413, fmt::format("The answer would have {}, more than the {} that this server sends: choose fewer "
                         "taps, layers, heads or positions, or ask for a reduced one.",
                         bytes_text(static_cast<uint64_t>(bytes)), bytes_text(static_cast<uint64_t>(limits.bytes))));
}

void InspectCall::describe(Json& into, const std::string& part, const std::vector<std::string>& options) {
  fields.finish();
  if (part.empty()) return;  // no command does this
  std::string command = part.starts_with("limpid ") ? part : "limpid look " + shell_quoted(served.path) + " " + part;
  const bool reads_input = part.starts_with("limpid translate ");
  if (text_ || changed_) {  // asked for
    const Session& session = served.session;
    const std::string text =
        shell_quoted(fields.has("text") ? fields.text("text")
                                        : session.reader().decode(session.two_sided() ? example().batch.source.ids
                                                                                      : example().batch.input.ids));
    command = reads_input ? "echo " + text + " | " + command : command + " " + text;
    if (session.two_sided() && !written_by_model() && !reads_input)
      command +=
          " " + shell_quoted(fields.has("target") ? fields.text("target") : session.writer().decode(target_ids()));
  }
  for (const std::string& option : options) command += " " + shell_quoted(option);
  if (!list_.empty()) {
    if (part == "intervene")
      command += " --file changes.toml";
    else if (!part.starts_with("limpid "))
      command += " --interventions changes.toml";
    into["toml"] = toml_;
  }
  into["command"] = command;
}

InspectCall::Answer InspectCall::json(Json result, const std::string& part, std::vector<std::string> options) {
  options.emplace_back("--json");
  describe(result, part, options);
  return {dumped(result), false};
}

InspectCall::Answer InspectCall::tensors(const ArrayBytes& arrays, Json metadata, const std::string& part,
                                         std::vector<std::string> options) {
  describe(metadata, part, options);
  return {arrays.finish({{"format", "pt"}, {"limpid", dumped(metadata)}}), true};
}

std::vector<std::string> names_of(const std::vector<TapInfo>& taps) {
  std::vector<std::string> names;
  names.reserve(taps.size());
  for (const TapInfo& tap : taps) names.push_back(tap.name);
  return names;
}

std::vector<std::string> tokens_of(TapAxis axis, const Example& example) {
  if (axis == TapAxis::text) return {"text"};
  return axis == TapAxis::source ? example.source : example.input;
}

}  // namespace limpid
