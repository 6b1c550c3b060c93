// limpid look … gradient: how an output depends on every number at a tap.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "app/look.h"
#include "base/error.h"
#include "inspect/array_file.h"
#include "inspect/display_text.h"
#include "inspect/gradient.h"
#include "inspect/tap_names.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

struct GradientCommand {
  std::vector<std::string> taps;
  std::string of = "logit", token, against, out;
  Objective objective;
  int64_t top = 10;
  bool length = false;
};

Objective read_objective(const Session& session, const Example& example, const GradientCommand& command) {
  Objective objective = command.objective;
  objective.kind = command.of == "loss"              ? Objective::Kind::loss
                   : command.of == "log-probability" ? Objective::Kind::log_probability
                   : command.against.empty()         ? Objective::Kind::logit
                                                     : Objective::Kind::difference;
  if (objective.kind == Objective::Kind::loss) return objective;
  if (!session.config().labels.empty()) objective.position = 0;  // a classifier has one row of logits
  if (!command.token.empty()) {
    objective.token = session.token(session.writer(), command.token);
  } else {
    const Tensor logits = forward_logits(session.model(), example, nullptr);
    const int64_t row = objective.position < 0 ? objective.position + logits.rows() : objective.position;
    check(row >= 0 && row < logits.rows(), "[look] there is no position {}", objective.position);
    const real* scores = logits.values().row(row);
    objective.token = static_cast<int32_t>(std::max_element(scores, scores + logits.cols()) - scores);
  }
  if (!command.against.empty()) objective.against = session.token(session.writer(), command.against);
  return objective;
}

std::string what_of(const Session& session, const Objective& objective) {
  if (objective.kind == Objective::Kind::loss) return "loss";
  const std::string token = fmt::format("\"{}\"", visible(session.piece(objective.token)));
  if (objective.kind == Objective::Kind::log_probability) return "log-probability of " + token;
  if (objective.kind == Objective::Kind::logit) return "logit of " + token;
  return fmt::format("logit of {} less that of \"{}\"", token, visible(session.piece(objective.against)));
}

const std::vector<std::string>& labels_of(const Example& example, const TapGradient& tap) {
  return tap.values.positions == example.positions() ? example.input : example.source;
}

// One map for taps of as many positions: a row a tap.
Picture gradient_picture(const Session& session, const Example& example, const TapGradients& all,
                         const Objective& objective, bool length) {
  Picture picture{.title = fmt::format("{}: {:.4f}", what_of(session, objective), all.value), .per_row = 1};
  std::vector<int64_t> counts;
  for (const std::string& name : all.names) {
    const int64_t positions = all.taps.at(name).values.positions;
    if (std::find(counts.begin(), counts.end(), positions) == counts.end()) counts.push_back(positions);
  }
  for (int64_t positions : counts) {
    Heatmap map{.title = length ? "length of the gradient" : "gradient × value", .column_name = "position"};
    map.column_count = positions;
    for (const std::string& name : all.names) {
      const TapGradient& tap = all.taps.at(name);
      if (tap.values.positions != positions) continue;
      if (map.columns.empty())
        for (const std::string& token : labels_of(example, tap)) map.columns.push_back(visible(token));
      if (static_cast<int64_t>(map.columns.size()) != positions) map.columns.clear();
      map.rows.push_back(name);
      for (int64_t i = 0; i < positions; ++i)
        map.values.push_back(static_cast<float>(length ? tap.length(i) : tap.at_position(i)));
    }
    map.row_count = static_cast<int64_t>(map.rows.size());
    picture.maps.push_back(std::move(map));
  }
  return picture;
}

struct Strong {
  std::string tap;
  int64_t position, head, column;
  double value, gradient;
};

// The numbers whose gradient × value is farthest from zero.
std::vector<Strong> strongest(const TapGradients& all, int64_t wanted) {
  std::vector<Strong> numbers;
  for (const std::string& name : all.names) {
    const TapGradient& tap = all.taps.at(name);
    for (int64_t head = 0; head < tap.values.heads; ++head)
      for (int64_t p = 0; p < tap.values.positions; ++p)
        for (int64_t j = 0; j < tap.values.cols; ++j) {
          const auto value = static_cast<double>(tap.values.row(p, head)[j]);
          const auto gradient = static_cast<double>(tap.gradient.row(p, head)[j]);
          if (value * gradient != 0 && std::isfinite(value)) numbers.push_back({name, p, head, j, value, gradient});
        }
  }
  const auto kept = static_cast<ptrdiff_t>(std::min(static_cast<size_t>(wanted), numbers.size()));
  std::partial_sort(numbers.begin(), numbers.begin() + kept, numbers.end(), [](const Strong& a, const Strong& b) {
    return std::abs(a.value * a.gradient) > std::abs(b.value * b.gradient);
  });
  numbers.resize(static_cast<size_t>(kept));
  return numbers;
}

