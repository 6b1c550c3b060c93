#include "training/recipe.h"

#include <toml++/toml.h>
#include <algorithm>
#include <map>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "base/nearest.h"
#include "models/family_table.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

// Every key once: reading, writing and documenting all go through here. The model's keys are those of its config.json.
template <class Visitor>
void visit(Recipe& r, const Visitor& field) {
  field("description", r.description, "what it makes, in one line");
  field("note", r.note, "what else is to be known of it");
  field("score", r.score, "that it is known to reach");
  field("time", r.time, "that it takes");
  field("seed", r.seed, "of weights, order of the data and dropout");
  field("start_from", r.start_from, "a model folder to go on from, with its tokenizer; empty: from scratch");
  field("mask_share", r.mask_share, "encoder models: share of tokens to be guessed");

  field("data.folder", r.data.folder, "where the files are; empty: where their names say");
  field("data.train", r.data.train, "two line-aligned files or one TSV; texts: one or more files; .gz or plain");
  field("data.valid", r.data.valid, "the same for validation; empty: held out of the training text");
  field("data.test", r.data.test, "the same for `limpid evaluate`");
  field("data.columns", r.data.columns, "of a TSV, from 0: source and target, or text and label");
  field("data.unit", r.data.unit, "of texts: \"lines\": every line is an example; \"stream\": one long text");
  field("data.labels", r.data.labels, "encoder models: learn the labels of a TSV instead of masked tokens");
  field("data.max_length", r.data.max_length, "longer examples, in tokens, are dropped");
  field("data.max_ratio", r.data.max_ratio, "pairs whose sides differ more in tokens are dropped; 0: none");
  field("data.valid_share", r.data.valid_share, "share held out where data.valid is empty");
  field("data.valid_most", r.data.valid_most, "... but at most so many lines");

  field("tokenizer.kind", r.tokenizer.kind, "bpe, unigram, characters, words");
  field("tokenizer.vocab", r.tokenizer.vocab, "tokens");
  field("tokenizer.joint", r.tokenizer.joint, "one segmentation for source and target");
  field("tokenizer.lowercase", r.tokenizer.lowercase, "fold to lower case");
  field("tokenizer.byte_fallback", r.tokenizer.byte_fallback, "subwords: unseen characters become bytes");
  field("tokenizer.coverage", r.tokenizer.coverage, "subwords: share of characters kept");
  field("tokenizer.min_count", r.tokenizer.min_count, "words, characters: rarer ones are unknown");
  field("tokenizer.sample_mb", r.tokenizer.sample_mb, "megabytes of text that it is trained on, at most");
  field("tokenizer.sampling", r.tokenizer.sampling,
        "unigram: train on segmentations drawn anew, their probabilities to this power; 0: always the best one");

  field("optimizer.kind", r.optimizer.kind, "adam, adamw");
  field("optimizer.beta1", r.optimizer.beta1, "");
  field("optimizer.beta2", r.optimizer.beta2, "");
  field("optimizer.eps", r.optimizer.eps, "");
  field("optimizer.weight_decay", r.optimizer.weight_decay, "");
  field("optimizer.clip_norm", r.optimizer.clip_norm, "longest gradient; 0: no clipping");
  field("optimizer.label_smoothing", r.optimizer.label_smoothing, "");
  field("optimizer.freeze", r.optimizer.freeze, "patterns of parameter names that stay as they are");

  field("schedule.kind", r.schedule.kind, "inverse-sqrt, cosine, linear, constant");
  field("schedule.learning_rate", r.schedule.learning_rate, "the peak; 0 with inverse-sqrt: the paper's");
  field("schedule.warmup", r.schedule.warmup, "steps");
  field("schedule.final", r.schedule.final, "of cosine and linear");

  field("batch.tokens", r.batch.tokens, "of the longer side; 0: no limit");
  field("batch.sequences", r.batch.sequences, "at most so many examples; 0: no limit");
  field("batch.accumulate", r.batch.accumulate, "batches to an update");
  field("batch.shards", r.batch.shards, "parts of a batch, shared out over that many ranks of mpirun or fewer");
  field("batch.window", r.batch.window, "tokens of a window, where data.unit is \"stream\"");
  field("batch.by_length", r.batch.by_length, "examples of like length to a batch; false: as they come");

  field("stop.steps", r.stop.steps, "updates; 0: no limit");
  field("stop.epochs", r.stop.epochs, "0: no limit");
  field("stop.minutes", r.stop.minutes, "0: no limit");
  field("stop.patience", r.stop.patience, "validations without a better score; 0: never stop early");

  field("validation.steps", r.validation.steps, "between validations; 0: once per epoch");
  field("validation.metric", r.validation.metric, "what better means: loss, bleu, chrf, exact");
  field("validation.tokenize", r.validation.tokenize, "of BLEU: auto, 13a, intl, char, none");
  field("validation.lowercase", r.validation.lowercase, "score without regard to case");
  field("validation.translate", r.validation.translate, "examples translated for the score");
  field("validation.show", r.validation.show, "translations shown");

  field("checkpoint.steps", r.checkpoint.steps, "between checkpoints; 0: once per epoch");
  field("checkpoint.keep", r.checkpoint.keep, "the last so many, besides the best");
  field("checkpoint.average", r.checkpoint.average, "the model is the mean of the last so many; 0: the best");
  field("checkpoint.ema", r.checkpoint.ema, "decay of a moving average of the weights; 0: none");

  field("decode.beam", r.decode.beam, "of `limpid evaluate` and `limpid translate`");
  field("decode.length_penalty", r.decode.length_penalty, "");
  field("decode.max_tokens", r.decode.max_tokens, "0: twice the source and 50 more");
}

