// What can be asked about a model's inside, without HTTP: numbers against captured taps, refusals, interventions that
// belong to one request. On models that were saved and loaded, in float and quantised.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "base/cancellation.h"
#include "formats/safetensors.h"
#include "inspect/effect.h"
#include "inspect/lens_json.h"
#include "inspect/saved_session.h"
#include "inspect/tap_rows.h"
#include "server/http.h"
#include "server/inspect_views.h"
#include "text/token_store.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

// A safetensors answer, taken apart.
struct Tensors {
  explicit Tensors(std::string body) : bytes(std::move(body)) {
    contents = parse_safetensors(std::as_bytes(std::span(bytes)), "[answer]");
    meta = Json::parse(contents.metadata.at("limpid"));
  }
  const SafetensorsEntry& entry(const std::string& name) const {
    for (const SafetensorsEntry& one : contents.entries)
      if (one.name == name) return one;
    throw std::runtime_error("no tensor " + name);
  }
  bool has(const std::string& name) const {
    return std::any_of(contents.entries.begin(), contents.entries.end(), [&](const auto& e) { return e.name == name; });
  }
  std::vector<real> numbers(const std::string& name) const {
    std::vector<real> result(static_cast<size_t>(entry(name).count()));
    read_reals(entry(name), result.data());
    return result;
  }
  std::string bytes;
  SafetensorsContents contents;
  Json meta;
};

class Inspect : public testing::TestWithParam<std::tuple<std::string, Saved>> {
 protected:
  Inspect() : saved(std::get<0>(GetParam()), std::get<1>(GetParam())), served{saved.session, "small", "models/small"} {}

  InspectCall::Answer ask(InspectView view, const Json& request, const InspectLimits& limits = {}) const {
    InspectCall call(served, request, limits);
    return view(call);
  }
  Json json(InspectView view, const Json& request) const { return Json::parse(ask(view, request).body); }
  Tensors tensors(InspectView view, const Json& request) const { return Tensors(ask(view, request).body); }
  // The status of a refusal, and what it says.
  std::pair<int, std::string> refusal(InspectView view, const Json& request, const InspectLimits& limits = {}) const {
    try {
      ask(view, request, limits);
    } catch (const HttpError& error) {
      return {error.status(), error.what()};
    } catch (const Error& error) {
      return {400, error.what()};
    }
    return {200, ""};
  }
  Json with_text(Json request = Json::object()) const {
    request["text"] = "ejcrg";
    if (saved.session.two_sided()) request["target"] = "fdkb";
    return request;
  }
  // Run as the server runs it, with every tap watched, so that its numbers have the same bits.
  Example remembered() const {
    Example example = saved.example();
    InspectMemory().remember_passes(saved.session, example);
    return example;
  }
  bool recurrent() const { return saved.session.config().recurrent(); }
  std::string attention() const {
    return recurrent() ? "align" : saved.session.two_sided() ? "decoder.1.cross_attn" : "blocks.1.attn";
  }
  std::string stream(int64_t layer) const {
    return recurrent() ? "decoder.0.h"
                       : fmt::format("{}.{}.resid_post", saved.session.two_sided() ? "decoder" : "blocks", layer);
  }

  SavedSession saved;
  InspectedModel served;
};

std::string name_of_case(const testing::TestParamInfo<std::tuple<std::string, Saved>>& info) {
  return std::get<0>(info.param) + (std::get<1>(info.param) == Saved::floats ? "_float" : "_q8");
}
INSTANTIATE_TEST_SUITE_P(All, Inspect,
                         testing::Combine(testing::Values("gpt2", "llama", "marian", "gru_attention", "bert"),
                                          testing::Values(Saved::floats, Saved::quantized)),
                         name_of_case);

