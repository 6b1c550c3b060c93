// limpid look … neuron, embedding: the matrices themselves, read as tokens.

#include <fmt/format.h>

#include <memory>

#include "app/look.h"
#include "app/progress.h"
#include "base/error.h"
#include "inspect/display_text.h"
#include "inspect/embeddings_json.h"
#include "inspect/neuron_json.h"
#include "inspect/neuron_texts.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

struct NeuronCommand {
  std::string side;
  int64_t block = 0, neuron = -1, position = -1, top = 10;
  CorpusOptions corpus;
};

std::string tokens_text(const Tokenizer& tokenizer, const std::vector<WeightedToken>& tokens) {
  std::string line;
  for (const WeightedToken& token : tokens)
    line += fmt::format(" {} {:+.2f} ", visible(piece_of(tokenizer, token.id)), token.value);
  return line;
}

// Where one neuron fires in the corpus.
Firing fire_over(const Session& session, const NeuronReader& reader, const NeuronCommand& command, bool quiet) {
  CorpusExamples corpus(session, command.corpus);
  constexpr int64_t kParts = 1000;
  Progress progress(kParts, quiet);
  Firing firing = firing_of(session, reader, command.neuron, command.top, [&] {
    progress.update(static_cast<int64_t>(corpus.progress() * kParts), "reading");
    return corpus.next();
  });
  progress.clear();
  return firing;
}

std::string firing_text(const Firing& firing, const TerminalStyle& style) {
  std::string text = fmt::format("  above zero at {:.2f} % of the tokens\n  {}\n", 100 * firing.share(),
                                 histogram_line(firing.histogram()));
  for (const FiringText& one : firing.texts())
    text += fmt::format("  {:8.3f}  {}\n", one.activation, firing_line(one, style.width - 14, style.color));
  return text;
}

void show_one_neuron(const LookOptions& options, const NeuronCommand& command, const Session& session,
                     const NeuronReader& reader, const Tokenizer& tokenizer) {
  const NeuronReading reading = reader.read(command.neuron, command.top);
  std::optional<Firing> firing;
  if (!command.corpus.files.empty()) firing = fire_over(session, reader, command, options.json);
  if (options.json) {
    Json json = reading_json(tokenizer, reading);
    if (firing) json["firing"] = firing_json(*firing);
    return write_json(json);
  }
  fmt::print("block {}, neuron {} of {}\n  asks for  {}\n  promotes  {}\n  demotes   {}\n", command.block,
             command.neuron, reader.count(), tokens_text(tokenizer, reading.asked),
             tokens_text(tokenizer, reading.promoted), tokens_text(tokenizer, reading.demoted));
  if (firing) fmt::print("{}", firing_text(*firing, terminal_style(options)));
}

void show_neuron(const LookOptions& options, const NeuronCommand& command) {
  const Session session = open_model(options);
  const NeuronReader reader(session.model(), command.side, command.block);
  const Tokenizer& tokenizer = tokenizer_of(session, command.side);
  if (command.neuron >= 0) return show_one_neuron(options, command, session, reader, tokenizer);
  check(command.corpus.files.empty(), "[look] --text goes with --neuron: which neuron's texts are wanted?");
  const Example example = read_example(session, options);
  constexpr int64_t kTokens = 4;  // of each neuron
  const std::vector<FiredNeuron> fired = reader.fired(example, command.position, command.top);
  if (options.json) return write_json(fired_json(tokenizer, reader, fired, kTokens));
  std::vector<int64_t> neurons;
  for (const FiredNeuron& one : fired) neurons.push_back(one.neuron);
  const std::vector<NeuronReading> readings = reader.read(neurons, kTokens);
  for (size_t i = 0; i < fired.size(); ++i)
    fmt::print("neuron {:5}  activation {:+8.3f}  wrote {:7.3f}   {} {}\n", fired[i].neuron, fired[i].activation,
               fired[i].written, fired[i].activation < 0 ? "demotes" : "promotes",
               tokens_text(tokenizer, readings[i].promoted));
}

struct EmbeddingCommand {
  std::string side;
  std::vector<std::string> words;
  int64_t top = 10;
  bool dot = false, map = false;
};

