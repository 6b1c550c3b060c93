// limpid look … attribution: a logit as the sum of what every part writes.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "app/look.h"
#include "inspect/attribution_json.h"
#include "inspect/display_text.h"

namespace limpid {
namespace {

struct AttributionCommand {
  std::string token, against;
  AttributionOptions options;
  int64_t top = 25;
};

std::string attribution_text(const Session& session, const Example& example, const Attribution& result,
                             const AttributionCommand& command, int64_t width) {
  // A name, a number and a bar; where the terminal is narrow the bar gives way first.
  const int64_t bar = std::clamp<int64_t>(width - 49, 8, 24), name = std::clamp<int64_t>(width - 15 - bar, 12, 34);
  const auto row = [&](const std::string& what, double value, const std::string& behind) {
    std::string text = fmt::format("  {} {:+10.4f}  {}", pad_right(cut_to(what, name), name), value, behind);
    return text.substr(0, text.find_last_not_of(' ') + 1) + '\n';
  };
  std::vector<LogitPart> parts = result.parts;
  std::stable_sort(parts.begin(), parts.end(),
                   [](const LogitPart& a, const LogitPart& b) { return std::abs(a.value) > std::abs(b.value); });
  std::string text = fmt::format("{} after \"{}\" (position {}): {:.4f}\n\n",
                                 attributed_text(session, result, command.options.against),
                                 visible(example.input[result.position]), result.position, result.logit);
  const auto shown = std::min(parts.size(), static_cast<size_t>(command.top));
  const double most = parts.empty() ? 1 : std::max(std::abs(parts[0].value), 1e-30);
  double rest = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i >= shown) {
      rest += parts[i].value;
      continue;
    }
    const auto length = static_cast<size_t>(std::lround(std::abs(parts[i].value) / most * static_cast<double>(bar)));
    text += row(parts[i].name, parts[i].value, std::string(length, parts[i].value < 0 ? '-' : '+'));
  }
  if (shown < parts.size()) text += row(fmt::format("{} more", parts.size() - shown), rest, "");
  const std::string error = fmt::format("(the logit less this: {:.1e})", -result.error());
  if (name + 15 + display_width(error) <= width) return text + row("sum of all parts", result.sum, error);
  return text + row("sum of all parts", result.sum, "") + "  " + error + '\n';
}

void show_attribution(const LookOptions& options, const AttributionCommand& command) {
  const Session session = open_model(options);
  const Example example = read_example(session, options);
  AttributionCommand asked = command;
  asked.options.token = command.token.empty() ? token_to_attribute(session, example, asked.options.position)
                                              : session.token(session.writer(), command.token);
  if (!command.against.empty()) asked.options.against = session.token(session.writer(), command.against);
  const Attribution result = attribute_logit(session.model(), example, asked.options);
  write_result(
      options,
      {.shown = [&] { return attribution_text(session, example, result, asked, terminal_style(options).width); },
       .csv = [&] { return attribution_csv(result); },
       .svg = [&] { return to_svg(attribution_picture(session, example, result, asked.options.against)); },
       .json = [&] { return attribution_json(session, result); }});
}

}  // namespace

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