// Queries turned by the angles of the view are what the model makes of them: a part of each head, scaled frequencies.
TEST(InspectPositions, RotaryAnglesAreThoseThatTheModelTurnsBy) {
  for (const char* name : {"llama", "gpt_neox", "llama_linear"}) {
    const SavedSession saved(name, Saved::floats);
    const InspectedModel served{saved.session, "small", "models/small"};
    InspectCall call(served, {{"count", 4}}, {});
    const Tensors answer(view_positions(call).body);
    const std::vector<real> angles = answer.numbers("angles");
    const auto pairs = answer.entry("angles").shape.at(1);
    const auto taps = tap_values(saved.session.model(), saved.example(), {"blocks.0.attn.q", "blocks.0.attn.rot_q"});
    const TapValues &q = taps.at("blocks.0.attn.q"), &turned = taps.at("blocks.0.attn.rot_q");
    ASSERT_EQ(pairs, saved.session.config().rope.turned(saved.session.config().head_size) / 2) << name;
    for (int64_t p = 0; p < std::min<int64_t>(4, q.positions); ++p)
      for (int64_t i = 0; i < pairs; ++i) {
        const auto angle = static_cast<double>(angles[p * pairs + i]);
        const auto a = static_cast<double>(q.row(p)[i]), b = static_cast<double>(q.row(p)[i + pairs]);
        EXPECT_NEAR(turned.row(p)[i], a * std::cos(angle) - b * std::sin(angle), 1e-5) << name << p << i;
      }
  }
}

// Scores are the product, scaled, capped, with the bias by distance, as the answer says each of these.
TEST(InspectAttention, ScoresAreMadeAsTheAnswerSays) {
  for (const char* name :
       {"t5", "mpnet", "bloom", "falcon_slopes", "gemma2", "granite", "gpt2_by_layer", "gpt_neo", "mixtral"}) {
    const SavedSession saved(name, Saved::floats);
    const InspectedModel served{saved.session, "small", "models/small"};
    const bool biased = saved.session.config().relative != RelativeKind::none;
    Json request = {{"text", "ejcrg"}, {"head", 1}};
    if (saved.session.two_sided()) request["target"] = "fdkb";
    for (const std::string& attention :
         saved.session.two_sided()
             ? std::vector<std::string>{"encoder.1.self_attn", "decoder.1.self_attn", "decoder.1.cross_attn"}
             : std::vector<std::string>{"blocks.1.attn"}) {
      request["attention"] = attention;
      InspectCall call(served, request, {});
      const Tensors head(view_attention(call).body);
      const std::vector<real> product = head.numbers("product"), scores = head.numbers("scores");
      EXPECT_EQ(head.has("bias"), biased && !attention.ends_with("cross_attn")) << name << attention;
      const std::vector<real> bias =
          head.has("bias") ? head.numbers("bias") : std::vector<real>(product.size(), real{0});
      const double scale = head.meta["scale"], cap = head.meta["cap"].is_null() ? 0 : head.meta["cap"].get<double>();
      for (size_t i = 0; i < scores.size(); ++i) {
        double score = static_cast<double>(product[i]) * scale;
        if (cap > 0) score = cap * std::tanh(score / cap);
        EXPECT_NEAR(static_cast<double>(scores[i]), score + static_cast<double>(bias[i]), 1e-4) << name << attention;
      }
      EXPECT_THAT(head.meta["command"].get<std::string>(), HasSubstr("--tap " + attention + ".pattern --head 1"));
    }
    // The same by distance, whichever the text.
    InspectCall call(served, {{"count", 5}, {"side", saved.session.two_sided() ? "decoder" : ""}}, {});
    const Tensors positions(view_positions(call).body);
    ASSERT_EQ(positions.has("bias"), biased) << name;
    if (biased) {
      EXPECT_EQ(positions.entry("bias").shape.at(1), 9);
    }
  }
}

TEST(InspectModel, SaysWhatItsFormulasDependOn) {
  const auto told = [](const char* name) {
    const SavedSession saved(name, Saved::floats);
    InspectCall call({saved.session, "small", "models/small"}, Json::object(), {});
    return Json::parse(view_model(call).body);
  };
  EXPECT_EQ(told("t5")["relative"], "buckets");
  EXPECT_EQ(told("bloom")["relative"], "slopes");
  EXPECT_EQ(told("gpt_neox")["parallel"], true);
  EXPECT_EQ(told("gemma2")["norm_place"], "both");
  EXPECT_EQ(told("gemma2")["attention_cap"], 2.0);
  EXPECT_EQ(told("mixtral")["experts"]["count"], 4);
  EXPECT_TRUE(told("llama")["experts"].is_null());
}

