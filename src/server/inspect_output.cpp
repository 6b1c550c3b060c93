// What the model says: the distribution, writing step by step, the beam as a tree, and what interventions change.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/random.h"
#include "inference/complete.h"
#include "inference/sampling.h"
#include "inspect/beam_tree.h"
#include "inspect/continuations.h"
#include "inspect/display_text.h"
#include "inspect/effect_json.h"
#include "inspect/weight_edit.h"
#include "server/http.h"
#include "server/inspect_views.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;
using Answer = InspectCall::Answer;

SamplingOptions read_sampling(InspectCall& call, double temperature) {
  SamplingOptions options{.temperature = call.fields.number("temperature", temperature),
                          .top_k = call.fields.whole("top_k", 0, 0, 1 << 24),
                          .top_p = call.fields.number("top_p", 1),
                          .min_p = call.fields.number("min_p", 0)};
  check_sampling(options);
  return options;
}

// What leaves nothing to a model's own generation_config.json.
std::vector<std::string> sampling_command(const SamplingOptions& sampling) {
  return {"--temperature",
          fmt::format("{}", sampling.temperature),
          "--top-k",
          std::to_string(sampling.top_k),
          "--top-p",
          fmt::format("{}", sampling.top_p),
          "--min-p",
          fmt::format("{}", sampling.min_p),
          "--repetition-penalty",
          "1"};
}

std::string shown_text(const Session& session, int32_t id) {
  if (!session.config().labels.empty()) return session.piece(id);
  const std::string text = id < session.writer().size() ? session.writer().decode(std::span(&id, 1)) : "";
  return visible(text.empty() ? session.piece(id) : text);
}

std::vector<int32_t> sorted_by_score(std::span<const real> scores) {
  std::vector<int32_t> order(scores.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i);
  std::sort(order.begin(), order.end(),
            [&](int32_t a, int32_t b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; });
  return order;
}

// The tokens of a distribution, likeliest first, and the chosen ones with their ranks.
Json distribution_json(const Session& session, std::span<const real> scores, const SamplingOptions& sampling,
                       int64_t top, const std::vector<int32_t>& chosen) {
  const std::vector<double> logs = log_probabilities(scores.data(), std::ssize(scores));
  std::vector<double> adjusted(scores.size());
  const std::vector<Candidate> drawn = candidates(scores, {}, sampling);
  for (const Candidate& one : drawn) adjusted[one.id] = one.probability;
  double entropy = 0;
  for (const double p : logs) entropy -= std::exp(p) * p / std::log(2.0);
  const std::vector<int32_t> order = sorted_by_score(scores);
  const auto token_json = [&](int32_t id) -> Json {
    return {{"id", id},
            {"token", session.piece(id)},
            {"text", shown_text(session, id)},
            {"logit", static_cast<double>(scores[id])},
            {"probability", std::exp(logs[id])},
            {"adjusted", adjusted[id]}};
  };
  Json tokens = Json::array();
  for (size_t i = 0; i < std::min(order.size(), static_cast<size_t>(top)); ++i) {
    tokens.push_back(token_json(order[i]));
    tokens.back()["rank"] = i + 1;
  }
  for (const int32_t id : chosen) {
    tokens.push_back(token_json(id));
    tokens.back()["rank"] = std::find(order.begin(), order.end(), id) - order.begin() + 1;
  }
  return {{"vocab", scores.size()}, {"entropy_bits", entropy}, {"kept", drawn.size()}, {"tokens", std::move(tokens)}};
}

// What a translation begins with: a target that is open.
std::vector<int32_t> prefix_of(InspectCall& call) {
  const bool open = call.fields.flag("open");
  call.example();
  return call.session().two_sided() && open ? call.target_ids() : std::vector<int32_t>{};
}

void check_writes(InspectCall& call) {
  if (!call.config().writes()) throw HttpError(400, "This model writes nothing: it reads.", {.param = "model"});
}

}  // namespace

