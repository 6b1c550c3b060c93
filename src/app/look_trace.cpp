// limpid look … trace: which vectors bring an answer back that a corrupted subject took away.

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "app/look.h"
#include "app/progress.h"
#include "base/error.h"
#include "inspect/trace_json.h"

namespace limpid {
namespace {

struct TraceCommand {
  std::string subject, answer, other, other_target;
  TraceOptions trace;
};

void show_trace(const LookOptions& options, const TraceCommand& command) {
  const Session session = open_model(options);
  const Example example = read_example(session, options);
  TraceOptions trace = command.trace;
  std::optional<Example> other;
  check(command.other.empty() != command.subject.empty(),
        "[trace] say what is corrupted: --subject WORDS gets noise, or --other TEXT takes the text's place");
  if (!command.other.empty()) {
    other = session.example({command.other, command.other_target});
    trace.other = &*other;
  } else {
    trace.subject = subject_positions(session, example, trace.side, command.subject);
  }
  trace.answer = command.answer.empty() ? likeliest_token(session.model(), example, trace.position)
                                        : session.token(session.writer(), command.answer);
  Progress progress(100, options.json);
  const Trace result = causal_trace(session.model(), example, trace, [&](double done) {
    progress.update(static_cast<int64_t>(100 * done), "of the vectors restored");
  });
  progress.clear();
  const Picture picture = trace_picture(session, example, result, trace);
  write_result(options, {.shown = [&] { return to_terminal(picture, terminal_style(options)); },
                         .csv = [&] { return to_csv(picture); },
                         .svg = [&] { return to_svg(picture); },
                         .json = [&] { return trace_json(session, example, result, trace); }});
}

}  // namespace

LookPart add_look_trace(CLI::App& look, LookOptions& options) {
  CLI::App* part = look.add_subcommand(
      "trace", "Causal tracing: the subject is corrupted, and one vector after another is restored.");
  auto command = std::make_shared<TraceCommand>();
  add_text_options(*part, options);
  part->add_option("--subject", command->subject, "words of the text, or positions (1..2), whose embeddings get noise");
  part->add_option("--noise", command->trace.noise, "its standard deviation, in those of the embedding table")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  part->add_option("--samples", command->trace.samples, "draws of the noise")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  part->add_option("--seed", command->trace.seed, "of the noise")->capture_default_str();
  part->add_option("--other", command->other, "instead of noise: another text of as many tokens");
  part->add_option("--other-target", command->other_target, "of encoder-decoder models: its target");
  part->add_option("--answer", command->answer,
                   "the token looked for, or #ID (default: the likeliest of the clean run)");
  part->add_option("--position", command->trace.position, "after which token the answer stands")->capture_default_str();
  part->add_option("--side", command->trace.side, "encoder or decoder of a model that has both (default: decoder)");
  part->add_option("--window", command->trace.window, "layers restored together")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_result_options(*part, options, true);
  return {part, [&options, command] { show_trace(options, *command); }};
}

}  // namespace limpid