// Every number of a model has its place on the map, norms among them.
TEST(InspectModel, EveryWeightIsOfSomePart) {
  for (const char* name :
       {"t5", "bloom", "gemma2", "olmo2", "qwen3", "gpt_neox", "marian", "bert", "mpnet", "modernbert"}) {
    const SavedSession saved(name, Saved::floats);
    InspectCall call({saved.session, "small", "models/small"}, Json::object(), {});
    const Json model = Json::parse(view_model(call).body);
    std::map<std::string, int64_t> of;
    for (const Json& part : model["parts"]) {
      EXPECT_NE(part["kind"], "other") << name << part;
      of[part["id"]] = part["parameters"];
    }
    const std::string scope = saved.session.two_sided() ? "decoder" : "blocks";
    const int64_t width = model["width"];
    for (const auto& [id, parameters] : of)
      if (id.starts_with(scope + ".1.norm")) {
        EXPECT_TRUE(parameters == width || parameters == 2 * width) << name << id << parameters;
      }
    if (model["final_norm"].get<bool>()) {
      EXPECT_GT(of[saved.session.two_sided() ? "decoder.final_norm" : "final_norm"], 0) << name;
    }
  }
}

TEST_P(Inspect, CaptureGivesTheTapsWholeCutAndReduced) {
  const Example example = remembered();
  const std::string tap = stream(0);
  const TapValues expected = tap_values(saved.session.model(), example, {tap}).at(tap);
  const Tensors whole = tensors(view_capture, with_text({{"taps", {tap}}}));
  EXPECT_EQ(whole.entry(tap).shape, (std::vector<int64_t>{expected.positions, expected.cols}));
  EXPECT_EQ(whole.numbers(tap), std::vector<real>(expected.all().begin(), expected.all().end()));
  EXPECT_THROW(tensors(view_capture, with_text({{"taps", tap}, {"positions", {expected.positions}}})), HttpError);
  const Tensors last = tensors(view_capture, with_text({{"taps", tap}, {"positions", {-1}}, {"columns", {1, 3}}}));
  const real* row = expected.row(expected.positions - 1);
  EXPECT_EQ(last.numbers(tap), (std::vector<real>{row[1], row[2], row[3]}));
  const Tensors small = tensors(view_capture, with_text({{"taps", tap}, {"reduce", {{"rows", 1}, {"columns", 1}}}}));
  real strongest = 0;
  for (const real x : expected.all()) strongest = std::abs(x) > std::abs(strongest) ? x : strongest;
  EXPECT_EQ(small.numbers(tap), std::vector<real>{strongest});
  EXPECT_THAT(whole.meta["command"].get<std::string>(), HasSubstr("limpid look models/small capture ejcrg"));
}

