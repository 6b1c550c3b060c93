#pragma once
// Recipe: everything that decides what a training run does, in one TOML file. Every key has a default; any key can be
// overridden by name ("schedule.warmup=400"); an unknown key is an Error that names the nearest known one.

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "text/tokenizer_training.h"
#include "training/optimizer.h"
#include "training/schedule.h"

namespace limpid {

struct Recipe {
  std::string description;  // one line for people
  std::string note;         // what else is to be known of it
  std::string score, time;  // that it is known to reach, and how long that takes (docs/results.md)

  nlohmann::ordered_json model;  // the family's config.json but for the vocabulary; see models/config.h

  struct Data {
    std::string folder;                           // files are looked for here; empty: where they say
    std::vector<std::string> train, valid, test;  // two line-aligned files or one TSV; texts: any number of files
    std::vector<int64_t> columns = {0, 1};        // of a TSV: source and target, or text and label
    std::string unit = "lines";                   // of texts: every line is an example, or the whole is one "stream"
    bool labels = false;                          // encoder: a TSV of texts and their labels is learned
    int64_t max_length = 256;                     // longer examples, in ids, are dropped
    double max_ratio = 0;                         // pairs whose sides differ more in length are dropped; 0: none
    double valid_share = 0.05;                    // held out of the training text where `valid` names no file
    int64_t valid_most = 2000;                    // … but at most so many lines
  } data;

  struct TokenizerRecipe {
    std::string kind = "bpe";
    int64_t vocab = 8000;
    bool joint = true;
    bool lowercase = false;
    bool byte_fallback = true;
    double coverage = 0.9995;
    int64_t min_count = 1;
    double sample_mb = 4;
    double sampling = 0;  // alpha of subword regularisation; 0: always the likeliest segmentation
  } tokenizer;

  struct Optimization {
    std::string kind = "adam";  // or adamw
    double beta1 = 0.9, beta2 = 0.98, eps = 1e-9;
    double weight_decay = 0;
    double clip_norm = 0;  // 0: no clipping
    double label_smoothing = 0.1;
    std::vector<std::string> freeze;  // patterns of parameter names that stay as they are, "encoder.*"
  } optimizer;

  ScheduleOptions schedule;

  struct BatchRecipe {
    int64_t tokens = 4096;   // of the longer side
    int64_t sequences = 0;   // at most so many examples; 0: no limit
    int64_t accumulate = 1;  // batches to an update
    int64_t shards = 1;      // parts of a batch whose gradients are computed by themselves, on up to as many ranks
    int64_t window = 0;      // of a stream: ids
    bool by_length = true;   // examples of like length to a batch
  } batch;

  struct Stopping {
    int64_t steps = 0;     // updates; 0: no limit
    int64_t epochs = 0;    // 0: no limit
    double minutes = 0;    // 0: no limit
    int64_t patience = 0;  // validations without a better score; 0: never stops early
  } stop;

  struct Validation {
    int64_t steps = 0;              // between validations; 0: once per epoch
    std::string metric = "loss";    // what "better" means: loss, bleu, chrf, exact
    std::string tokenize = "auto";  // of BLEU: auto, 13a, intl, char, none
    bool lowercase = false;         // scores without regard to case
    int64_t translate = 500;        // examples that are translated for BLEU and to be shown
    int64_t show = 3;               // translations shown
  } validation;

  struct Checkpoints {
    int64_t steps = 0;    // between checkpoints; 0: once per epoch
    int64_t keep = 3;     // the last so many, besides the best
    int64_t average = 0;  // the final model is the mean of the last so many; 0: the best
    double ema = 0;       // decay of a moving average of the weights, validated and kept instead of them; 0: none
  } checkpoint;

  struct Decoding {
    int64_t beam = 4;
    double length_penalty = 1;
    int64_t max_tokens = 0;  // 0: twice the source and 50 more
  } decode;

  uint64_t seed = 1;
  std::string start_from;    // a model folder whose weights and tokenizer the run goes on from
  double mask_share = 0.15;  // encoder: share of tokens to be guessed
};

// `overrides` are "key=value"; a value is TOML, or plain text where that fails. Other files in data.train come without
// the folder, the validation and the test that belong to the recipe's own.
Recipe load_recipe(const std::filesystem::path& path, const std::vector<std::string>& overrides = {});
Recipe parse_recipe(const std::string& toml, const std::string& where, const std::vector<std::string>& overrides = {});

// The recipe with some keys overridden.
Recipe with_overrides(const Recipe& recipe, const std::vector<std::string>& overrides);

// The whole effective recipe with every key, as TOML with a remark at each.
std::string dump_recipe(const Recipe& recipe);

// Every key with its value, the model's as "model.KEY", in the order of the dump.
std::vector<std::pair<std::string, nlohmann::ordered_json>> recipe_values(const Recipe& recipe);

TokenizerOptions tokenizer_options(const Recipe& recipe);
OptimizerOptions optimizer_options(const Recipe& recipe);

}  // namespace limpid
