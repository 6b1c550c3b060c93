// limpid look … intervene: values and weights changed, and what comes of it.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "app/look.h"
#include "base/error.h"
#include "base/file.h"
#include "inspect/display_text.h"
#include "inspect/effect_json.h"
#include "inspect/intervention.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

struct InterveneCommand {
  std::string file;
  std::vector<std::string> zero, mean, scale, set, patch, steer, edit;
  std::string from, from_target, over;
  std::vector<std::string> tokens;
  int64_t position = -1, top = 5, generate = 0;
  bool weights = false;
};

struct Written {
  std::string before, after;
};

InterventionList read_list(const InterveneCommand& command) {
  using Kind = Intervention::Kind;
  InterventionList list;
  if (!command.file.empty()) list = parse_interventions(read_text(command.file), command.file);
  for (const std::string& text : command.zero) list.values.push_back({.kind = Kind::zero, .place = parse_place(text)});
  for (const std::string& text : command.mean)
    list.values.push_back({.kind = Kind::mean, .place = parse_place(text), .over = command.over});
  for (const std::string& text : command.scale) list.values.push_back(parse_with_number(Kind::scale, text));
  for (const std::string& text : command.set) list.values.push_back(parse_with_number(Kind::set, text));
  check(command.patch.empty() || !command.from.empty(), "[look] --patch wants --from TEXT: where the values come from");
  for (const std::string& text : command.patch)
    list.values.push_back(
        {.kind = Kind::patch, .place = parse_place(text), .from = {command.from, command.from_target}});
  for (const std::string& text : command.steer) list.values.push_back(parse_steering(text));
  for (const std::string& text : command.edit) list.weights.push_back(parse_weight_edit(text));
  check(!list.empty(),
        "[look] nothing is changed: give --zero, --mean, --scale, --set, --patch, --steer, --edit or a "
        "file of interventions");
  return list;
}

// The tokens that the model is steered to.
std::vector<int32_t> steered_tokens(const Session& session, const InterventionList& list) {
  std::vector<int32_t> tokens;
  for (const Intervention& one : list.values)
    for (const std::string_view direction : {"token:", "embed:"})
      if (one.kind == Intervention::Kind::steer && one.along.starts_with(direction))
        tokens.push_back(session.token(session.writer(), one.along.substr(direction.size())));
  return tokens;
}

// These tokens are among those compared, however unlikely they are.
Effect compare_with(EffectOptions options, const std::vector<int32_t>& always, ConstMatrix before, ConstMatrix after) {
  Effect effect = compare_logits(before, after, options);
  if (always.empty()) return effect;
  options.everywhere = false;
  options.watched.clear();
  for (const TokenEffect& token : effect.tokens) options.watched.push_back(token.token);
  for (const int32_t token : always)
    if (std::find(options.watched.begin(), options.watched.end(), token) == options.watched.end())
      options.watched.push_back(token);
  effect.tokens = compare_logits(before, after, options).tokens;
  return effect;
}

// Where the terminal is narrow, without logits.
std::string effect_text(const Session& session, const Example& example, const Effect& effect, int64_t position,
                        int64_t width) {
  const bool wide = width >= 68;
  const int64_t token_width = wide ? 20 : std::clamp<int64_t>(width - 24, 8, 20), place_width = wide ? 14 : 8;
  std::string text = fmt::format("after \"{}\" (position {}):\n  {} {:>10} {:>10}", visible(example.input[position]),
                                 position, pad_right("token", token_width), "before", "after");
  text += wide ? fmt::format(" {:>10} {:>12}\n", "logit", "its change") : "\n";
  for (const TokenEffect& token : effect.tokens) {
    text += fmt::format("  {} {:9.3f}% {:9.3f}%",
                        pad_right(cut_to(visible(session.piece(token.token)), token_width), token_width),
                        100 * token.probability_before, 100 * token.probability_after);
    text += wide ? fmt::format(" {:10.4f} {:+12.4f}\n", token.logit_after, token.logit_change()) : "\n";
  }
  text += fmt::format("\n  {:>4} {} {:>10}   {}\n", "", pad_right("position", place_width), "KL (nats)", "likeliest");
  for (const PositionEffect& one : effect.positions) {
    const std::string before = visible(session.piece(one.top_before)), after = visible(session.piece(one.top_after));
    const std::string line =
        fmt::format("  {:4} {} {:10.6f}   {}{}", one.position,
                    pad_right(cut_to(visible(example.input[one.position]), place_width), place_width), one.divergence,
                    before, one.top_before == one.top_after ? "" : " → " + after);
    text += cut_to(line, width) + '\n';
  }
  if (effect.same_bits) text += "\nEvery logit has the same bits as before.\n";
  return text;
}