TEST_P(Inspect, OneHeadIsComputedAsTheFormulaSays) {
  if (!saved.session.config().writes() || recurrent()) {
    if (recurrent()) {
      const Tensors head = tensors(view_attention, with_text({{"attention", "align"}}));
      EXPECT_TRUE(head.has("pattern") && head.has("context"));
    }
    return;
  }
  const Tensors head = tensors(view_attention, with_text({{"attention", attention()}, {"head", 1}}));
  const auto shape = head.entry("pattern").shape;
  const std::vector<real> q = head.numbers(head.has("rot_q") ? "rot_q" : "q"),
                          k = head.numbers(head.has("rot_k") ? "rot_k" : "k"), scores = head.numbers("scores"),
                          product = head.numbers("product"), pattern = head.numbers("pattern"), v = head.numbers("v"),
                          z = head.numbers("z");
  const int64_t queries = shape[0], keys = shape[1], size = head.entry("q").shape[1];
  EXPECT_EQ(head.meta["queries"].size(), static_cast<size_t>(queries));
  for (int64_t i = 0; i < queries; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < keys; ++j) {
      double dot = 0;
      for (int64_t d = 0; d < size; ++d)
        dot += static_cast<double>(q[i * size + d]) * static_cast<double>(k[j * size + d]);
      EXPECT_NEAR(static_cast<double>(product[i * keys + j]), dot, 1e-4);
      EXPECT_NEAR(static_cast<double>(scores[i * keys + j]), dot * head.meta["scale"].get<double>(), 1e-4);
      sum += static_cast<double>(pattern[i * keys + j]);
    }
    EXPECT_NEAR(sum, 1, 1e-5);
    for (int64_t d = 0; d < size; ++d) {
      double mixed = 0;
      for (int64_t j = 0; j < keys; ++j)
        mixed += static_cast<double>(pattern[i * keys + j]) * static_cast<double>(v[j * size + d]);
      EXPECT_NEAR(static_cast<double>(z[i * size + d]), mixed, 1e-4);
    }
  }
}

TEST_P(Inspect, HeadsTogetherWriteTheAttentionsOutput) {
  if (recurrent() || std::get<1>(GetParam()) == Saved::quantized) return;  // 8-bit products round their inputs
  const std::string name = attention();
  const std::string out = name.substr(0, name.find('.', name.find('.') + 1)) +
                          (saved.session.two_sided() ? ".cross_attn_out" : ".attn_out");
  const TapValues expected = tap_values(saved.session.model(), remembered(), {out}).at(out);
  std::vector<double> sum(expected.all().size());
  const int64_t heads = stack_config(saved.session.config()).heads;
  for (int64_t head = 0; head < heads; ++head) {
    const std::vector<real> part =
        tensors(view_attention, with_text({{"attention", name}, {"head", head}})).numbers("out");
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(part[i]);
  }
  // What is left is the bias: the same at every position.
  for (int64_t i = 1; i < expected.positions; ++i)
    for (int64_t j = 0; j < expected.cols; ++j)
      EXPECT_NEAR(static_cast<double>(expected.row(i)[j]) - sum[static_cast<size_t>(i * expected.cols + j)],
                  static_cast<double>(expected.row(0)[j]) - sum[static_cast<size_t>(j)], 1e-4);
}

TEST_P(Inspect, ThumbnailsAreThePatternsOfAllHeads) {
  const Tensors heads = tensors(view_heads, with_text({{"size", 512}}));
  const auto tap_of = [](const Json& name) {
    return name == "align" ? std::string("align") : name.get<std::string>() + ".pattern";
  };
  // All in one pass, as the route has them: what is watched in one layer takes another kernel there, whose rounding the
  // layers behind it see.
  std::vector<std::string> taps;
  for (const Json& group : heads.meta["groups"])
    for (const Json& name : group["attention"]) taps.push_back(tap_of(name));
  const auto patterns = tap_values(saved.session.model(), remembered(), taps);
  for (const Json& group : heads.meta["groups"]) {
    const std::vector<real> numbers = heads.numbers(group["name"]);
    size_t at = 0;
    for (const Json& name : group["attention"])
      for (const real x : patterns.at(tap_of(name)).all()) EXPECT_EQ(numbers.at(at++), x);
    EXPECT_EQ(at, numbers.size());
  }
}

TEST_P(Inspect, LensIsThatOfTheCommandLine) {
  const Example example = remembered();
  const Json expected = lens_json(saved.session, example, logit_lens(saved.session.model(), example, {.top = 3}));
  const Json answer = json(view_lens, with_text());
  EXPECT_EQ(answer["lens"], expected["lens"]);
  EXPECT_THAT(answer["command"].get<std::string>(), HasSubstr("limpid look models/small lens ejcrg"));
}

