// The residual stream: lens, attribution, causal trace, gradients.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "inspect/attribution_json.h"
#include "inspect/gradient_json.h"
#include "inspect/lens_json.h"
#include "inspect/tap_names.h"
#include "inspect/trace_json.h"
#include "server/http.h"
#include "server/inspect_views.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;
using Answer = InspectCall::Answer;

// "--name value" where the request has the field.
void pass_on(InspectCall& call, const char* field, const char* option, std::vector<std::string>& options) {
  if (const nlohmann::json* value = call.fields.any(field)) {
    options.emplace_back(option);
    options.push_back(value->is_string() ? value->get<std::string>() : value->dump());
  }
}

std::vector<TapInfo> wanted_taps_of(InspectCall& call) {
  const std::vector<TapInfo>& known = call.unchanged().taps();
  std::vector<TapInfo> taps;
  for (const std::string& pattern : call.fields.texts("taps"))
    for (const TapInfo& tap : find_taps(known, pattern, call.config()))
      if (std::none_of(taps.begin(), taps.end(), [&](const TapInfo& other) { return other.name == tap.name; }))
        taps.push_back(tap);
  if (taps.empty()) throw HttpError(400, "Name the taps: \"taps\": [\"blocks.*.resid_post\"].", {.param = "taps"});
  return taps;
}

}  // namespace

Answer view_lens(InspectCall& call) {
  LensOptions options{.top = call.fields.whole("top", 3, 1, 1000), .watched = call.token("token")};
  if (const std::vector<int64_t> range = call.fields.wholes("positions"); !range.empty()) {
    if (range.size() != 2 || range[0] < 0 || range[1] < range[0])
      throw HttpError(400, "\"positions\" are the first and the last, such as [0, 47].", {.param = "positions"});
    options.first = range[0];
    options.last = range[1];
  }
  const Example& example = call.example();
  const LensTable table = logit_lens(call.model(), example, options);
  std::vector<std::string> command = {"--top", std::to_string(options.top)};
  pass_on(call, "token", "--token", command);
  return call.json(lens_json(call.session(), example, table), "lens", command);
}

Answer view_attribution(InspectCall& call) {
  AttributionOptions options{.position = call.fields.whole("position", -1, -(1 << 20), 1 << 20),
                             .token = call.token("token"),
                             .against = call.token("against"),
                             .neurons = call.fields.flag("neurons")};
  const Example& example = call.example();
  if (options.token < 0) options.token = token_to_attribute(call.session(), example, options.position);
  Json json = attribution_json(call.session(), attribute_logit(call.model(), example, options));
  if (options.against >= 0) json["against"] = call.session().piece(options.against);
  std::vector<std::string> command = {"--position", std::to_string(options.position)};
  pass_on(call, "token", "--token", command);
  pass_on(call, "against", "--against", command);
  if (options.neurons) command.emplace_back("--neurons");
  return call.json(std::move(json), "attribution", command);
}

Answer view_trace(InspectCall& call) {
  const Session& session = call.session();
  const Example& example = call.example();
  TraceOptions options{.side = call.side(),
                       .noise = call.fields.number("noise", 3),
                       .samples = call.fields.whole("samples", 10, 1, 1000),
                       .seed = static_cast<uint64_t>(call.fields.whole("seed", 1, 0, INT64_MAX)),
                       .position = call.fields.whole("position", -1, -(1 << 20), 1 << 20),
                       .window = call.fields.whole("window", 1, 1, 1000)};
  const std::string subject = call.fields.text("subject"), other = call.fields.text("other"),
                    other_target = call.fields.text("other_target");
  if (other.empty() == subject.empty())
    throw HttpError(400,
                    "Say what is corrupted: \"subject\" names words that get noise, or \"other\" is a text that takes "
                    "this one's place.",
                    {.param = "subject"});
  std::optional<Example> instead;
  if (!other.empty()) {
    instead = session.example({other, other_target});
    options.other = &*instead;
  } else {
    options.subject = subject_positions(session, example, options.side, subject);
  }
  options.answer = call.token("answer");
  if (options.answer < 0) options.answer = likeliest_token(session.model(), example, options.position);
  const Trace trace = causal_trace(session.model(), example, options, call.progress);
  std::vector<std::string> command;
  pass_on(call, "subject", "--subject", command);
  pass_on(call, "other", "--other", command);
  pass_on(call, "other_target", "--other-target", command);
  pass_on(call, "answer", "--answer", command);
  pass_on(call, "side", "--side", command);
  pass_on(call, "noise", "--noise", command);
  pass_on(call, "samples", "--samples", command);
  pass_on(call, "seed", "--seed", command);
  pass_on(call, "position", "--position", command);
  pass_on(call, "window", "--window", command);
  return call.json(trace_json(session, example, trace, options), "trace", command);
}

Answer view_gradient(InspectCall& call) {
  const std::vector<TapInfo> taps = wanted_taps_of(call);
  const ObjectiveRequest request{.of = call.fields.text("of", "logit"),
                                 .token = call.fields.text("token"),
                                 .against = call.fields.text("against"),
                                 .position = call.fields.whole("position", -1, -(1 << 20), 1 << 20)};
  const int64_t top = call.fields.whole("top", 10, 0, 1000);
  const bool tensors = call.fields.flag("tensors");
  const Example& example = call.example();
  if (tensors) {
    int64_t numbers = 0;  // of each tap its values and their gradients
    for (const TapInfo& tap : taps) numbers += 2 * numbers_of(tap, example);
    call.check_tensors(4 * numbers);
  }
  call.check_pass(taps);
  const Objective objective = read_objective(call.session(), example, request);
  const TapGradients all = tap_gradients(call.model(), example, objective, names_of(taps), call.progress);
  std::vector<std::string> command;
  for (const std::string& tap : call.fields.texts("taps")) command.insert(command.end(), {"--tap", tap});
  pass_on(call, "of", "--of", command);
  pass_on(call, "token", "--token", command);
  pass_on(call, "against", "--against", command);
  pass_on(call, "position", "--position", command);
  if (!tensors) {
    command.insert(command.end(), {"--top", std::to_string(top)});
    return call.json(gradient_json(call.session(), all, objective, top), "gradient", command);
  }
  const std::vector<ArrayShape> shapes = gradient_arrays(all);
  ArrayBytes arrays;
  for (size_t i = 0; i < all.names.size(); ++i) {
    const TapGradient& tap = all.taps.at(all.names[i]);
    arrays.add(shapes[2 * i].name, shapes[2 * i].shape, std::span<const real>(tap.values.numbers));
    arrays.add(shapes[2 * i + 1].name, shapes[2 * i + 1].shape, std::span<const real>(tap.gradient.numbers));
  }
  command.insert(command.end(), {"--out", "gradients.safetensors"});
  return call.tensors(arrays, {{"value", all.value}, {"taps", all.names}}, "gradient", command);
}

}  // namespace limpid