Answer view_output(InspectCall& call) {
  const Session& session = call.session();
  const SamplingOptions sampling = read_sampling(call, 1);
  const int64_t top = call.fields.whole("top", 20, 1, 100000);
  const int64_t asked = call.fields.whole("position", -1, -(1 << 20), 1 << 20);
  std::vector<int32_t> chosen;
  for (const std::string& word : call.fields.texts("tokens")) chosen.push_back(session.token(session.writer(), word));
  const Example& example = call.example();
  const Tensor logits = forward_logits(session.model(), example, nullptr);
  const bool classifies = !session.config().labels.empty();
  const int64_t position = classifies ? 0 : position_of(example, asked);
  Json json = {{"position", position}, {"ids", example.batch.input.ids}};
  if (session.two_sided()) {
    json["ids"] = example.batch.source.ids;
    json["target_ids"] = call.target_ids();
  }
  json.update(distribution_json(session, {logits.values().row(position), static_cast<size_t>(logits.cols())}, sampling,
                                top, chosen));
  return call.json(std::move(json), "lens",
                   {"--position", std::to_string(asked), "--top", std::to_string(std::min<int64_t>(top, 1000))});
}

Answer view_generate(InspectCall& call) {
  check_writes(call);
  const Session& session = call.session();
  const Config& config = session.config();
  SamplingOptions sampling = read_sampling(call, 0);
  const std::vector<std::string> asked = sampling_command(sampling);
  const int64_t most = call.fields.whole("max_tokens", 20, 1, 4096), top = call.fields.whole("top", 5, 0, 1000);
  const auto seed = static_cast<uint64_t>(call.fields.whole("seed", 1, 0, INT64_MAX));
  const std::vector<int32_t> prefix = prefix_of(call);
  // As limpid complete and limpid translate --samples draw, so that they write the same.
  TokenRules rules = session.loaded.generation.rules;
  add_special_tokens(config, session.writer(), rules, sampling);
  if (config.continues_text()) rules.forced_first.reset();
  std::vector<int32_t> history = config.continues_text() ? call.example().batch.input.ids : prefix;
  const int64_t before = config.continues_text() ? 0 : std::ssize(prefix);
  Continuations text(session.model(), call.example(), prefix);
  Json steps = Json::array();
  bool ended = false;
  while (std::ssize(text.written(0)) < most && !text.full()) {
    const ConstMatrix scores = text.scores();
    const std::span<const real> row(scores.row(0), static_cast<size_t>(scores.cols));
    const int64_t written = before + std::ssize(text.written(0));
    std::vector<real> changed(row.begin(), row.end());
    apply_token_rules(rules, {history, written, written + 1 == before + most}, changed);
    changed.resize(std::min(changed.size(), static_cast<size_t>(session.writer().size())));
    Random random(random_key(seed, static_cast<uint64_t>(written), 0));
    const Candidate next = draw(candidates(changed, history, sampling), random.uniform());
    history.push_back(next.id);
    const double log_sum = log_sum_of_exp(row);
    Json likeliest_json = Json::array();
    for (const TokenScore& one : likeliest(row, top, log_sum))
      likeliest_json.push_back({{"id", one.id},
                                {"token", session.piece(one.id)},
                                {"probability", std::exp(static_cast<double>(one.log_probability))}});
    ended = std::count(rules.ends.begin(), rules.ends.end(), next.id) > 0;
    steps.push_back({{"id", next.id},
                     {"token", session.piece(next.id)},
                     {"text", shown_text(session, next.id)},
                     {"probability", std::exp(static_cast<double>(row[next.id]) - log_sum)},
                     {"top", std::move(likeliest_json)}});
    call.progress(static_cast<double>(steps.size()) / static_cast<double>(most));
    if (call.event) call.event("step", steps.back());
    if (ended) break;
    const GenerationTask::Row one{.id = next.id};
    text.go_on({&one, 1});
  }
  std::vector<int32_t> whole = prefix;
  whole.insert(whole.end(), text.written(0).begin(), text.written(0).end());
  Json json = {{"ids", text.written(0)},
               {"text", session.writer().decode(whole)},
               {"ended", ended ? "end" : "length"},
               {"steps", std::move(steps)}};
  if (!call.interventions().empty())  // the other commands know none
    return call.json(std::move(json), "intervene", {"--generate", std::to_string(most)});
  std::vector<std::string> command = asked;
  command.insert(command.end(), {"--seed", std::to_string(seed)});
  const std::string model = shell_quoted(call.served.path);
  if (!session.two_sided()) {
    command.insert(command.end(), {"--max-tokens", std::to_string(most), "--stop-at-context"});
    return call.json(std::move(json), "limpid complete " + model, command);
  }
  command.insert(command.end(), {"--samples", "1", "--max-tokens", std::to_string(before + most)});
  if (!prefix.empty()) command.insert(command.end(), {"--prefix", session.writer().decode(prefix)});
  return call.json(std::move(json), "limpid translate " + model, command);
}