TEST_P(Inspect, AnInterventionHoldsInEveryView) {
  const Json change = {{"interventions", {{{"zero", stream(0)}}}}};
  Json request = with_text(change);
  request["taps"] = {stream(0)};
  for (const real x : tensors(view_capture, request).numbers(stream(0))) EXPECT_EQ(x, 0);
  Json after = json(view_output, with_text(change)), before = json(view_output, with_text());
  EXPECT_NE(after["tokens"], before["tokens"]);
  EXPECT_THAT(after["toml"].get<std::string>(), HasSubstr("zero = \"" + stream(0) + "\""));
  EXPECT_THAT(after["command"].get<std::string>(), HasSubstr("--interventions changes.toml"));
  // The lens of the changed pass ends where its output is.
  if (!saved.session.config().writes()) return;
  const Json lens = json(view_lens, with_text(change))["lens"].back()["positions"].back()["top"][0];
  EXPECT_EQ(lens["id"], after["tokens"][0]["id"]);
  EXPECT_NEAR(lens["probability"].get<double>(), after["tokens"][0]["probability"].get<double>(), 1e-5);
}

std::string output_weight(const Session& session) {
  std::string name;
  session.model().each_parameter([&](const Weight& weight) {
    if (weight.role == ParameterRole::embedding && weight.shape.size() == 2 &&
        weight.shape[0] == session.config().vocab)
      name = weight.name;
    if (weight.role == ParameterRole::output && weight.shape.size() == 2 && weight.shape[0] == session.config().vocab)
      name = weight.name;
  });
  return name;
}

TEST_P(Inspect, TwoClientsWithDifferentEditsEachSeeTheirOwnModel) {
  const std::string weight = output_weight(saved.session);
  const auto edited = [&](int i) {
    return with_text({{"interventions", {{{"edit", fmt::format("{}[{},:]*={}", weight, 3 + i, 2 + i)}}}}});
  };
  const std::string plain = ask(view_output, with_text()).body;
  std::vector<std::string> expected, seen[3];
  for (int i = 0; i < 2; ++i) expected.push_back(ask(view_output, edited(i)).body);
  EXPECT_NE(expected[0], expected[1]);
  EXPECT_NE(expected[0], plain);
  std::vector<std::thread> clients;
  for (int i = 0; i < 3; ++i)
    clients.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round)
        seen[i].push_back(ask(view_output, i < 2 ? edited(i) : with_text()).body);
    });
  for (std::thread& client : clients) client.join();
  for (int i = 0; i < 3; ++i)
    for (const std::string& body : seen[i]) EXPECT_EQ(body, i < 2 ? expected[i] : plain);
}

// What cannot be answered is refused before anything is computed.
TEST_P(Inspect, RefusesBeforeItComputes) {
  bool computed = false;
  const auto refused = [&](InspectView view, Json request, const InspectLimits& limits) {
    InspectCall call(served, with_text(std::move(request)), limits);
    call.progress = [&](double) { computed = true; };
    try {
      view(call);
    } catch (const HttpError& error) {
      return error.status();
    }
    return 200;
  };
  const Json gradient = {{"taps", stream(0)}, {"tensors", true}};
  Json streamed = gradient;
  streamed["stream"] = true;
  EXPECT_EQ(refused(view_gradient, streamed, {}), 400);
  EXPECT_EQ(refused(view_gradient, gradient, {.bytes = 100}), 413);
  EXPECT_EQ(refused(view_gradient, gradient, {.pass_bytes = 100}), 413);
  EXPECT_FALSE(computed);
  EXPECT_EQ(refused(view_capture, {{"taps", stream(0)}, {"stream", true}}, {}), 400);
  EXPECT_EQ(refused(view_heads, {{"size", 1}}, {.pass_bytes = 20}), 413) << "small thumbnails of large patterns";
  EXPECT_EQ(refused(view_capture, {{"taps", "*"}, {"positions", {0}}, {"columns", {0, 0}}}, {.pass_bytes = 100}), 413);
}

