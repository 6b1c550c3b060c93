// limpid look … lens, attribution: the residual stream read as tokens, layer by layer and part by part.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "app/look.h"
#include "inspect/attribution.h"
#include "inspect/display_text.h"
#include "inspect/lens.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

struct LensCommand {
  std::string token;
  int64_t top = 3;
  bool probability = false;
};

std::string piece_or_none(const Session& session, int32_t id) { return id < 0 ? "" : session.piece(id); }

// "decoder.1.resid_post" as the head of a narrow column.
std::string heading(const std::string& layer) {
  if (layer.ends_with(".resid_pre")) return "embedding";
  const size_t begin = layer.find('.') + 1;
  return (layer.ends_with(".h") ? "layer " : "block ") + layer.substr(begin, layer.find('.', begin) - begin);
}

// One line a position and, in each layer, the likeliest token with the watched token's rank.
std::string lens_text(const Session& session, const Example& example, const LensTable& table, int64_t width) {
  const auto layers = static_cast<int64_t>(table.layers.size());
  const int64_t cell = std::clamp<int64_t>((width - 26) / layers - 1, 14, 24);
  std::string text = "In each layer: the likeliest token, its probability, and (rank) of the watched one.\n\n";
  text += pad_right("position", 14) + pad_right("watched", 12);
  for (const std::string& layer : table.layers) text += " " + pad_right(cut_to(heading(layer), cell), cell);
  text += "\n";
  for (int64_t i = 0; i < table.positions; ++i) {
    const int32_t watched = table.at(0, i).watched;
    text += pad_right(cut_to(fmt::format("{:3} {}", i, visible(example.input[i])), 13), 14);
    text += pad_right(cut_to(visible(piece_or_none(session, watched)), 11), 12);
    for (int64_t layer = 0; layer < layers; ++layer) {
      const LensCell& c = table.at(layer, i);
      const std::string figures =
          fmt::format("{:3.0f}%{}", 100 * c.top[0].probability, watched < 0 ? "" : fmt::format(" ({})", c.rank));
      const int64_t room = cell - display_width(figures) - 1;
      text += " " + pad_right(cut_to(visible(session.piece(c.top[0].id)), room), room) + " " + figures;
    }
    text += "\n";
  }
  return text;
}

Json lens_json(const Session& session, const Example& example, const LensTable& table) {
  Json layers = Json::array();
  for (size_t layer = 0; layer < table.layers.size(); ++layer) {
    Json positions = Json::array();
    for (int64_t i = 0; i < table.positions; ++i) {
      const LensCell& c = table.at(static_cast<int64_t>(layer), i);
      Json top = Json::array();
      for (const LensToken& token : c.top)
        top.push_back({{"token", session.piece(token.id)}, {"id", token.id}, {"probability", token.probability}});
      positions.push_back({{"position", i}, {"token", example.input[i]}, {"top", top}, {"entropy_bits", c.entropy}});
      if (c.watched >= 0)
        positions.back()["watched"] = {{"token", session.piece(c.watched)},
                                       {"id", c.watched},
                                       {"rank", c.rank},
                                       {"probability", c.probability},
                                       {"logit", c.logit}};
    }
    layers.push_back({{"layer", table.layers[layer]}, {"positions", positions}});
  }
  return {{"lens", layers}};
}

// Probability of the watched token, layers upwards as in the model.
Picture lens_picture(const Session& session, const Example& example, const LensTable& table) {
  Heatmap map{.title = "logit lens: probability of the watched token", .row_name = "", .column_name = "position"};
  map.row_count = static_cast<int64_t>(table.layers.size());
  map.column_count = table.positions;
  for (int64_t layer = map.row_count - 1; layer >= 0; --layer) {
    map.rows.push_back(table.layers[layer]);
    for (int64_t i = 0; i < table.positions; ++i)
      map.values.push_back(static_cast<float>(table.at(layer, i).probability));
  }
  for (int64_t i = 0; i < table.positions; ++i)
    map.columns.push_back(visible(example.input[i]) + " → " + visible(piece_or_none(session, table.at(0, i).watched)));
  return {.title = "", .maps = {map}, .per_row = 1};
}