Answer view_beam(InspectCall& call) {
  check_writes(call);
  const Session& session = call.session();
  BeamTreeOptions options{.search = {.beam = call.fields.whole("beam", 4, 1, 64),
                                     .length_penalty = call.fields.number("length_penalty", 1),
                                     .max_tokens = call.fields.whole("max_tokens", 40, 1, 512),
                                     .ends = ends_of(session)},
                          .rules = session.loaded.generation.rules,
                          .prefix = prefix_of(call)};
  const BeamTree tree = grow_beam(session.model(), call.example(), options);
  return call.json(
      beam_json(session.writer(), tree, options), "beam",
      {"--beam", std::to_string(options.search.beam), "--length-penalty",
       fmt::format("{}", options.search.length_penalty), "--max-tokens", std::to_string(options.search.max_tokens)});
}

Answer view_intervene(InspectCall& call) {
  if (call.interventions().empty())
    throw HttpError(400, "Nothing is changed: give \"interventions\".", {.param = "interventions"});
  const int64_t asked = call.fields.whole("position", -1, -(1 << 20), 1 << 20);
  const int64_t generate = call.fields.whole("generate", 0, 0, 1024);
  EffectOptions wanted{.top = call.fields.whole("top", 5, 1, 1000), .everywhere = call.fields.flag("everywhere", true)};
  const std::vector<std::string> words = call.fields.texts("tokens");
  const Session& before = call.unchanged();
  for (const std::string& word : words) wanted.watched.push_back(before.token(before.writer(), word));
  const Example plain = call.example_without_interventions();
  const bool classifies = !before.config().labels.empty();
  wanted.position = classifies ? 0 : position_of(plain, asked);
  const Tensor logits = forward_logits(before.model(), plain, nullptr);
  const Tensor changed = forward_logits(call.model(), call.example(), nullptr);
  const Effect effect = compare_logits(logits.values(), changed.values(), wanted);
  Json json = effect_json(before, plain, effect, wanted.position);
  if (generate > 0) {
    check_writes(call);
    const int32_t end = before.writer().special().end;
    json["generated"] = {
        {"before", before.writer().decode(write_greedily(before.model(), plain, generate, end))},
        {"after", before.writer().decode(write_greedily(call.model(), call.example(), generate, end))}};
  }
  std::vector<std::string> command = {"--position", std::to_string(asked), "--top", std::to_string(wanted.top)};
  for (const std::string& word : words) command.insert(command.end(), {"--token", word});
  if (generate > 0) command.insert(command.end(), {"--generate", std::to_string(generate)});
  return call.json(std::move(json), "intervene", command);
}

Answer view_interventions(InspectCall& call) {
  // That every tap and weight exists is seen by making them ready.
  if (call.has_text()) {
    call.example();
  } else {
    const std::vector<TapInfo>& taps = call.unchanged().taps();
    for (const Intervention& one : call.interventions().values) find_taps(taps, one.place.tap, call.config());
  }
  call.session();
  const nlohmann::json* given = call.fields.any("interventions");
  Json options = Json::array();
  for (const nlohmann::json& one : given && given->is_array() ? *given : nlohmann::json::array())
    for (const auto& [key, value] : one.items()) {
      if (key == "by" || key == "to" || key == "along" || key == "from_target" || key == "note") continue;
      std::string text = value.get<std::string>();
      if (key == "scale") text += "=" + one.value("by", nlohmann::json(1)).dump();
      if (key == "set") text += "=" + one.value("to", nlohmann::json(0)).dump();
      if (key == "steer") text += "=" + one.value("by", nlohmann::json(1)).dump() + "*" + one.value("along", "");
      options.push_back("--" + key);
      options.push_back(text);
    }
  Json json = {{"count", call.interventions().values.size() + call.interventions().weights.size()},
               {"options", std::move(options)},
               {"interventions", given ? Json(*given) : Json::array()},
               {"toml", given ? interventions_toml(*given) : ""}};
  return call.json(std::move(json), "intervene");
}

}  // namespace limpid