void show_map(const LookOptions& options, const WordVectors& words) {
  const Projection2d projection = principal_components(words.vectors);
  write_result(
      options,
      {.shown = [&] { return map_csv(words, projection); },
       .csv = [&] { return map_csv(words, projection); },
       .svg = [&] { return scatter_svg(projection, words.names, "Embeddings, first two principal components"); },
       .json = [&] { return map_json(words, projection); }});
}

void show_neighbours(const LookOptions& options, const EmbeddingSpace& space, const WordVectors& words,
                     const Tokenizer& tokenizer, const EmbeddingCommand& command) {
  const std::vector<Neighbour> near =
      space.nearest(words.vectors[0], command.top, command.dot ? Similarity::dot : Similarity::cosine);
  const auto shown = [&] {
    std::string text;
    for (const Neighbour& one : near)
      text += fmt::format("{:8.4f}  {}\n", one.similarity, visible(piece_of(tokenizer, one.id)));
    return text;
  };
  write_result(options, {.shown = shown,
                         .csv = [&] { return neighbours_csv(tokenizer, near); },
                         .svg = []() -> std::string { fail("[look] a picture wants at least two words"); },
                         .json = [&] { return neighbours_json(tokenizer, words.names[0], near); }});
}

void show_embedding(const LookOptions& options, const EmbeddingCommand& command) {
  const Session session = open_model(options);
  const Tokenizer& tokenizer = tokenizer_of(session, command.side);
  const EmbeddingSpace space(session.model(), command.side);
  const WordVectors words = read_words(session, space, tokenizer, command.words);
  if (command.map) return show_map(options, words);
  if (words.names.size() == 1) return show_neighbours(options, space, words, tokenizer, command);
  const Picture picture = similarity_picture(words, command.dot ? Similarity::dot : Similarity::cosine);
  if (options.json || !options.csv.empty() || !options.svg.empty()) return write_picture(options, picture);
  std::string text = to_terminal(picture, terminal_style(options)) + "\n";
  const Heatmap& map = picture.maps[0];
  for (int64_t i = 0; i < map.row_count; ++i) {
    text += pad_right(cut_to(words.names[i], 16), 17);
    for (int64_t j = 0; j < map.column_count; ++j) text += fmt::format(" {:7.3f}", map.at(i, j));
    text += "\n";
  }
  fmt::print("{}", text);
}

}  // namespace

LookPart add_look_neuron(CLI::App& look, LookOptions& options) {
  CLI::App* part = look.add_subcommand(
      "neuron",
      "A neuron's question and answer as tokens, and the texts that fire it most; or, with a text, the neurons that "
      "fired most.");
  auto command = std::make_shared<NeuronCommand>();
  add_text_options(*part, options);
  part->add_option("--block", command->block, "which block")->capture_default_str();
  part->add_option("--side", command->side, "encoder or decoder of a model that has both (default: decoder)");
  part->add_option("--neuron", command->neuron, "one neuron: what it asks and answers, and with --text where it fires")
      ->check(CLI::NonNegativeNumber);
  add_corpus_options(*part, command->corpus, false);
  part->add_option("--position", command->position, "with a text: at which token, from 0, or from the end by -1, -2, …")
      ->capture_default_str();
  part->add_option("--top", command->top, "tokens, or neurons, to show")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  part->add_flag("--json", options.json, "print JSON, one object per line");
  part->add_option("--color", options.color, "colours in the terminal")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  return {part, [&options, command] { show_neuron(options, *command); }};
}

LookPart add_look_embedding(CLI::App& look, LookOptions& options) {
  CLI::App* part = look.add_subcommand(
      "embedding", "Of one word the nearest tokens, of several their similarities or (--map) a map.");
  auto command = std::make_shared<EmbeddingCommand>();
  part->add_option("WORDS", command->words, "words, pieces of words or #ID")->required();
  part->add_option("--side", command->side, "encoder: the table that reads the source (default: the one that writes)");
  part->add_option("--top", command->top, "neighbours")->check(CLI::Range(1, 100000))->capture_default_str();
  part->add_flag("--dot", command->dot, "dot products instead of cosines");
  part->add_flag("--map", command->map, "two principal components");
  add_result_options(*part, options, true);
  return {part, [&options, command] { show_embedding(options, *command); }};
}

}  // namespace limpid
