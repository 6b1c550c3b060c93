// limpid look: every number inside a model, for one text or for its weights alone.

#include "app/look.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <span>

#include "app/input_lines.h"
#include "app/output_file.h"
#include "app/terminal.h"
#include "base/error.h"
#include "base/file.h"
#include "base/nearest.h"
#include "inference/model_text.h"
#include "inspect/intervention.h"
#include "inspect/weight_edit.h"
#include "text/unknown_words.h"

namespace limpid {
namespace {

constexpr const char* kExamples = R"(limpid look MODEL heatmap 'To be, or not' --block 1 --position -1
         limpid look MODEL heatmap 'A text.' --heads --svg heads.svg
         limpid look MODEL lens 'To be, or not' --token o
         limpid look MODEL attribution 'The cat sleeps.' '고양이가 잔다.' --position 0
         limpid look MODEL neuron --block 0 --neuron 17
         limpid look MODEL neuron --block 0 --neuron 17 --text lines.txt
         limpid look MODEL heads --text lines.txt --svg heads.svg
         limpid look MODEL alignment --svg crossing.svg
         limpid look MODEL embedding king queen man --svg map.svg
         limpid look MODEL intervene 'To be, or not' --zero 'blocks.0.attn.z[head 2]' --generate 20
         limpid look MODEL trace 'Michael Jordan plays the sport of' --subject 'Michael Jordan'
         limpid look MODEL gradient 'To be, or not' --tap 'blocks.*.resid_post'
         limpid look MODEL facts
         limpid look MODEL beam 'The teacher reads three books.' --beam 4
         limpid look MODEL weight model.decoder.layers.1.fc1.weight --svg fc1.svg
         limpid look MODEL capture --text lines.txt --tap 'decoder.*.cross_attn.pattern' --out patterns.safetensors)";

InterventionList read_interventions(const LookOptions& options) {
  if (options.interventions.empty()) return {};
  return parse_interventions(read_text(options.interventions), options.interventions);
}

// One text is cut to what the model was made for: rotary positions go on for ever, but what was learned of them does
// not, and the work grows with the square of the length. An encoder keeps the token that ends a text.
Example fitting_example(const Session& session, const Text& text) {
  const int64_t context = session.config().max_positions;
  if (session.two_sided() || !text.target.empty() || context <= 0) return session.example(text);
  std::vector<int32_t> ids = input_ids(session.loaded, text.text);
  if (std::ssize(ids) <= context) return session.example(text);
  fmt::print(stderr, "limpid look: the text has {} tokens, the model reads {}: its end is left out\n", ids.size(),
             context);
  const int64_t kept_at_end = session.config().writes() ? 0 : 1;
  ids.erase(ids.begin() + context - kept_at_end, ids.end() - kept_at_end);
  Example example = example_of(session.config(), {}, ids);
  example.input = pieces_of(session.reader(), ids);
  return example;
}

// What is wrong where the word behind the model is no subcommand; else nothing.
std::string unknown_part(std::span<const LookPart> parts, int argc, char** argv) {
  if (argc < 3 || argv[1][0] == '-' || argv[2][0] == '-') return "";
  std::vector<std::string> names;
  for (const LookPart& part : parts) names.push_back(part.app->get_name());
  if (std::find(names.begin(), names.end(), argv[2]) != names.end()) return "";
  if (std::find(names.begin(), names.end(), argv[1]) != names.end()) return "";  // the model is missing or comes later
  const std::vector<std::string_view> known(names.begin(), names.end());
  return fmt::format("there is no subcommand \"{}\": it is one of {}{}", argv[2], fmt::join(names, ", "),
                     did_you_mean(argv[2], known));
}

// The help of a part needs no model: "look heatmap --help" is read as "look MODEL heatmap --help".
std::vector<char*> with_model_for_help(std::span<const LookPart> parts, int argc, char** argv) {
  static char model[] = "MODEL";
  std::vector<char*> words(argv, argv + argc);
  const auto asks = [](std::string_view word) { return word == "--help" || word == "-h"; };
  const bool part = argc == 3 && asks(argv[2]) && std::any_of(parts.begin(), parts.end(), [&](const LookPart& one) {
                      return one.app->get_name() == argv[1];
                    });
  if (part) words.insert(words.begin() + 1, model);
  words.push_back(nullptr);
  return words;
}

}  // namespace

void add_text_options(CLI::App& part, LookOptions& options) {
  part.add_option("TEXT", options.text,
                  "what the model reads (none: a line of the standard input; two texts: a tab between)");
  part.add_option("TARGET", options.target, "encoder-decoder models: what it writes (none: its own translation)");
  part.add_option("--interventions", options.interventions,
                  "a file of [[intervention]] tables that hold while the text is looked at (see intervene --file)");
}

