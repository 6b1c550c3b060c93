// The table of commands.

#include "app/commands.h"
#include "app/program.h"

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

}  // namespace
}  // namespace limpid

int main(int argc, char** argv) { return limpid::run_program(limpid::kCommands, argc, argv); }