Json to_json(const toml::node& node) {
  if (const auto* table = node.as_table()) {
    Json object = Json::object();
    for (const auto& [key, value] : *table) object[std::string(key.str())] = to_json(value);
    return object;
  }
  if (const auto* array = node.as_array()) {
    Json list = Json::array();
    for (const auto& value : *array) list.push_back(to_json(value));
    return list;
  }
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return number->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* flag = node.as_boolean()) return flag->get();
  fail("[recipe] a value at line {} is a date or a time, which no key takes", node.source().begin.line);
}

Json parse_toml(const std::string& text, const std::string& where) {
  try {
    return to_json(toml::parse(text));
  } catch (const toml::parse_error& error) {
    fail("[recipe] {}: line {}: {}", where, error.source().begin.line, error.description());
  }
}

Json override_value(const std::string& text) {
  try {
    return to_json(*toml::parse("value = " + text).get("value"));
  } catch (const toml::parse_error&) {
    return text;  // plain words need no quotes
  }
}

void apply_override(Json& recipe, const std::string& text) {
  const size_t equals = text.find('=');
  check(equals != std::string::npos && equals > 0,
        "[recipe] \"{}\" is no override: write key=value, as in stop.steps=100", text);
  Json* at = &recipe;
  std::istringstream keys(text.substr(0, equals));
  for (std::string key; std::getline(keys, key, '.');) {
    if (at->is_null()) *at = Json::object();
    check(at->is_object(),
          "[recipe] \"{}\": there is no {} in what stands before it: write key=value, as in stop.steps=100", text, key);
    at = &(*at)[key];
  }
  *at = override_value(text.substr(equals + 1));
}

// What belongs to the recipe's own text goes with it.
void drop_own_text(Json& recipe, const std::vector<std::string>& overrides) {
  const bool other = std::any_of(overrides.begin(), overrides.end(),
                                 [](const std::string& text) { return text.starts_with("data.train="); });
  if (!other || !recipe.contains("data") || !recipe["data"].is_object()) return;
  for (const char* key : {"folder", "valid", "test"}) recipe["data"].erase(key);
}

// "section.key" and the values, all sections but the model's flattened.
std::map<std::string, Json> flatten(const Json& recipe) {
  std::map<std::string, Json> flat;
  for (const auto& [section, value] : recipe.items()) {
    if (section == "model") continue;
    if (!value.is_object()) {
      flat[section] = value;
      continue;
    }
    for (const auto& [key, inner] : value.items()) flat[fmt::format("{}.{}", section, key)] = inner;
  }
  return flat;
}

template <class T>
constexpr const char* kind_name() {
  if constexpr (std::is_same_v<T, bool>)
    return "true or false";
  else if constexpr (std::is_same_v<T, std::string>)
    return "a text in quotes";
  else if constexpr (std::is_integral_v<T>)
    return "a whole number from 0";
  else if constexpr (std::is_floating_point_v<T>)
    return "a number from 0";
  else if constexpr (std::is_same_v<T, std::vector<int64_t>>)
    return "a list of whole numbers";
  else
    return "a list of texts";
}

template <class T>
bool fits(const Json& value) {
  if constexpr (std::is_same_v<T, bool>)
    return value.is_boolean();
  else if constexpr (std::is_same_v<T, std::string>)
    return value.is_string();
  else if constexpr (std::is_integral_v<T>)
    return value.is_number_integer() && value.get<double>() >= 0;
  else if constexpr (std::is_floating_point_v<T>)
    return value.is_number() && value.get<double>() >= 0;
  else {
    using Element = typename T::value_type;
    return value.is_array() && std::all_of(value.begin(), value.end(), fits<Element>);
  }
}

