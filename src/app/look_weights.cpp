// limpid look … neuron, embedding: the matrices themselves, read as tokens.

#include <fmt/format.h>

#include <memory>

#include "app/firing_json.h"
#include "app/look.h"
#include "app/progress.h"
#include "base/error.h"
#include "inspect/display_text.h"
#include "inspect/embeddings.h"
#include "inspect/neuron_texts.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

const Tokenizer& tokenizer_of(const Session& session, const std::string& side) {
  return side == "encoder" ? session.reader() : session.writer();
}

struct NeuronCommand {
  std::string side;
  int64_t block = 0, neuron = -1, position = -1, top = 10;
  CorpusOptions corpus;
};

struct TokenNames {
  const Tokenizer& tokenizer;

  std::string text(const std::vector<WeightedToken>& tokens) const {
    std::string line;
    for (const WeightedToken& token : tokens)
      line += fmt::format(" {} {:+.2f} ", visible(piece_of(tokenizer, token.id)), token.value);
    return line;
  }
  Json json(const std::vector<WeightedToken>& tokens) const {
    Json list = Json::array();
    for (const WeightedToken& token : tokens)
      list.push_back({{"token", piece_of(tokenizer, token.id)}, {"id", token.id}, {"value", token.value}});
    return list;
  }
};

