// limpid evaluate: how good translations are.

#include <fmt/format.h>

#include "app/command.h"
#include "app/evaluate_model.h"
#include "app/evaluate_texts.h"
#include "app/output_file.h"
#include "app/terminal.h"

namespace limpid {

int run_evaluate(int argc, char** argv) {
  CommandLine line(
      "evaluate",
      "Scores a model on its test set, or translations against references: BLEU, chrF and chrF++ as sacreBLEU "
      "prints them; of language models the perplexity and the bits per byte.",
      "limpid evaluate --hypothesis hyp.txt --reference ref.txt");
  EvaluateTextsOptions options;
  EvaluateModelOptions model;
  ScoreOptions& scores = options.scores;
  line.add_option("MODEL", model.model, "a model's folder; without it, files are scored");
  line.add_option("--test", model.test, "files that the model is tested on (default: those of its recipe)");
  add_output_option(line, "--out", model.hypotheses, "the model's translations to this file");
  line.add_option("--beam", model.beam, "hypotheses kept while searching (default: the recipe's)")
      ->check(CLI::Range(1, 1000));
  line.add_option("--length-penalty", model.length_penalty, "default: the recipe's")->check(CLI::Range(-10.0, 10.0));
  std::vector<std::string> tokenizers = {"13a"};
  line.add_option("--hypothesis", options.hypothesis, "the translations, one sentence per line; plain or gzip");
  line.add_option("--reference", options.references, "what they are compared with; more than one may be given");
  line.add_option("--system-b", options.system_b, "another system's translations, to compare with the first");
  line.add_option("--metrics", scores.metrics, "of bleu, chrf, chrf++, with commas between them")
      ->capture_default_str()
      ->delimiter(',')
      ->check(CLI::IsMember(kMetricNames));
  line.add_option("--tokenize", tokenizers, "BLEU's words: 13a, intl, char or none; several give several scores")
      ->capture_default_str()
      ->delimiter(',')
      ->check(CLI::IsMember({"13a", "intl", "char", "none"}));
  line.add_flag("--lowercase", scores.lowercase, "upper and lower case are the same");
  line.add_flag("--confidence", scores.confidence, "with intervals by bootstrap resampling");
  line.add_option("--resamples", scores.resamples,
                  "resamples of the bootstrap; a comparison's randomisation makes ten times as many")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  line.add_option("--seed", scores.seed, "of the resampling")->capture_default_str();
  line.add_option("--digits", scores.digits, "digits after the point")->capture_default_str()->check(CLI::Range(0, 17));
  line.add_flag("--json", scores.json, "print JSON, one object per line, with all digits");
  if (const auto code = line.read(argc, argv)) return *code;

  scores.tokenizers.clear();
  for (const std::string& name : tokenizers) scores.tokenizers.push_back(find_bleu_tokenizer(name).value());
  if (!model.model.empty()) {
    model.scores = scores;
    return evaluate_model(model);
  }
  if (options.hypothesis.empty() || options.references.empty()) {
    fmt::print(stderr, "limpid evaluate: name a MODEL, or --hypothesis and --reference\nSee {} evaluate --help\n",
               program_name());
    return 2;
  }
  return evaluate_texts(options);
}

}  // namespace limpid
