#pragma once
// What the subcommands of limpid look share: the text, where results go, and one function per subcommand.

#include <nlohmann/json.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "inspect/corpus_examples.h"
#include "inspect/heatmap.h"
#include "inspect/session.h"

namespace limpid {

struct LookOptions {
  std::string model;
  std::string interventions;  // a file of them, in force for whatever is shown
  std::string text, target;   // empty: the first line (two-sided models: "source<TAB>target") of the standard input
  bool json = false;
  std::string csv, svg;  // files; "-": the standard output
  std::string color = "auto";
  int64_t width = 0;                                // of the terminal; 0: asked of it
  mutable std::shared_ptr<const Session> unedited;  // the model as it lies on the disk, where open_model has changed it
};

// A subcommand: its options, and what it does once they are read.
struct LookPart {
  CLI::App* app = nullptr;
  std::function<void()> run;
};

LookPart add_look_taps(CLI::App& look, LookOptions& options);
LookPart add_look_capture(CLI::App& look, LookOptions& options);
LookPart add_look_heatmap(CLI::App& look, LookOptions& options);
LookPart add_look_lens(CLI::App& look, LookOptions& options);
LookPart add_look_attribution(CLI::App& look, LookOptions& options);
LookPart add_look_neuron(CLI::App& look, LookOptions& options);
LookPart add_look_embedding(CLI::App& look, LookOptions& options);
LookPart add_look_heads(CLI::App& look, LookOptions& options);
LookPart add_look_alignment(CLI::App& look, LookOptions& options);
LookPart add_look_intervene(CLI::App& look, LookOptions& options);
LookPart add_look_trace(CLI::App& look, LookOptions& options);
LookPart add_look_gradient(CLI::App& look, LookOptions& options);
LookPart add_look_facts(CLI::App& look, LookOptions& options);
LookPart add_look_beam(CLI::App& look, LookOptions& options);
LookPart add_look_weight(CLI::App& look, LookOptions& options);

// For those subcommands.
void add_text_options(CLI::App& part, LookOptions& options);
void add_corpus_options(CLI::App& part, CorpusOptions& corpus, bool required);  // --text, --window, --texts
void add_result_options(CLI::App& part, LookOptions& options, bool svg);
// Prints the notes of its config; its weights are changed as --interventions says.
Session open_model(const LookOptions& options);
// With the other interventions, whose values (means, patches) are those of the model before its weights change.
Example read_example(const Session& session, const LookOptions& options);

// Writes what was asked for: JSON to the standard output, CSV and SVG to their files; else `shown` to the standard
// output. The functions are called only where their result is wanted.
struct LookResult {
  std::function<std::string()> shown, csv, svg;
  std::function<nlohmann::ordered_json()> json;
};
void write_result(const LookOptions& options, const LookResult& result);
void write_picture(const LookOptions& options, const Picture& picture);

TerminalStyle terminal_style(const LookOptions& options);
void write_json(const nlohmann::ordered_json& json);

}  // namespace limpid