// As inspect/place.h names it.
std::string place_text(const Strong& one, const TapGradient& tap) {
  if (tap.values.pairs) return fmt::format("{}[head {}, key {}]@{}", one.tap, one.head, one.column, one.position);
  return fmt::format("{}[{}]@{}", one.tap, one.column, one.position);
}

Json gradient_json(const Session& session, const TapGradients& all, const Objective& objective, int64_t top) {
  Json taps = Json::array(), strong = Json::array();
  for (const std::string& name : all.names) {
    const TapGradient& tap = all.taps.at(name);
    std::vector<double> products, lengths;
    for (int64_t i = 0; i < tap.values.positions; ++i) {
      products.push_back(tap.at_position(i));
      lengths.push_back(tap.length(i));
    }
    taps.push_back({{"tap", name}, {"gradient_times_value", products}, {"gradient_length", lengths}});
  }
  for (const Strong& one : strongest(all, top))
    strong.push_back({{"place", place_text(one, all.taps.at(one.tap))},
                      {"value", one.value},
                      {"gradient", one.gradient},
                      {"gradient_times_value", one.value * one.gradient}});
  return {{"of", what_of(session, objective)}, {"value", all.value}, {"taps", taps}, {"strongest", strong}};
}

void write_arrays(const TapGradients& all, const std::string& path) {
  std::vector<ArrayShape> shapes;
  for (const std::string& name : all.names) {
    const TapValues& values = all.taps.at(name).values;
    const std::vector<int64_t> shape = values.pairs ? std::vector{values.heads, values.positions, values.cols}
                                                    : std::vector{values.positions, values.cols};
    shapes.push_back({name, shape});
    shapes.push_back({name + ".gradient", shape});
  }
  ArrayFile file(path, shapes, {{"format", "pt"}});
  for (size_t i = 0; i < all.names.size(); ++i) {
    file.append(2 * i, std::span<const real>(all.taps.at(all.names[i]).values.numbers));
    file.append(2 * i + 1, std::span<const real>(all.taps.at(all.names[i]).gradient.numbers));
  }
  file.finish();
}

void show_gradient(const LookOptions& options, const GradientCommand& command) {
  const Session session = open_model(options);
  const Example example = read_example(session, options);
  const Objective objective = read_objective(session, example, command);
  const std::vector<TapInfo> known = list_taps(session.model());
  std::vector<std::string> names;
  for (const std::string& pattern : command.taps)
    for (const TapInfo& tap : find_taps(known, pattern, session.config()))
      if (std::find(names.begin(), names.end(), tap.name) == names.end()) names.push_back(tap.name);
  const TapGradients all = tap_gradients(session.model(), example, objective, names);
  if (!command.out.empty()) write_arrays(all, command.out);
  const Picture picture = gradient_picture(session, example, all, objective, command.length);
  const auto shown = [&] {
    std::string text = to_terminal(picture, terminal_style(options));
    text += fmt::format("\n  {:44} {:>10} {:>10} {:>14}\n", "strongest", "value", "gradient", "value×gradient");
    for (const Strong& one : strongest(all, command.top))
      text += fmt::format("  {:44} {:10.4f} {:+10.4f} {:+14.4f}\n", place_text(one, all.taps.at(one.tap)), one.value,
                          one.gradient, one.value * one.gradient);
    return text;
  };
  write_result(options, {.shown = shown,
                         .csv = [&] { return to_csv(picture); },
                         .svg = [&] { return to_svg(picture); },
                         .json = [&] { return gradient_json(session, all, objective, command.top); }});
}

}  // namespace

LookPart add_look_gradient(CLI::App& look, LookOptions& options) {
  CLI::App* part = look.add_subcommand(
      "gradient", "The gradient of a logit, a difference of two, a log-probability or the loss by any tap's values.");
  auto command = std::make_shared<GradientCommand>();
  add_text_options(*part, options);
  part->add_option("--tap", command->taps, "names or patterns with *, our own or TransformerLens'")->required();
  part->add_option("--of", command->of, "what is differentiated")
      ->check(CLI::IsMember({"logit", "log-probability", "loss"}))
      ->capture_default_str();
  part->add_option("--token", command->token, "whose, or #ID (default: the likeliest)");
  part->add_option("--against", command->against, "the logit less this token's");
  part->add_option("--position", command->objective.position, "after which token")->capture_default_str();
  part->add_flag("--length", command->length, "draw the gradient's length instead of gradient × value");
  part->add_option("--top", command->top, "single numbers listed, strongest first")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  part->add_option("--out", command->out, "values and gradients to FILE.safetensors, or a new folder of .npy files");
  add_result_options(*part, options, true);
  return {part, [&options, command] { show_gradient(options, *command); }};
}

}  // namespace limpid