// Every view that computes ends where nobody wants it any more.
TEST_P(Inspect, EndsWhereItIsCancelled) {
  const auto cancelled = [&](InspectView view, Json request) {
    bool wanted = true;
    const CancellationScope scope([&] {
      if (!wanted) fail(ErrorKind::cancelled, "[test] nobody wants it");
    });
    InspectCall call(served, with_text(std::move(request)));
    call.example_without_interventions();
    wanted = false;
    try {
      view(call);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::cancelled;
    }
    return false;
  };
  const std::string name = json(view_parameters, Json::object())["weights"][0]["name"];
  EXPECT_TRUE(cancelled(view_capture, {{"taps", stream(0)}}));
  EXPECT_TRUE(cancelled(view_heads, Json::object()));
  EXPECT_TRUE(cancelled(view_weight, {{"name", name}, {"reduce", {{"rows", 1}}}}));
  if (saved.session.two_sided()) {
    EXPECT_TRUE(cancelled(view_alignment, Json::object()));
  }
  if (saved.session.config().writes()) {
    EXPECT_TRUE(cancelled(view_lens, Json::object()));
    if (std::get<1>(GetParam()) == Saved::floats) {
      EXPECT_TRUE(cancelled(view_gradient, {{"taps", stream(0)}}));
    }
    EXPECT_TRUE(cancelled(view_beam, Json::object()));
    EXPECT_TRUE(cancelled(view_generate, Json::object()));
    EXPECT_TRUE(cancelled(view_intervene, {{"interventions", {{{"zero", stream(0)}}}}, {"generate", 5}}));
  }
  if (saved.session.config().writes() && !recurrent()) {
    EXPECT_TRUE(cancelled(view_attribution, Json::object()));
  }
}

TEST_P(Inspect, FilesAreNeverRead) {
  for (const Json& change : {Json{{"mean", stream(0)}, {"over", "/etc/passwd"}},
                             Json{{"steer", stream(0)}, {"along", "npy:/etc/passwd"}, {"by", 1}},
                             Json{{"edit", output_weight(saved.session) + "+=1*outer(npy:/etc/passwd, token:a)"}}}) {
    const auto [status, message] = refusal(view_output, with_text({{"interventions", {change}}}));
    EXPECT_EQ(status, 400);
    EXPECT_THAT(message, HasSubstr("reads no files")) << change;
  }
}

TEST_P(Inspect, MistakesAreNamed) {
  EXPECT_THAT(refusal(view_lens, with_text({{"tok", 3}})).second, HasSubstr("no field \"tok\""));
  EXPECT_THAT(refusal(view_lens, with_text({{"top", "three"}})).second, HasSubstr("\"top\" must be a whole number"));
  EXPECT_THAT(refusal(view_lens, Json::object()).second, HasSubstr("There is no text"));
  EXPECT_THAT(refusal(view_capture, with_text({{"taps", {"blocks.0.nothing"}}})).second, HasSubstr("has no tap"));
  EXPECT_EQ(refusal(view_lens, with_text({{"interventions", {{{"zero", "nowhere"}}}}})).first, 400);
  EXPECT_EQ(refusal(view_lens, {{"ids", {1000}}}).first, 400);
  const auto [status, message] = refusal(view_capture, with_text({{"taps", {stream(0)}}}), {.bytes = 64});
  EXPECT_EQ(status, 413);
  EXPECT_THAT(message, testing::AllOf(HasSubstr("64"), HasSubstr("choose fewer")));
  EXPECT_EQ(refusal(view_lens, {{"text", std::string(100000, 'a')}}).first, 400);
}

TEST_P(Inspect, TheLimitThatTokensNameIsTheOneThatRefuses) {
  const Json limit = json(view_tokens, with_text())["limit"];
  ASSERT_EQ(limit.is_null(), recurrent());
  if (limit.is_null()) return;
  Json request = with_text({{"ids", std::vector<int>(limit.get<size_t>() + 1, 5)}});
  request.erase("text");
  EXPECT_THAT(refusal(view_lens, request).second, HasSubstr(fmt::format("at most {} ", limit.get<int64_t>())));
}