std::string written(const Session& session, const Example& example, int64_t most) {
  return session.writer().decode(write_greedily(session.model(), example, most, session.writer().special().end));
}

void list_weights(const LookOptions& options) {
  const Session session = open_model(options);
  session.model().each_parameter([&](const Weight& weight) {
    if (options.json)
      write_json({{"name", weight.name}, {"shape", weight.shape}});
    else
      fmt::print("{:44} ({})\n", weight.name, fmt::join(weight.shape, ", "));
  });
}

void show_intervention(const LookOptions& options, const InterveneCommand& command) {
  if (command.weights) return list_weights(options);
  const InterventionList list = read_list(command);
  const Session session = open_model(options);
  check(session.config().labels.empty() || command.generate == 0, "[look] a classifier writes nothing");
  const Example example = read_example(session, options);
  const int64_t position = session.config().labels.empty() ? position_of(example, command.position) : 0;
  EffectOptions wanted{.position = position, .top = command.top};
  for (const std::string& token : command.tokens) wanted.watched.push_back(session.token(session.writer(), token));
  Written text;
  const Tensor before = forward_logits(session.model(), example, nullptr);
  if (command.generate > 0) text.before = written(session, example, command.generate);
  // Values that interventions put in (means, patches) are those of the model as it is.
  Example changed = example;
  if (!list.values.empty()) changed.changes = std::make_shared<Intervener>(session, example, list.values);
  const Session edited = with_weight_edits(session, list.weights);
  const Tensor after = forward_logits(edited.model(), changed, nullptr);
  if (command.generate > 0) text.after = written(edited, changed, command.generate);
  const Effect effect = compare_with(wanted, steered_tokens(session, list), before.values(), after.values());
  if (options.json) {
    Json json = effect_json(session, example, effect, position);
    if (command.generate > 0) json["generated"] = {{"before", text.before}, {"after", text.after}};
    return write_json(json);
  }
  fmt::print("{}", effect_text(session, example, effect, position, terminal_style(options).width));
  if (command.generate == 0) return;
  fmt::print("\nwritten before  {}\nwritten after   {}{}\n", text.before, text.after,
             text.before == text.after ? "  (the same)" : "");
}

}  // namespace

LookPart add_look_intervene(CLI::App& look, LookOptions& options) {
  CLI::App* part = look.add_subcommand(
      "intervene", "Changes values or weights inside the model and compares with the run that is left alone.");
  auto command = std::make_shared<InterveneCommand>();
  add_text_options(*part, options);
  part->add_option("--file", command->file, "[[intervention]] tables in TOML; they come before those of the options");
  part->add_option("--zero", command->zero, "PLACE: zeros, as in 'blocks.3.ffn.post[12,57]@-1'");
  part->add_option("--mean", command->mean, "PLACE: the mean over this text's positions, or over --over");
  part->add_option("--over", command->over, "a file of lines whose positions --mean is taken over");
  part->add_option("--scale", command->scale, "PLACE=FACTOR, as in 'blocks.0.attn.z[head 2]=0.5'");
  part->add_option("--set", command->set, "PLACE=NUMBER");
  part->add_option("--patch", command->patch, "PLACE: the values that another text has there");
  part->add_option("--from", command->from, "that other text; of encoder-decoder models also --from-target");
  part->add_option("--from-target", command->from_target, "what is written for it (none: its own translation)");
  part->add_option("--steer", command->steer,
                   "PLACE=FACTOR*DIRECTION with token:WORD, embed:WORD, npy:FILE or texts:A|B");
  part->add_option("--edit", command->edit, "a weight: NAME[row,column]=, += or *= NUMBER; NAME+=F*outer(A,B)");
  part->add_option("--position", command->position, "after which token to compare the likeliest ones")
      ->capture_default_str();
  part->add_option("--token", command->tokens, "compare these tokens instead, or #ID");
  part->add_option("--top", command->top, "tokens compared of each run")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  part->add_option("--generate", command->generate, "also write so many tokens, with and without")
      ->check(CLI::Range(0, 100000));
  part->add_flag("--weights", command->weights, "only list the names and shapes that --edit can take");
  part->add_flag("--json", options.json, "print JSON, one object per line");
  return {part, [&options, command] { show_intervention(options, *command); }};
}

}  // namespace limpid
