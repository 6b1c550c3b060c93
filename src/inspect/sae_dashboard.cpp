#include "inspect/sae_dashboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "inspect/display_text.h"
#include "inspect/neuron_json.h"
#include "inspect/svg_text.h"

namespace limpid {
namespace {

// The stack and block that a tap lies in: "decoder.3.ffn.post".
struct TapPlace {
  std::string side, rest;
  int64_t block = 0;
};

TapPlace place_of(const std::string& tap) {
  TapPlace place{.side = tap.substr(0, tap.find('.')), .rest = tap};
  const size_t first = tap.find('.');
  if (first == std::string::npos) return place;
  const char* begin = tap.data() + first + 1;
  const auto [stop, error] = std::from_chars(begin, tap.data() + tap.size(), place.block);
  if (error == std::errc() && *stop == '.') place.rest = tap.substr(static_cast<size_t>(stop - tap.data()) + 1);
  if (place.side != "encoder") place.side = "";
  return place;
}

// Turns a feature's direction into one of the residual stream, and that into tokens.
class FeatureReader {
 public:
  FeatureReader(const Model& model, const SaeConfig& config) : place_(place_of(config.tap)) {
    if (model.config().recurrent()) return;
    if (place_.rest == "ffn.post") neurons_.emplace(model, place_.side, place_.block);
    direction_.emplace(model, place_.side, place_.block);
    readable_ = neurons_.has_value() || config.inputs == direction_->width();
  }

  SaidTokens read(std::span<const real> direction, int64_t tokens) const {
    if (!readable_) return {};
    return direction_->read(
        neurons_ ? neurons_->written(direction) : std::vector<double>(direction.begin(), direction.end()), tokens);
  }