void show_lens(const LookOptions& options, const LensCommand& command) {
  const Session session = open_model(options);
  const Example example = read_example(session, options);
  LensOptions lens{.top = command.top};
  if (!command.token.empty()) lens.watched = session.token(session.writer(), command.token);
  const LensTable table = logit_lens(session.model(), example, lens);
  const Picture picture = lens_picture(session, example, table);
  if (command.probability) return write_picture(options, picture);
  write_result(options, {.shown = [&] { return lens_text(session, example, table, terminal_style(options).width); },
                         .csv = [&] { return to_csv(picture); },
                         .svg = [&] { return to_svg(picture); },
                         .json = [&] { return lens_json(session, example, table); }});
}

struct AttributionCommand {
  std::string token, against;
  AttributionOptions options;
  int64_t top = 25;
};

std::string what_of(const Session& session, const Attribution& result, int32_t against) {
  const std::string token = fmt::format("\"{}\"", visible(session.piece(result.token)));
  if (against < 0) return "logit of " + token;
  return fmt::format("logit of {} less that of \"{}\"", token, visible(session.piece(against)));
}

std::string attribution_text(const Session& session, const Example& example, const Attribution& result,
                             const AttributionCommand& command) {
  constexpr int64_t kBar = 24;
  std::vector<LogitPart> parts = result.parts;
  std::stable_sort(parts.begin(), parts.end(),
                   [](const LogitPart& a, const LogitPart& b) { return std::abs(a.value) > std::abs(b.value); });
  std::string text =
      fmt::format("{} after \"{}\" (position {}): {:.4f}\n\n", what_of(session, result, command.options.against),
                  visible(example.input[result.position]), result.position, result.logit);
  const auto shown = std::min(parts.size(), static_cast<size_t>(command.top));
  const double most = parts.empty() ? 1 : std::max(std::abs(parts[0].value), 1e-30);
  double rest = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i >= shown) {
      rest += parts[i].value;
      continue;
    }
    const auto length = static_cast<size_t>(std::lround(std::abs(parts[i].value) / most * kBar));
    text += fmt::format("  {:34} {:+10.4f}  {}\n", parts[i].name, parts[i].value,
                        std::string(length, parts[i].value < 0 ? '-' : '+'));
  }
  if (shown < parts.size())
    text += fmt::format("  {:34} {:+10.4f}\n", fmt::format("{} more", parts.size() - shown), rest);
  return text + fmt::format("  {:34} {:+10.4f}  (the logit less this: {:.1e})\n", "sum of all parts", result.sum,
                            -result.error());
}

Json attribution_json(const Session& session, const Attribution& result) {
  Json parts = Json::array();
  for (const LogitPart& part : result.parts) {
    parts.push_back({{"name", part.name}, {"value", part.value}});
    if (part.layer >= 0) parts.back()["layer"] = part.layer;
    if (part.index >= 0) parts.back()["index"] = part.index;
  }
  return {{"position", result.position},
          {"token", session.piece(result.token)},
          {"id", result.token},
          {"logit", result.logit},
          {"sum", result.sum},
          {"error", result.error()},
          {"parts", parts}};
}

std::string attribution_csv(const Attribution& result) {
  std::string text = "part,value\n";
  for (const LogitPart& part : result.parts) text += fmt::format("{},{}\n", part.name, part.value);
  return text;
}