Json reading_json(const TokenNames& names, const NeuronReading& reading) {
  return {{"block", reading.block},
          {"neuron", reading.neuron},
          {"asked", names.json(reading.asked)},
          {"promoted", names.json(reading.promoted)},
          {"demoted", names.json(reading.demoted)},
          {"question_length", reading.question_length},
          {"answer_length", reading.answer_length}};
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

Json firing_json(const Firing& firing) {
  return {{"share", firing.share()}, {"histogram", histogram_json(firing.histogram())}, {"texts", texts_json(firing)}};
}

std::string firing_text(const Firing& firing, const TerminalStyle& style) {
  std::string text = fmt::format("  above zero at {:.2f} % of the tokens\n  {}\n", 100 * firing.share(),
                                 histogram_line(firing.histogram()));
  for (const FiringText& one : firing.texts())
    text += fmt::format("  {:8.3f}  {}\n", one.activation, firing_line(one, style.width - 14, style.color));
  return text;
}

void show_one_neuron(const LookOptions& options, const NeuronCommand& command, const Session& session,
                     const NeuronReader& reader, const TokenNames& names) {
  const NeuronReading reading = reader.read(command.neuron, command.top);
  std::optional<Firing> firing;
  if (!command.corpus.files.empty()) firing = fire_over(session, reader, command, options.json);
  if (options.json) {
    Json json = reading_json(names, reading);
    if (firing) json["firing"] = firing_json(*firing);
    return write_json(json);
  }
  fmt::print("block {}, neuron {} of {}\n  asks for  {}\n  promotes  {}\n  demotes   {}\n", command.block,
             command.neuron, reader.count(), names.text(reading.asked), names.text(reading.promoted),
             names.text(reading.demoted));
  if (firing) fmt::print("{}", firing_text(*firing, terminal_style(options)));
}

void show_neuron(const LookOptions& options, const NeuronCommand& command) {
  const Session session = open_model(options);
  const NeuronReader reader(session.model(), command.side, command.block);
  const TokenNames names{tokenizer_of(session, command.side)};
  if (command.neuron >= 0) return show_one_neuron(options, command, session, reader, names);
  check(command.corpus.files.empty(), "[look] --text goes with --neuron: which neuron's texts are wanted?");
  const Example example = read_example(session, options);
  Json all = Json::array();
  constexpr int64_t kTokens = 4;  // of each neuron
  for (const FiredNeuron& fired : reader.fired(example, command.position, command.top)) {
    const NeuronReading reading = reader.read(fired.neuron, kTokens);
    if (options.json) {
      all.push_back(reading_json(names, reading));
      all.back()["activation"] = fired.activation;
      all.back()["written"] = fired.written;
    } else {
      fmt::print("neuron {:5}  activation {:+8.3f}  wrote {:7.3f}   {} {}\n", fired.neuron, fired.activation,
                 fired.written, fired.activation < 0 ? "demotes" : "promotes", names.text(reading.promoted));
    }
  }
  if (options.json) write_json(all);
}

struct EmbeddingCommand {
  std::string side;
  std::vector<std::string> words;
  int64_t top = 10;
  bool dot = false, map = false;
};

struct Words {
  std::vector<std::string> names;
  std::vector<std::vector<double>> vectors;
};

// A word of several tokens is the mean of their vectors, which its label says.
Words read_words(const EmbeddingSpace& space, const Tokenizer& tokenizer, const Session& session,
                 const std::vector<std::string>& given) {
  Words words;
  for (const std::string& word : given) {
    std::vector<int32_t> ids = {session.token(tokenizer, word)};
    const bool piece = word.starts_with('#') || piece_of(tokenizer, ids[0]) == word;
    if (!piece) ids = tokenizer.encode(word);
    words.names.push_back(ids.size() == 1 ? word : fmt::format("{} (mean of {})", word, ids.size()));
    words.vectors.push_back(space.mean(ids));
  }
  return words;
}

std::string scatter_csv(const Words& words, const Projection2d& projection) {
  std::string text = "word,x,y\n";
  for (size_t i = 0; i < words.names.size(); ++i)
    text += fmt::format("\"{}\",{},{}\n", words.names[i], projection.points[i][0], projection.points[i][1]);
  return text;
}

void show_map(const LookOptions& options, const Words& words) {
  const Projection2d projection = principal_components(words.vectors);
  write_result(
      options,
      {.shown = [&] { return scatter_csv(words, projection); },
       .csv = [&] { return scatter_csv(words, projection); },
       .svg = [&] { return scatter_svg(projection, words.names, "Embeddings, first two principal components"); },
       .json =
           [&] {
             Json points = Json::array();
             for (size_t i = 0; i < words.names.size(); ++i)
               points.push_back(
                   {{"word", words.names[i]}, {"x", projection.points[i][0]}, {"y", projection.points[i][1]}});
             return Json{{"points", points}, {"explained", projection.explained}};
           }});
}

void show_neighbours(const LookOptions& options, const EmbeddingSpace& space, const Words& words,
                     const Tokenizer& tokenizer, const EmbeddingCommand& command) {
  const std::vector<Neighbour> near =
      space.nearest(words.vectors[0], command.top, command.dot ? Similarity::dot : Similarity::cosine);
  std::string text, csv = "id,token,similarity\n";
  Json list = Json::array();
  for (const Neighbour& one : near) {
    const std::string name = piece_of(tokenizer, one.id);
    text += fmt::format("{:8.4f}  {}\n", one.similarity, visible(name));
    csv += fmt::format("{},\"{}\",{}\n", one.id, visible(name), one.similarity);
    list.push_back({{"token", name}, {"id", one.id}, {"similarity", one.similarity}});
  }
  write_result(options, {.shown = [&] { return text; },
                         .csv = [&] { return csv; },
                         .svg = []() -> std::string { fail("[look] a picture wants at least two words"); },
                         .json =
                             [&] {
                               return Json{{"word", words.names[0]}, {"nearest", list}};
                             }});
}

void show_embedding(const LookOptions& options, const EmbeddingCommand& command) {
  const Session session = open_model(options);
  const Tokenizer& tokenizer = tokenizer_of(session, command.side);
  const EmbeddingSpace space(session.model(), command.side);
  const Words words = read_words(space, tokenizer, session, command.words);
  if (command.map) return show_map(options, words);
  if (words.names.size() == 1) return show_neighbours(options, space, words, tokenizer, command);
  const Similarity kind = command.dot ? Similarity::dot : Similarity::cosine;
  const std::vector<real> matrix = similarity_matrix(words.vectors, kind);
  const auto count = static_cast<int64_t>(words.names.size());
  const Picture picture{.title = "",
                        .maps = {heatmap_of(command.dot ? "dot products" : "cosines", {matrix.data(), count, count},
                                            words.names, words.names)},
                        .per_row = 1};
  if (options.json || !options.csv.empty() || !options.svg.empty()) return write_picture(options, picture);
  std::string text = to_terminal(picture, terminal_style(options)) + "\n";
  for (int64_t i = 0; i < count; ++i) {
    text += pad_right(cut_to(words.names[i], 16), 17);
    for (int64_t j = 0; j < count; ++j) text += fmt::format(" {:7.3f}", matrix[i * count + j]);
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
  part->add_flag("--json", options.json, "for machines");
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