TEST_P(Inspect, EveryViewAnswersOrSaysWhyNot) {
  for (const InspectRoute& route : inspect_views()) {
    Json request = Json::object();
    const std::string name = route.name;
    const bool of_the_model = route.get || name == "pieces" || name == "embedding" || name == "positions" ||
                              name == "neuron" || name == "weight" || name == "interventions";
    if (!of_the_model) request = with_text();
    if (name == "capture" || name == "gradient") request["taps"] = {stream(0)};
    if (name == "trace") request["subject"] = "0..1";
    if (name == "attention") request["attention"] = attention();
    if (name == "embedding") request["words"] = {"a", "b"};
    if (name == "pieces") request["tokens"] = {3, 4};
    if (name == "weight") request["name"] = output_weight(saved.session);
    if (name == "intervene") request["interventions"] = {{{"zero", stream(0)}}};
    const auto [status, message] = refusal(route.view, request);
    const Config& config = saved.session.config();
    const bool may_refuse = (!config.writes() && (name == "generate" || name == "beam" || name == "alignment")) ||
                            (!saved.session.two_sided() && name == "alignment") ||
                            (recurrent() && (name == "neuron" || name == "neurons"));
    EXPECT_TRUE(status == 200 || may_refuse) << name << ": " << message;
    if (status != 200) continue;
    const InspectCall::Answer answer = ask(route.view, request);
    const Json meta = answer.tensors ? Tensors(answer.body).meta : Json::parse(answer.body);
    if (name == "beam" && !saved.session.two_sided()) continue;  // no command grows the beam of a language model
    EXPECT_THAT(meta.value("command", ""), testing::ContainsRegex("^(echo .* )?limpid ")) << name;
  }
}

TEST_P(Inspect, OutputIsADistributionThatOptionsNarrow) {
  const Json answer = json(view_output, with_text({{"top", 23}, {"top_k", 4}, {"temperature", 0.5}}));
  double sum = 0, adjusted = 0;
  int64_t kept = 0;
  for (const Json& token : answer["tokens"]) {
    sum += token["probability"].get<double>();
    adjusted += token["adjusted"].get<double>();
    kept += token["adjusted"].get<double>() > 0;
  }
  EXPECT_NEAR(sum, 1, 1e-6);
  EXPECT_NEAR(adjusted, 1, 1e-6);
  EXPECT_EQ(kept, 4);
  EXPECT_EQ(answer["kept"], 4);
  const double ratio =
      answer["tokens"][0]["probability"].get<double>() / answer["tokens"][1]["probability"].get<double>();
  EXPECT_NEAR(answer["tokens"][0]["adjusted"].get<double>() / answer["tokens"][1]["adjusted"].get<double>(),
              ratio * ratio, 1e-3 * ratio * ratio);
}

TEST_P(Inspect, WritingGoesOnAsTheOutputSays) {
  if (!saved.session.config().writes()) return;
  Json request = {{"text", "ejcrg"}};
  if (saved.session.two_sided()) request["open"] = true;
  Json writing = request;
  writing["max_tokens"] = 4;
  const Json whole = json(view_generate, writing);
  // The same by asking for one token after another: branches can be taken anywhere.
  std::vector<int32_t> written;
  Json next = request;
  for (const Json& step : whole["steps"]) {
    const Json output = json(view_output, next);
    EXPECT_EQ(output["tokens"][0]["id"], step["id"]);
    EXPECT_NEAR(output["tokens"][0]["probability"].get<double>(), step["probability"].get<double>(), 0.02);
    Json ids = output[saved.session.two_sided() ? "target_ids" : "ids"];
    ids.push_back(step["id"]);
    next.erase("text");
    next["ids"] = output["ids"];
    next[saved.session.two_sided() ? "target_ids" : "ids"] = ids;
  }
}