// A row a layer, a column a head or network: where in the model the logit comes from.
Picture attribution_picture(const Session& session, const Example& example, const Attribution& result,
                            int32_t against) {
  std::vector<std::string> columns;
  int64_t layers = 0;
  const auto column_of = [&](const LogitPart& part) {
    if (part.layer < 0) return std::string("outside the blocks");
    const size_t dot = part.name.find('.', part.name.find('.') + 1);
    std::string name = part.name.substr(dot + 1);
    return name.substr(0, name.find(".neuron"));
  };
  const std::vector<LogitPart>& parts = result.parts;
  for (const LogitPart& part : parts) {
    layers = std::max(layers, part.layer + 1);
    if (part.layer >= 0 && std::find(columns.begin(), columns.end(), column_of(part)) == columns.end())
      columns.push_back(column_of(part));
  }
  Heatmap blocks{
      .title = "blocks", .columns = columns, .row_count = layers, .column_count = static_cast<int64_t>(columns.size())};
  for (int64_t i = 0; i < layers; ++i) blocks.rows.push_back("block " + std::to_string(i));
  blocks.values.assign(static_cast<size_t>(layers) * columns.size(), 0);
  Heatmap others{.title = "embedding and biases", .rows = {""}, .row_count = 1};
  for (const LogitPart& part : parts) {
    if (part.layer < 0) {
      others.columns.push_back(part.name);
      others.values.push_back(static_cast<float>(part.value));
      continue;
    }
    const auto column = std::find(columns.begin(), columns.end(), column_of(part)) - columns.begin();
    blocks.values[static_cast<size_t>(part.layer * blocks.column_count + column)] += static_cast<float>(part.value);
  }
  others.column_count = static_cast<int64_t>(others.columns.size());
  Picture picture{.title = fmt::format("{} after \"{}\": {:.3f}", what_of(session, result, against),
                                       visible(example.input[result.position]), result.logit),
                  .per_row = 2,
                  .shared_range = true};
  if (blocks.column_count > 0) picture.maps.push_back(std::move(blocks));
  if (others.column_count > 0) picture.maps.push_back(std::move(others));
  return picture;
}

void show_attribution(const LookOptions& options, const AttributionCommand& command) {
  const Session session = open_model(options);
  const Example example = read_example(session, options);
  AttributionCommand asked = command;
  const int64_t position = position_of(example, asked.options.position);
  if (!command.token.empty()) {
    asked.options.token = session.token(session.writer(), command.token);
  } else if (example.next[position] >= 0) {
    asked.options.token = example.next[position];
  } else {
    const LensTable lens = logit_lens(session.model(), example, {.top = 1});
    asked.options.token = lens.at(static_cast<int64_t>(lens.layers.size()) - 1, position).top[0].id;
  }
  if (!command.against.empty()) asked.options.against = session.token(session.writer(), command.against);
  const Attribution result = attribute_logit(session.model(), example, asked.options);
  write_result(options,
               {.shown = [&] { return attribution_text(session, example, result, asked); },
                .csv = [&] { return attribution_csv(result); },
                .svg = [&] { return to_svg(attribution_picture(session, example, result, asked.options.against)); },
                .json = [&] { return attribution_json(session, result); }});
}

}  // namespace

LookPart add_look_lens(CLI::App& look, LookOptions& options) {
  CLI::App* part =
      look.add_subcommand("lens", "Logit lens: what the model would say after each layer, at every position.");
  auto command = std::make_shared<LensCommand>();
  add_text_options(*part, options);
  part->add_option("--token", command->token,
                   "the token to watch, or #ID (default: the one that comes next in the text)");
  part->add_option("--top", command->top, "likeliest tokens in --json")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  part->add_flag("--probability", command->probability, "the watched token's probability as a picture in the terminal");
  add_result_options(*part, options, true);
  return {part, [&options, command] { show_lens(options, *command); }};
}

LookPart add_look_attribution(CLI::App& look, LookOptions& options) {
  CLI::App* part =
      look.add_subcommand("attribution", "A logit as the sum of what embedding, heads, networks and biases add to it.");
  auto command = std::make_shared<AttributionCommand>();
  add_text_options(*part, options);
  part->add_option("--position", command->options.position,
                   "after which token, counted from 0, or from the end by -1, -2, …")
      ->capture_default_str();
  part->add_option("--token", command->token,
                   "whose logit, or #ID (default: the next token of the text, else the likeliest)");
  part->add_option("--against", command->against, "take away this token's logit");
  part->add_flag("--neurons", command->options.neurons, "every neuron by itself");
  part->add_option("--top", command->top, "parts shown in the terminal, strongest first")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  add_result_options(*part, options, true);
  return {part, [&options, command] { show_attribution(options, *command); }};
}

}  // namespace limpid