void add_corpus_options(CLI::App& part, CorpusOptions& corpus, bool required) {
  auto* text = part.add_option("--text", corpus.files,
                               "a file of texts, one per line, plain or gzip; of encoder-decoder models SOURCE TARGET");
  text->expected(1, 2);
  if (required) text->required();
  part.add_option("--window", corpus.window, "read the file as one stream in windows of so many tokens (0: lines)")
      ->check(CLI::NonNegativeNumber);
  part.add_option("--texts", corpus.most, "at most so many texts or windows (0: all)")->check(CLI::NonNegativeNumber);
}

void add_result_options(CLI::App& part, LookOptions& options, bool svg) {
  part.add_flag("--json", options.json, "print JSON, one object per line");
  add_output_option(part, "--csv", options.csv, "the numbers as a table to this file");
  if (svg) add_output_option(part, "--svg", options.svg, "the picture to this file");
  part.add_option("--color", options.color, "colours in the terminal")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  part.add_option("--width", options.width, "columns of the terminal (0: ask it)")->check(CLI::Range(0, 10000));
}

Session open_model(const LookOptions& options) {
  Session session = open_session(options.model);
  for (const std::string& note : session.config().notes) fmt::print(stderr, "limpid look: {}\n", note);
  const InterventionList list = read_interventions(options);
  if (list.weights.empty()) return session;
  options.unedited = std::make_shared<const Session>(std::move(session));
  return with_weight_edits(*options.unedited, list.weights);
}

Example read_example(const Session& session, const LookOptions& options) {
  Text text{options.text, options.target};
  if (text.text.empty()) {
    const auto line = InputLines({}).next();
    check(line.has_value() && !line->empty(), "[look] there is no text: give one as argument or on the standard input");
    const size_t tab = session.two_sided() ? line->find('\t') : std::string::npos;
    text.text = line->substr(0, tab);
    if (tab != std::string::npos) text.target = line->substr(tab + 1);
  }
  const Session& plain = options.unedited ? *options.unedited : session;
  for (const auto& [tokenizer, words] :
       {std::pair(&plain.reader(), &text.text), std::pair(&plain.writer(), &text.target)})
    for (const std::string& note : unknown_word_notes(*tokenizer, *words))
      fmt::print(stderr, "limpid look: {}\n", note);
  Example example = fitting_example(plain, text);
  if (const InterventionList list = read_interventions(options); !list.values.empty())
    example.changes = std::make_shared<Intervener>(plain, example, list.values);
  return example;
}

void write_json(const nlohmann::ordered_json& json) {
  fmt::print("{}\n", json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

TerminalStyle terminal_style(const LookOptions& options) {
  return {.width = options.width > 0 ? options.width : std::max<int64_t>(terminal_width(STDOUT_FILENO), 20),
          .color = options.color == "always" || (options.color == "auto" && colors(STDOUT_FILENO))};
}

void write_result(const LookOptions& options, const LookResult& result) {
  if (!options.csv.empty()) write_output(options.csv, result.csv());
  if (!options.svg.empty()) write_output(options.svg, result.svg());
  if (options.json) write_json(result.json());
  if (!options.json && options.csv != "-" && options.svg != "-") fmt::print("{}", result.shown());
}

void write_picture(const LookOptions& options, const Picture& picture) {
  write_result(options, {.shown = [&] { return to_terminal(picture, terminal_style(options)); },
                         .csv = [&] { return to_csv(picture); },
                         .svg = [&] { return to_svg(picture); },
                         .json = [&] { return to_json(picture); }});
}

int run_look(int argc, char** argv) {
  CommandLine line(
      "look", "Shows every number inside a model: pictures, logit lens, attribution, neurons, embeddings, captures.",
      kExamples);
  LookOptions options;
  line.add_option("MODEL", options.model, "a model's folder")->required();
  line.require_subcommand(1);
  line.fallthrough();
  const LookPart parts[] = {
      add_look_taps(line, options),        add_look_heatmap(line, options),   add_look_lens(line, options),
      add_look_attribution(line, options), add_look_neuron(line, options),    add_look_embedding(line, options),
      add_look_capture(line, options),     add_look_intervene(line, options), add_look_trace(line, options),
      add_look_gradient(line, options),    add_look_facts(line, options),     add_look_heads(line, options),
      add_look_alignment(line, options),   add_look_beam(line, options),      add_look_weight(line, options)};
  if (const std::string wrong = unknown_part(parts, argc, argv); !wrong.empty()) {
    fmt::print(stderr, "limpid look: {}\nSee {} look --help\n", wrong, program_name());
    return 2;
  }
  std::vector<char*> words = with_model_for_help(parts, argc, argv);
  if (const auto code = line.read(static_cast<int>(words.size()) - 1, words.data())) return *code;
  for (const LookPart& part : parts)
    if (part.app->parsed()) part.run();
  return 0;
}

}  // namespace limpid