 private:
  TapPlace place_;
  std::optional<NeuronReader> neurons_;
  std::optional<DirectionReader> direction_;
  bool readable_ = false;
};

// An even sample of the features that fire, from rare to frequent.
std::vector<int64_t> sample_features(const std::vector<real>& log_density, int64_t count) {
  std::vector<int64_t> living;
  for (size_t f = 0; f < log_density.size(); ++f)
    if (log_density[f] > -9) living.push_back(static_cast<int64_t>(f));
  std::sort(living.begin(), living.end(), [&](int64_t a, int64_t b) { return log_density[a] < log_density[b]; });
  std::vector<int64_t> chosen;
  const auto all = static_cast<int64_t>(living.size());
  for (int64_t i = 0; i < std::min(count, all); ++i)
    chosen.push_back(living[count < all ? (2 * i + 1) * all / (2 * count) : i]);
  return chosen;
}

std::string token_list(const Session& session, const std::vector<WeightedToken>& tokens) {
  std::string html;
  for (const WeightedToken& token : tokens)
    html += fmt::format("<span class=\"t\" title=\"{:+.3f}\">{}</span> ", token.value,
                        svg_escaped(visible(session.piece(token.id))));
  return html;
}

std::string text_html(const FiringText& text, double most) {
  std::string html = fmt::format("<tr><td class=\"n\">{:.2f}</td><td>", text.activation);
  for (size_t i = 0; i < text.tokens.size(); ++i) {
    const double part = most > 0 ? std::clamp(text.activations[i] / most, 0.0, 1.0) : 0;
    html += fmt::format("<span title=\"{:.3f}\" style=\"background:rgba(213,94,0,{:.2f})\"{}>{}</span>",
                        text.activations[i], 0.75 * part, static_cast<int64_t>(i) == text.marked ? " class=\"m\"" : "",
                        svg_escaped(visible(text.tokens[i])));
  }
  return html + "</td></tr>\n";
}

constexpr const char* kPage =
    "<!doctype html><html><head><meta charset=\"utf-8\"><title>{0}</title><style>"
    "body{{font:14px/1.5 'Helvetica Neue',Arial,'Noto Sans CJK KR',sans-serif;max-width:980px;margin:2em "
    "auto;color:#222}}"
    "section{{border-top:1px solid #ccc;padding:.6em 0 1em}}h2{{font-size:16px;margin:.2em 0}}"
    "table{{border-collapse:collapse}}td{{padding:1px 8px;vertical-align:top}}.n{{color:#666;text-align:right}}"
    ".m{{outline:1.5px solid #d55e00;font-weight:600}}.t{{background:#eef3f8;padding:0 4px;border-radius:3px}}"
    "</style></head><body><h1>{0}</h1><p>{1}</p>\n";

}  // namespace

std::vector<FeatureDashboard> feature_dashboards(const Session& session, const LoadedSae& loaded,
                                                 const CorpusOptions& corpus, const DashboardOptions& options,
                                                 const std::function<void(double)>& progress) {
  const SaeConfig& config = loaded.sae->config();
  const std::vector<TapInfo> taps = find_taps(list_taps(session.model()), config.tap, session.config());
  check(taps.size() == 1 && taps[0].cols == config.inputs,
        "[sae] the autoencoder reads {} numbers at {}, the model has {} there: do they belong together?", config.inputs,
        config.tap, taps[0].cols);
  check(!options.features.empty() || !loaded.log_density.empty(),
        "[sae] the folder does not say which features fire (sparsity.safetensors): name features");
  std::vector<FeatureDashboard> boards;
  const FeatureReader reader(session.model(), config);
  for (int64_t f : options.features.empty() ? sample_features(loaded.log_density, options.count) : options.features) {
    check(f >= 0 && f < config.features, "[sae] there is no feature {}: there are {}, 0 … {}", f, config.features,
          config.features - 1);
    const real* direction = loaded.parameters->data() + loaded.sae->w_dec.offset + f * config.inputs;
    boards.push_back(
        {f, Firing(options.texts), reader.read({direction, static_cast<size_t>(config.inputs)}, options.tokens)});
  }
  const Arena arena;
  CorpusExamples examples(session, corpus);
  while (const auto example = examples.next()) {
    std::vector<real> rows;  // recurrent taps come step by step
    RowsProbe probe(taps[0].name, [&](ConstMatrix x) {
      for (int64_t r = 0; r < x.rows; ++r) rows.insert(rows.end(), x.row(r), x.row(r) + x.cols);
    });
    Run run({.arena = arena, .probe = &probe});
    session.model().forward(run, example->batch, example->choice);
    const auto count = static_cast<int64_t>(rows.size()) / config.inputs;
    const Tensor features = loaded.sae->encode(run, constant(run, {rows.data(), count, config.inputs}));
    const std::vector<std::string>& tokens = tokens_at(*example, taps[0].rows == TapAxis::source);
    const std::span<const std::string> known(tokens.data(),
                                             std::min<size_t>(tokens.size(), static_cast<size_t>(count)));
    for (FeatureDashboard& board : boards)
      board.firing.add(known, features.values().data + board.feature, features.values().stride);
    if (progress) progress(examples.progress());
  }
  return boards;
}

nlohmann::ordered_json dashboard_json(const Session& session, const FeatureDashboard& board) {
  const auto tokens = [&](const std::vector<WeightedToken>& all) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const WeightedToken& token : all)
      list.push_back({{"token", session.piece(token.id)}, {"id", token.id}, {"value", token.value}});
    return list;
  };
  return {{"feature", board.feature},
          {"share", board.firing.share()},
          {"promoted", tokens(board.said.promoted)},
          {"demoted", tokens(board.said.demoted)},
          {"histogram", histogram_json(board.firing.histogram())},
          {"texts", texts_json(board.firing)}};
}

std::string dashboard_html(const Session& session, const LoadedSae& loaded,
                           const std::vector<FeatureDashboard>& features) {
  const SaeConfig& config = loaded.sae->config();
  std::string html = fmt::format(
      fmt::runtime(kPage), "Features of " + svg_escaped(config.tap),
      fmt::format("{} features of {} numbers, {}; {} are shown. A token's colour is how strongly the feature fires "
                  "there; numbers appear under the pointer.",
                  config.features, config.inputs,
                  config.kind == SaeKind::topk ? fmt::format("the {} strongest kept", config.k) : "ReLU and L1",
                  features.size()));
  for (const FeatureDashboard& board : features) {
    html += fmt::format("<section><h2>Feature {}</h2><p>fires at {:.3f} % of the tokens</p>{}", board.feature,
                        100 * board.firing.share(), histogram_svg(board.firing.histogram(), 300, 40));
    if (!board.said.promoted.empty())
      html += fmt::format("<p>promotes {}<br>demotes {}</p>", token_list(session, board.said.promoted),
                          token_list(session, board.said.demoted));
    html += "<table>";
    const auto& texts = board.firing.texts();
    for (const FiringText& text : texts) html += text_html(text, texts[0].activation);
    html += "</table></section>\n";
  }
  return html + "</body></html>\n";
}

}  // namespace limpid