template <class T>
void assign(const std::string& key, const Json& value, T& into) {
  if constexpr (!std::is_same_v<T, std::string> && !std::is_arithmetic_v<T>)
    if (fits<typename T::value_type>(value)) {  // one file needs no brackets
      into = {value.get<typename T::value_type>()};
      return;
    }
  if constexpr (std::is_same_v<T, std::string>)
    if (value.is_number() || value.is_boolean()) {
      into = value.dump();
      return;
    }
  check(
      fits<T>(value), "[recipe] {} is {}: it takes {}", key, [&] { return value.dump(); }, kind_name<T>());
  into = value.get<T>();
}

void fill(Recipe& recipe, std::map<std::string, Json> values) {
  std::vector<std::string_view> known{"model"};
  visit(recipe, [&](const char* key, auto& field, const char*) {
    known.emplace_back(key);
    const auto found = values.find(key);
    if (found == values.end()) return;
    assign(key, found->second, field);
    values.erase(found);
  });
  for (const auto& [key, value] : values)
    fail("[recipe] {} is not a known key{}; docs/training.md says where all are listed", key, did_you_mean(key, known));
}

void check_choice(const char* key, const std::string& value, std::initializer_list<std::string_view> allowed) {
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
  std::string list;
  for (const auto& word : allowed) list.append(list.empty() ? "" : ", ").append(word);
  fail("[recipe] {} is \"{}\": allowed are {}{}", key, value, list,
       did_you_mean(value, {allowed.begin(), allowed.size()}));
}

// What only some families can do.
void check_family(const Recipe& r, const std::string& family) {
  const std::optional<Family> kind = family_of(family);
  std::vector<std::string_view> known;
  for (const FamilyRow& row : family_table()) known.push_back(row.model_type);
  check(kind.has_value(),
        "[recipe] model.model_type is \"{}\", which no model is{}: usual are marian, pegasus, gpt2, llama, bert and "
        "rnn_seq2seq, and limpid models lists all",
        family, [&] { return did_you_mean(family, known); });
  const bool writes_on = kind == Family::language_model, encodes = kind == Family::encoder;
  check(r.data.unit == "lines" || writes_on, "[recipe] data.unit is \"stream\": {} learns from lines", family);
  check(!r.data.labels || encodes, "[recipe] data.labels is true: only bert and other encoders learn labels, not {}",
        family);
  const std::string& metric = r.validation.metric;
  const bool translates = !writes_on && !encodes;
  check(metric == "loss" || translates || (metric == "exact" && r.data.labels),
        "[recipe] validation.metric is \"{}\": {} has {}", metric, family,
        r.data.labels ? "\"loss\" and \"exact\"" : "only \"loss\"");
}

void check_values(const Recipe& r) {
  check(r.model.contains("model_type"),
        "[recipe] model.model_type is missing: marian, pegasus, gpt2, llama, bert or rnn_seq2seq");
  const auto& type = r.model["model_type"];
  const std::string family = type.is_string() ? type.get<std::string>() : type.dump();
  check_choice("data.unit", r.data.unit, {"lines", "stream"});
  check_choice("tokenizer.kind", r.tokenizer.kind, {"bpe", "unigram", "characters", "words"});
  check_choice("optimizer.kind", r.optimizer.kind, {"adam", "adamw"});
  check_choice("validation.metric", r.validation.metric, {"loss", "bleu", "chrf", "exact"});
  check_choice("validation.tokenize", r.validation.tokenize, {"auto", "13a", "intl", "char", "none"});
  check(r.batch.tokens > 0 || r.batch.sequences > 0,
        "[recipe] batch.tokens and batch.sequences are 0: one has to bound a batch");
  check(r.batch.accumulate > 0, "[recipe] batch.accumulate is 0: an update takes at least one batch");
  check(r.batch.shards > 0, "[recipe] batch.shards is 0: a batch is at least one part");
  check(r.data.unit == "lines" || r.batch.window > 0,
        "[recipe] batch.window is 0: a stream is read in windows of so many tokens");
  check(r.optimizer.label_smoothing < 1 && r.checkpoint.ema < 1 && r.mask_share < 1 && r.data.valid_share < 1,
        "[recipe] label_smoothing, ema, mask_share and valid_share are shares: allowed is less than 1");
  check(r.tokenizer.sampling == 0 || r.data.unit == "lines",
        "[recipe] tokenizer.sampling is {}: it draws segmentations of lines, and data.unit is \"stream\"",
        r.tokenizer.sampling);
  check(r.tokenizer.sampling == 0 || r.tokenizer.kind == "unigram" || !r.start_from.empty(),
        "[recipe] tokenizer.sampling is {}: only tokenizer.kind = \"unigram\" knows how likely a segmentation is",
        r.tokenizer.sampling);
  check(r.stop.steps > 0 || r.stop.epochs > 0 || r.stop.minutes > 0 || r.stop.patience > 0,
        "[recipe] nothing would end this run: set stop.steps, stop.epochs, stop.minutes or stop.patience");
  check(r.checkpoint.keep > 0, "[recipe] checkpoint.keep is 0: at least one is needed to resume from");
  check(r.data.columns.size() == 2, "[recipe] data.columns takes two numbers");
  check_schedule(r.schedule, std::max(r.stop.steps, r.stop.epochs));
  check_family(r, family);
}