TEST_P(Inspect, TextsOfTheRunAreCutToTheContext) {
  const int64_t context = saved.session.config().max_positions;
  if (recurrent() || context <= 0) return;
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "data");
  TokenStoreWriter writer(folder / "data" / "valid");
  const std::vector<int32_t> ids(static_cast<size_t>(context) + 3, 5);
  writer.add(ids, saved.session.two_sided() ? std::span<const int32_t>(ids) : std::span<const int32_t>());
  writer.commit();
  const InspectedModel own{saved.session, "small", folder.path()};
  InspectCall call(own, {{"block", 0}, {"neuron", 0}, {"corpus", true}}, {});
  const Json answer = Json::parse(view_neuron(call).body);
  EXPECT_TRUE(answer.contains("firing")) << answer;
}

// Begins its words with "▁", and a text with none.
class SpacedTokenizer : public LetterTokenizer {
 public:
  std::string decode(std::span<const int32_t> ids) const override {
    std::string text;
    for (const int32_t id : ids)
      if (id != special().end) text += id == 5 ? " " : piece(id);
    return text.starts_with(' ') ? text.substr(1) : text;
  }
};

TEST_P(Inspect, ALoneSpaceIsNoSpecialToken) {
  saved.session.loaded.tokenizers.source = saved.session.loaded.tokenizers.target = std::make_shared<SpacedTokenizer>();
  Json request = {{"text", "fec"}};
  if (saved.session.two_sided()) request["target"] = "e";
  const Json answer = json(view_tokens, request);
  const Json& tokens = answer[saved.session.two_sided() ? "source" : "input"];
  EXPECT_EQ(tokens[0]["special"], false);
  EXPECT_EQ(tokens[1]["special"], false);
  EXPECT_EQ(tokens[2]["special"], true);
}

TEST_P(Inspect, WeightsAreShownWithTheirSpread) {
  const std::string name = output_weight(saved.session);
  const Tensors weight = tensors(view_weight, {{"name", name}, {"reduce", nullptr}, {"histogram", 8}});
  const std::vector<real> numbers = weight.numbers("values");
  EXPECT_NEAR(weight.meta["min"].get<double>(), static_cast<double>(*std::min_element(numbers.begin(), numbers.end())),
              1e-7);
  const auto bytes = weight.entry("histogram").bytes;
  std::vector<int32_t> counts(8);
  std::memcpy(counts.data(), bytes.data(), bytes.size());
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0), static_cast<int>(numbers.size()));
  const Json list = json(view_parameters, Json::object());
  int64_t total = 0;
  for (const Json& one : list["weights"]) total += one["parameters"].get<int64_t>();
  EXPECT_EQ(list["total"], total);
  const Json model = json(view_model, Json::object());
  EXPECT_EQ(model["parameters"], total);
  int64_t parts = 0;
  for (const Json& part : model["parts"]) {
    parts += part["parameters"].get<int64_t>();
    EXPECT_NE(part["kind"], "other") << part;
  }
  EXPECT_EQ(parts, total);
}

TEST(ShellQuoted, IsReadBackAsOneWord) {
  EXPECT_EQ(shell_quoted("plain.txt"), "plain.txt");
  EXPECT_EQ(shell_quoted("two words"), "'two words'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted(""), "''");
}

TEST_P(Inspect, WhatIsRememberedOfOneTextIsNotTakenForAnother) {
  InspectMemory memory;
  const InspectedModel remembering{saved.session, "small", "models/small", &memory};
  const std::string tap = stream(0);
  const auto answers = [&](const InspectedModel& model, const std::string& text, const Json& interventions) {
    Json request = with_text({{"taps", {tap}}, {"interventions", interventions}});
    request["text"] = text;
    InspectCall call(model, request);
    return Tensors(view_capture(call).body).numbers(tap);
  };
  const Json lists[] = {
      Json::array(), {{{"zero", tap + "@1"}}}, {{{"scale", tap}, {"by", 2}}}, {{{"zero", tap + "@1"}}}};
  for (int round = 0; round < 2; ++round)
    for (const char* text : {"ejcrg", "lqeft", "ejcrgd", "abcde", "ejcrg"})
      for (const Json& list : lists) EXPECT_EQ(answers(remembering, text, list), answers(served, text, list)) << text;
}

}  // namespace
}  // namespace limpid
