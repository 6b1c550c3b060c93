// limpid look … trace: which vectors bring an answer back that a corrupted subject took away.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "app/look.h"
#include "app/progress.h"
#include "base/error.h"
#include "inspect/display_text.h"
#include "inspect/effect.h"
#include "inspect/place.h"
#include "inspect/trace.h"

namespace limpid {
namespace {

struct TraceCommand {
  std::string subject, answer, other, other_target;
  TraceOptions trace;
};

const std::vector<std::string>& side_tokens(const Example& example, const std::string& side) {
  return side == "encoder" ? example.source : example.input;
}

// "Michael Jordan" as the positions of its tokens in a row, or "1..2" as it stands.
std::vector<int64_t> subject_positions(const Session& session, const Example& example, const TraceCommand& command) {
  const std::vector<std::string>& tokens = side_tokens(example, command.trace.side);
  const auto count = static_cast<int64_t>(tokens.size());
  int64_t first = 0, last = 0;
  if (parse_range(command.subject, first, last)) return chosen_positions({.positions = {{first, last}}}, count, tokens);
  const Tokenizer& tokenizer = command.trace.side == "encoder" ? session.reader() : session.writer();
  const Tokens& text = command.trace.side == "encoder" ? example.batch.source : example.batch.input;
  for (const std::string& spelling : {command.subject, " " + command.subject}) {
    const std::vector<int32_t> ids = tokenizer.encode(spelling);
    const auto at = std::search(text.ids.begin(), text.ids.end(), ids.begin(), ids.end());
    if (ids.empty() || at == text.ids.end()) continue;
    std::vector<int64_t> positions;
    for (size_t i = 0; i < ids.size(); ++i) positions.push_back(at - text.ids.begin() + static_cast<int64_t>(i));
    return positions;
  }
  fail("[trace] the text does not say \"{}\" in these tokens: give positions, --subject 0..1", command.subject);
}

int32_t likeliest_answer(const Session& session, const Example& example, int64_t position) {
  const Tensor logits = forward_logits(session.model(), example, nullptr);
  const real* row = logits.values().row(position_of(example, position));
  return static_cast<int32_t>(std::max_element(row, row + logits.cols()) - row);
}

// Layers upwards as in the model.
Picture trace_picture(const Session& session, const Example& example, const Trace& trace, const TraceOptions& options) {
  const std::string corrupted =
      trace.deviation > 0 ? fmt::format("noise of σ = {:.3g} on the subject", trace.deviation) : "the other text";
  Picture picture{.title = fmt::format("\"{}\": probability {:.3f}, with {} {:.3f}; what each vector brings back",
                                       visible(session.piece(options.answer)), trace.clean, corrupted, trace.corrupted),
                  .per_row = 1,
                  .shared_range = true};
  for (const TraceMap& map : trace.maps) {
    Heatmap heat{.title = map.name, .row_name = "", .column_name = "position"};
    heat.row_count = static_cast<int64_t>(map.taps.size());
    heat.column_count = trace.positions;
    for (int64_t layer = heat.row_count - 1; layer >= 0; --layer) {
      heat.rows.push_back(std::to_string(layer));
      for (int64_t i = 0; i < trace.positions; ++i)
        heat.values.push_back(static_cast<float>(map.probability[layer * trace.positions + i] - trace.corrupted));
    }
    for (const std::string& token : side_tokens(example, options.side)) heat.columns.push_back(visible(token));
    picture.maps.push_back(std::move(heat));
  }
  return picture;
}

nlohmann::ordered_json trace_json(const Session& session, const Example& example, const Trace& trace,
                                  const TraceOptions& options) {
  nlohmann::ordered_json json = {{"answer", session.piece(options.answer)},
                                 {"clean", trace.clean},
                                 {"corrupted", trace.corrupted},
                                 {"noise_sigma", trace.deviation},
                                 {"samples", options.samples},
                                 {"window", options.window},
                                 {"tokens", side_tokens(example, options.side)}};
  for (const TraceMap& map : trace.maps) {
    nlohmann::ordered_json layers = nlohmann::ordered_json::array();
    for (size_t layer = 0; layer < map.taps.size(); ++layer) {
      const auto begin = map.probability.begin() + static_cast<ptrdiff_t>(layer) * trace.positions;
      layers.push_back(
          {{"tap", map.taps[layer]}, {"probability", std::vector<double>(begin, begin + trace.positions)}});
    }
    json["maps"][map.name] = layers;
  }
  return json;
}

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
    trace.subject = subject_positions(session, example, command);
  }
  trace.answer = command.answer.empty() ? likeliest_answer(session, example, trace.position)
                                        : session.token(session.writer(), command.answer);
  Progress progress(100, options.json);
  const Trace result = causal_trace(session.model(), example, trace, [&](double done) {
    progress.update(static_cast<int64_t>(100 * done), "of the vectors given back");
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
      "trace", "Causal tracing: the subject is corrupted, and one vector after another is given back.");
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
  part->add_option("--window", command->trace.window, "layers given back together")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_result_options(*part, options, true);
  return {part, [&options, command] { show_trace(options, *command); }};
}

}  // namespace limpid