std::string toml_key(const std::string& key) {
  const bool bare = !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) || c == '_' || c == '-');
  });
  return bare ? key : Json(key).dump();
}

std::string toml_value(const Json& value) {
  if (value.is_array()) {
    std::string list;
    for (const auto& element : value) list.append(list.empty() ? "" : ", ").append(toml_value(element));
    return '[' + list + ']';
  }
  if (value.is_object()) {
    std::string list;
    for (const auto& [key, inner] : value.items())
      list.append(list.empty() ? "" : ", ").append(toml_key(key)).append(" = ").append(toml_value(inner));
    return "{ " + list + " }";
  }
  return value.dump();  // JSON's texts, numbers and flags are TOML's
}

}  // namespace

Recipe parse_recipe(const std::string& toml, const std::string& where, const std::vector<std::string>& overrides) {
  Json json = parse_toml(toml, where);
  drop_own_text(json, overrides);
  for (const std::string& text : overrides) apply_override(json, text);
  Recipe recipe;
  if (json.contains("model")) recipe.model = json["model"];
  check(recipe.model.is_object(), "[recipe] {}: there is no [model]: its keys are those of a config.json", where);
  fill(recipe, flatten(json));
  check_values(recipe);
  return recipe;
}

Recipe load_recipe(const std::filesystem::path& path, const std::vector<std::string>& overrides) {
  return parse_recipe(read_text(path), path.string(), overrides);
}

Recipe with_overrides(const Recipe& recipe, const std::vector<std::string>& overrides) {
  return overrides.empty() ? recipe : parse_recipe(dump_recipe(recipe), "recipe", overrides);
}

std::string dump_recipe(const Recipe& recipe) {
  Recipe copy = recipe;
  std::string text, section;
  bool model_written = false;
  const auto write_model = [&] {
    text += "\n[model]  # the config.json of its family\n";
    for (const auto& [key, value] : recipe.model.items())
      text += fmt::format("{} = {}\n", toml_key(key), toml_value(value));
  };
  visit(copy, [&](const std::string& key, const auto& field, const std::string& remark) {
    const size_t dot = key.find('.');
    const std::string now = dot == std::string::npos ? "" : key.substr(0, dot);
    if (now != section) {
      if (!model_written) write_model();
      model_written = true;
      text += fmt::format("\n[{}]\n", now);
      section = now;
    }
    const std::string line =
        fmt::format("{} = {}", key.substr(dot == std::string::npos ? 0 : dot + 1), toml_value(Json(field)));
    text += remark.empty() ? line + '\n' : fmt::format("{:32}  # {}\n", line, remark);
  });
  return text;
}

std::vector<std::pair<std::string, Json>> recipe_values(const Recipe& recipe) {
  Recipe copy = recipe;
  std::vector<std::pair<std::string, Json>> values;
  visit(copy, [&](const std::string& key, const auto& field, const char*) { values.emplace_back(key, Json(field)); });
  for (const auto& [key, value] : recipe.model.items()) values.emplace_back("model." + key, value);
  return values;
}

TokenizerOptions tokenizer_options(const Recipe& recipe) {
  static const std::map<std::string, TokenizerKind> kinds = {{"bpe", TokenizerKind::bpe},
                                                             {"unigram", TokenizerKind::unigram},
                                                             {"characters", TokenizerKind::characters},
                                                             {"words", TokenizerKind::words}};
  const auto& from = recipe.tokenizer;
  return {.kind = kinds.at(from.kind),
          .vocab = from.vocab,
          .joint = from.joint,
          .lowercase = from.lowercase,
          .byte_fallback = from.byte_fallback,
          .coverage = from.coverage,
          .min_count = from.min_count,
          .sample_bytes = static_cast<int64_t>(from.sample_mb * 1e6),
          .seed = recipe.seed};
}

OptimizerOptions optimizer_options(const Recipe& recipe) {
  const auto& from = recipe.optimizer;
  return {.beta1 = from.beta1,
          .beta2 = from.beta2,
          .eps = from.eps,
          .weight_decay = from.weight_decay,
          .decoupled = from.kind == "adamw",
          .clip_norm = from.clip_norm};
}

}  // namespace limpid
