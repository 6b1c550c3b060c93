#pragma once
// Dataset: from text files to what a run trains and validates on. Trains the tokenizer, drops what cannot be used and
// says why, and keeps the ids on disk in the run's folder, where a run that is resumed finds them.

#include <functional>
#include <map>

#include "models/config.h"
#include "text/corpus.h"
#include "text/token_store.h"
#include "text/tokenizer.h"
#include "training/dataset_record.h"
#include "training/recipe.h"

namespace limpid {

// What was found in one set of files.
struct CorpusReport {
  int64_t lines = 0, kept = 0;
  int64_t duplicates = 0;                        // lines equal to an earlier one (kept)
  std::map<std::string, int64_t> dropped;        // by reason
  std::map<std::string, int64_t> first_dropped;  // the first line dropped for that reason
  int64_t cut = 0;                               // texts whose end was left out, of classification
  int64_t tokens[2] = {0, 0};                    // of both sides, special ones included
  int64_t unknown = 0;                           // tokens that the vocabulary cannot say
  int64_t longest = 0;
  std::vector<int64_t> lengths = std::vector<int64_t>(16);  // examples of up to 8, 16, 24, … tokens; the last: longer
};

struct Dataset {
  Tokenizers tokenizers;
  std::unique_ptr<TokenStore> train, valid;
  std::vector<std::pair<std::string, std::string>> valid_texts;  // the first examples of `valid` as text
  std::vector<std::string> labels;                               // of classification, in the order of their ids
  CorpusReport train_report, valid_report;
  int64_t overlap = 0;       // validation examples that the training text has too
  int64_t overlap_line = 0;  // the first of them in the training text
  DatasetRecord record;      // of files, settings and tokenizer: another one is another dataset
};

// Says what is being done and how far it is, 0 … 1.
using DataProgress = std::function<void(const std::string& what, double done)>;

// What a family makes of its text.
enum class Task { translation, language_model, masked, classification };
std::string model_type_of(const Recipe& recipe);  // an Error where it says none
Task task_of(const Recipe& recipe);

// Makes `folder`/data, or finds it there from before. An Error where a run in the folder was trained on other texts or
// settings, where its tokenizer is not the one it was trained with, and where the ids on disk are damaged.
Dataset prepare_dataset(const Recipe& recipe, const std::filesystem::path& folder, const DataProgress& progress = {});

// The same where another process of the run has made it; an Error where it is not there or is another one.
Dataset open_dataset(const Recipe& recipe, const std::filesystem::path& folder);

// The config.json of the model to be trained: the recipe's with the vocabulary's size and special ids.
Config make_config(const Recipe& recipe, const Dataset& dataset);

// An Error where [model] contradicts itself or has a key that means nothing. It can be asked before there is any text.
void check_model(const Recipe& recipe);

// A file of the recipe, in its folder.
std::filesystem::path data_path(const Recipe& recipe, const std::string& name);
CorpusFiles corpus_files(const Recipe& recipe, const std::vector<std::string>& names);

}  // namespace limpid
