// limpid look … gradient: how an output depends on every number at a tap.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "app/look.h"
#include "inspect/gradient_json.h"
#include "inspect/tap_names.h"

namespace limpid {
namespace {

struct GradientCommand {
  std::vector<std::string> taps;
  ObjectiveRequest objective;
  std::string out;
  int64_t top = 10;
  bool length = false;
};

void write_arrays(const TapGradients& all, const std::string& path) {
  ArrayFile file(path, gradient_arrays(all), {{"format", "pt"}});
  for (size_t i = 0; i < all.names.size(); ++i) {
    file.append(2 * i, std::span<const real>(all.taps.at(all.names[i]).values.numbers));
    file.append(2 * i + 1, std::span<const real>(all.taps.at(all.names[i]).gradient.numbers));
  }
  file.finish();
}

void show_gradient(const LookOptions& options, const GradientCommand& command) {
  const Session session = open_model(options);
  const Example example = read_example(session, options);
  const Objective objective = read_objective(session, example, command.objective);
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
    for (const StrongNumber& one : strongest_numbers(all, command.top))
      text += fmt::format("  {:44} {:10.4f} {:+10.4f} {:+14.4f}\n", one.place, one.value, one.gradient, one.product());
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
  part->add_option("--of", command->objective.of, "what is differentiated")
      ->check(CLI::IsMember({"logit", "log-probability", "loss"}))
      ->capture_default_str();
  part->add_option("--token", command->objective.token, "whose, or #ID (default: the likeliest)");
  part->add_option("--against", command->objective.against, "the logit less this token's");
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
