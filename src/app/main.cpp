// limpid COMMAND …: finds the command and reports what goes wrong.

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string_view>
#include <system_error>
#include <vector>

#include "app/bus_error.h"
#include "app/commands.h"
#include "app/ranks.h"
#include "app/terminal.h"
#include "app/version.h"
#include "base/error.h"
#include "base/nearest.h"

namespace limpid {
namespace {

constexpr Command kCommands[] = {
    {"demo", "train a small Transformer in front of your eyes and see where it looks", run_demo},
    {"data", "write a corpus of our own: English-Korean, facts, small tasks", run_data},
    {"plan", "say what a training run will need before it starts", run_plan},
    {"train", "train a model on text of your own, or by a recipe", run_train},
    {"recipes", "list the recipes: what they make, the data they need, the score they reach", run_recipes},
    {"get", "download the data and small models that the documents use", run_get},
    {"log", "show how training runs went: loss, score, learning rate, speed", run_log},
    {"info", "say what a model or a file is, and whether it can be opened", run_info},
    {"export", "write a model in another format: Hugging Face folder, GGUF, llama2.c", run_export},
    {"verify", "compare all numbers of a model with reference cases computed elsewhere", run_verify},
    {"params", "count a model's parameters by part", run_params},
    {"models", "list the families of models that can be opened", run_models},
    {"translate", "translate text line by line with a trained model", run_translate},
    {"complete", "continue a prompt; with an encoder model, fill its masks", run_complete},
    {"chat", "talk with a language model in the terminal", run_chat},
    {"embed", "give a vector for every line of text", run_embed},
    {"score", "say how likely a model finds each token of a text", run_score},
    {"classify", "give every line of text its label", run_classify},
    {"evaluate", "score translations against references: BLEU, chrF, intervals, two systems compared", run_evaluate},
    {"tokenize", "show the tokens of a text and their ids", run_tokenize},
    {"serve", "serve models over HTTP: OpenAI's and LibreTranslate's interfaces, the page", run_serve},
    {"look", "show every number inside a model: pictures, logit lens, attribution, neurons", run_look},
    {"quantize", "write a model with 8- or 4-bit weights and say what it loses", run_quantize},
    {"superposition", "train the toy model of superposition and draw its geometry", run_superposition},
    {"sae", "train sparse autoencoders on a model's activations and see what they found", run_sae},
    {"induction", "watch an induction head form in two layers of attention, and not in one", run_induction},
    {"experiment", "run and judge claims about the Transformer: figures, tables, verdicts", run_experiment_command},
    {"random", "write a model of any config with random weights", run_random},
    {"bench", "measure speed and memory", run_bench},
};

void print_help() {
  fmt::print("Limpid: Transformers you can see through.\n\nUsage: {} COMMAND [options]\n\n", program_name());
  const int64_t width = terminal_width(STDOUT_FILENO);
  for (const Command& command : kCommands)
    fmt::print("  {:14} {}\n", command.name, wrapped(command.summary, width, 17));
  fmt::print("\n  -V, --version  version, build and instruction set in use\n\n{} help COMMAND says more.\n",
             program_name());
}

const Command* find(std::string_view name) {
  for (const Command& command : kCommands)
    if (name == command.name) return &command;
  return nullptr;
}

int unknown(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Command& command : kCommands) names.emplace_back(command.name);
  const std::string meant = did_you_mean(name, names);
  fmt::print(stderr, "limpid: no command \"{}\"{} {} --help lists all.\n", name, meant.empty() ? "." : meant,
             program_name());
  return 2;
}

// limpid help COMMAND …: the command's own --help.
int help(int argc, char** argv) {
  const Command* command = find(argv[2]);
  if (!command) return unknown(argv[2]);
  std::vector<char*> words(argv + 2, argv + argc);
  static char flag[] = "--help";
  words.push_back(flag);
  words.push_back(nullptr);
  return command->run(static_cast<int>(words.size()) - 1, words.data());
}

int dispatch(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "--help";
  if (name == "--help" || name == "-h" || name == "help") {
    if (name == "help" && argc > 2) return help(argc, argv);
    print_help();
    return argc > 1 ? 0 : 2;
  }
  if (name == "--version" || name == "-V") {
    fmt::print("{}\n", version_text());
    return 0;
  }
  const Command* command = find(name);
  return command ? command->run(argc - 1, argv + 1) : unknown(name);
}

int run(int argc, char** argv) {
  try {
    return dispatch(argc, argv);
  } catch (const Error& error) {
    fmt::print(stderr, "limpid: {}{}\n", speaking_rank(), error.what());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "limpid: {}out of memory\n", speaking_rank());
  } catch (const std::system_error& error) {  // what is printed cannot be written, or the system gives no thread
    if (std::ferror(stdout) == 0)
      fmt::print(stderr, "limpid: {}: is the disk full, or a limit of the system reached?\n", error.what());
  } catch (const std::exception& error) {
    if (std::ferror(stdout) == 0) fmt::print(stderr, "limpid: unexpected failure: {}\n", error.what());
  }
  return 1;
}

// Whether all that was printed has left the program. A full disk shows here: what is printed waits in a buffer.
bool output_is_out() {
  errno = 0;
  const bool out = static_cast<bool>(std::cout.flush()) && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!out)
    fmt::print(stderr, "limpid: the output could not be written{}: free some room or write elsewhere\n",
               errno != 0 ? ": " + std::generic_category().message(errno) : "");
  return out;
}

}  // namespace
}  // namespace limpid

int main(int argc, char** argv) {
  limpid::report_bus_errors();
  limpid::set_program_name(argc > 0 ? argv[0] : "");
  const int code = limpid::run(argc, argv);
  return limpid::output_is_out() || code != 0 ? code : 1;
}
