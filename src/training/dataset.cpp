#include "training/dataset.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_set>

#include "base/checksum.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "formats/model_folder.h"
#include "inference/loaded_model.h"
#include "models/family_table.h"
#include "text/duplicates.h"
#include "text/tokenizer_training.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr size_t kMostLabels = 10000;
constexpr size_t kLongestTaught = 4000;      // bytes of a part of a long line that a tokenizer is trained on
constexpr int64_t kMostRemembered = 100000;  // validation examples whose hashes are looked for in the training text

std::vector<std::string> special_tokens(Task task, const Recipe& recipe) {
  switch (task) {
    case Task::translation: return {"<pad>", "</s>", "<unk>"};
    case Task::language_model:
      return recipe.data.unit == "stream" && recipe.tokenizer.kind == "characters"
                 ? std::vector<std::string>{"<unk>"}
                 : std::vector<std::string>{"<unk>", "<s>", "</s>"};
    case Task::masked:
    case Task::classification: break;
  }
  return {"<pad>", "</s>", "<unk>", "<s>", "<mask>"};
}

// Turns text examples into ids by the task's conventions.
class Encoder {
 public:
  Encoder(Task task, const Recipe& recipe, const Tokenizers& tokenizers)
      : task_(task), recipe_(recipe), tokenizers_(tokenizers) {}

  int64_t texts_cut() const { return cut_; }

  // Why the example cannot be used, or nothing.
  std::string encode(const TextExample& text, TokenExample& ids, const std::vector<std::string>& labels) {
    const bool stream = recipe_.data.unit == "stream";
    if (!stream && text.first.find_first_not_of(" \t") == std::string_view::npos) return "empty";
    ids.second.clear();
    switch (task_) {
      case Task::translation:
        if (text.second.find_first_not_of(" \t") == std::string_view::npos) return "empty";
        ids.first = side(*tokenizers_.source, text.first, false);
        ids.second = side(*tokenizers_.target, text.second, false);
        break;
      case Task::language_model:
        ids.first = stream ? stream_line(text) : side(*tokenizers_.source, text.first, true);
        break;
      case Task::masked: ids.first = side(*tokenizers_.source, text.first, true); break;
      case Task::classification: {
        if (text.second.empty()) return "empty";
        const auto label = std::lower_bound(labels.begin(), labels.end(), text.second);
        if (label == labels.end() || *label != text.second) return "label that training does not have";
        ids.first = cut(side(*tokenizers_.source, text.first, true));
        ids.second = {static_cast<int32_t>(label - labels.begin())};
      }
    }
    return stream ? "" : unfit(ids);
  }

 private:
  static std::vector<int32_t> side(const Tokenizer& tokenizer, std::string_view text, bool begin) {
    std::vector<int32_t> ids = tokenizer.encode(text);
    const SpecialIds special = tokenizer.special();
    if (begin && special.begin >= 0) ids.insert(ids.begin(), special.begin);
    if (special.end >= 0) ids.push_back(special.end);
    return ids;
  }

  // A text that is too long for a label is read to where it fits, as limpid classify reads it; its end token stays.
  std::vector<int32_t> cut(std::vector<int32_t> ids) {
    const auto most = static_cast<size_t>(std::max<int64_t>(recipe_.data.max_length, 1));
    if (ids.size() > most) ids.erase(ids.begin() + static_cast<ptrdiff_t>(most) - 1, ids.end() - 1), ++cut_;
    return ids;
  }

  // Lines of a stream are parted by what the vocabulary has for it: a line break, else the end token.
  std::vector<int32_t> stream_line(const TextExample& text) const {
    if (text.goes_on) return tokenizers_.source->encode(text.first);
    if (recipe_.tokenizer.kind == "characters") return tokenizers_.source->encode(std::string(text.first) + '\n');
    return side(*tokenizers_.source, text.first, false);
  }

  std::string unfit(const TokenExample& ids) const {
    const auto first = static_cast<int64_t>(ids.first.size()), second = static_cast<int64_t>(ids.second.size());
    if (std::max(first, second) > recipe_.data.max_length) return "longer than data.max_length";
    if (task_ == Task::translation && recipe_.data.max_ratio > 0 &&
        static_cast<double>(std::max(first, second)) >
            recipe_.data.max_ratio * static_cast<double>(std::min(first, second)))
      return "sides differ more than data.max_ratio";
    return task_ == Task::language_model && first < 2 ? "empty" : "";
  }

  Task task_;
  const Recipe& recipe_;
  const Tokenizers& tokenizers_;
  int64_t cut_ = 0;
};

class Preparation {
 public:
  Preparation(const Recipe& recipe, const fs::path& folder, const DataProgress& progress)
      : recipe_(recipe), task_(task_of(recipe)), folder_(folder), data_(folder / "data"), progress_(progress) {}

  // `trained`: what the run has been trained on before, if it has; its tokenizer stays.
  Dataset make(const DatasetRecord& record, const std::optional<DatasetRecord>& trained) {
    make_inner_folder(data_);
    std::error_code ignored;
    fs::remove(data_ / "dataset.json", ignored);  // until the new one is whole
    survey();
    find_tokenizers(trained);
    if (hold_out_share_ > 0 && recipe_.data.unit == "stream") {
      encode_stream();
    } else {
      if (recipe_.data.valid.empty())
        encode_files(recipe_.data.train, "valid", dataset_.valid_report, true);
      else
        encode_files(recipe_.data.valid, "valid", dataset_.valid_report, true);
      encode_files(recipe_.data.train, "train", dataset_.train_report, false);
    }
    check(dataset_.train_report.kept > 0, "[data] nothing is left to train on: {} lines, all dropped",
          dataset_.train_report.lines);
    check(dataset_.valid_report.kept > 0,
          "[data] nothing is left to validate on: name files in data.valid, or raise data.valid_share");
    dataset_.record = record;
    dataset_.record.tokenizer = hash_tokenizer(folder_);
    save();
    return load();
  }

  // Whether the data is there, made from what the record says.
  bool is_made(const DatasetRecord& record) const;
  Dataset load() const;

 private:
  void tell(const std::string& what, double done) const {
    if (progress_) progress_(what, done);
  }

  // Counts the lines and, of classification, gathers the labels; the first look at the text also finds what is broken.
  void survey() {
    CorpusReader reader(corpus_files(recipe_, recipe_.data.train));
    std::set<std::string> labels;
    for (int64_t lines = 0;; ++lines) {
      const auto example = reader.next();
      if (!example) {
        lines_ = lines;
        break;
      }
      if (task_ == Task::classification && !example->second.empty()) labels.emplace(example->second);
      check(labels.size() <= kMostLabels,
            "[data] line {}: there are more than {} labels: does data.columns name the right column?", example->line,
            kMostLabels);
      if (lines % 10000 == 0) tell("reading the text", reader.progress());
    }
    check(lines_ > 0, "[data] {} is empty", [&] { return data_path(recipe_, recipe_.data.train[0]).string(); });
    dataset_.labels.assign(labels.begin(), labels.end());
    check(task_ != Task::classification || labels.size() > 1,
          "[data] all texts have the same label: there is nothing to learn");
    if (recipe_.data.valid.empty())
      hold_out_share_ = std::min(recipe_.data.valid_share,
                                 static_cast<double>(recipe_.data.valid_most) / static_cast<double>(lines_));
  }

  EachLine each_line(bool second) const {
    return [this, second](const std::function<void(std::string_view)>& line) {
      CorpusReader reader(corpus_files(recipe_, recipe_.data.train));
      const bool stream = recipe_.data.unit == "stream" && recipe_.tokenizer.kind == "characters";
      bool part = false;
      for (int64_t i = 0; const auto example = reader.next(); ++i) {
        if (i % 10000 == 0) tell("training the tokenizer", reader.progress());
        if (std::exchange(part, example->goes_on) || part)  // of a line that no tokenizer is trained on as a whole
          for (std::string_view rest = example->first; !rest.empty();) {
            const size_t cut = cut_place(rest, kLongestTaught);
            line(std::string(rest.substr(0, cut)));
            rest.remove_prefix(cut);
          }
        else if (stream)
          line(std::string(example->first) + '\n');
        else
          line(second ? example->second : example->first);
      }
    };
  }

  void find_tokenizers(const std::optional<DatasetRecord>& trained) {
    if (trained && has_tokenizers(folder_)) {
      if (!trained->tokenizer.empty()) check_tokenizer(folder_, trained->tokenizer);
      dataset_.tokenizers = load_tokenizers(folder_);
      return;
    }
    if (!recipe_.start_from.empty()) {
      dataset_.tokenizers = open_tokenizers(recipe_.start_from);
    } else {
      TokenizerOptions options = tokenizer_options(recipe_);
      options.special = special_tokens(task_, recipe_);
      dataset_.tokenizers =
          train_tokenizers(options, each_line(false), task_ == Task::translation ? each_line(true) : EachLine{});
    }
    save_tokenizers(folder_, model_type_of(recipe_), dataset_.tokenizers);
    if (trained && !trained->tokenizer.empty()) check_tokenizer(folder_, trained->tokenizer);
  }

  bool held_out(const TextExample& example) const {
    return hold_out_share_ > 0 && static_cast<double>(text_hash(example.first) >> 11) * 0x1p-53 < hold_out_share_;
  }

  void encode_files(const std::vector<std::string>& names, const std::string& set, CorpusReport& report,
                    bool validation) {
    CorpusReader reader(corpus_files(recipe_, names));
    TokenStoreWriter writer(data_ / set);
    DuplicateCounter duplicates;
    Encoder encoder(task_, recipe_, dataset_.tokenizers);
    TokenExample ids;
    while (const auto text = reader.next()) {
      if (report.lines % 10000 == 0) tell("encoding " + set, reader.progress());
      if (hold_out_share_ > 0 && held_out(*text) != validation) continue;
      ++report.lines;
      const std::string reason = encoder.encode(*text, ids, dataset_.labels);
      if (!reason.empty()) {
        if (++report.dropped[reason] == 1) report.first_dropped[reason] = text->line;
        continue;
      }
      count(ids, report);
      writer.add(ids.first, ids.second);
      const uint64_t hash = text_hash(text->first, text->second);
      duplicates.add(hash);
      watch_overlap(hash, *text, validation);
    }
    report.cut = encoder.texts_cut();
    report.duplicates = recipe_.data.unit == "stream" ? 0 : duplicates.duplicates();
    writer.commit();
  }

  void watch_overlap(uint64_t hash, const TextExample& text, bool validation) {
    if (recipe_.data.unit == "stream") return;
    if (validation) {
      if (static_cast<int64_t>(valid_hashes_.size()) < kMostRemembered) valid_hashes_.insert(hash);
      if (static_cast<int64_t>(dataset_.valid_texts.size()) < recipe_.validation.translate)
        dataset_.valid_texts.emplace_back(text.first, text.second);
    } else if (valid_hashes_.erase(hash) > 0 && ++dataset_.overlap == 1) {
      dataset_.overlap_line = text.line;
    }
  }

  void count(const TokenExample& ids, CorpusReport& report) const {
    ++report.kept;
    const auto longest = static_cast<int64_t>(std::max(ids.first.size(), ids.second.size()));
    report.longest = std::max(report.longest, longest);
    ++report.lengths[std::min<size_t>(static_cast<size_t>(longest - (longest > 0)) / 8, report.lengths.size() - 1)];
    report.tokens[0] += static_cast<int64_t>(ids.first.size());
    report.tokens[1] += static_cast<int64_t>(ids.second.size());
    const auto unknowns = [](const Tokenizer& tokenizer, const std::vector<int32_t>& side) {
      return std::count(side.begin(), side.end(), tokenizer.special().unknown);
    };
    report.unknown += unknowns(*dataset_.tokenizers.source, ids.first);
    if (task_ == Task::translation) report.unknown += unknowns(*dataset_.tokenizers.target, ids.second);
  }

  // A stream whose last part is held out.
  void encode_stream() {
    encode_files_of_stream();
    const TokenStore all(data_ / "all");
    const auto border = static_cast<int64_t>(static_cast<double>(all.tokens()) * (1 - recipe_.data.valid_share));
    copy(all, 0, border, "train", dataset_.train_report);
    copy(all, border, all.tokens(), "valid", dataset_.valid_report);
    std::error_code ignored;
    for (const char* extension : {".tokens", ".index"}) fs::remove((data_ / "all") += extension, ignored);
  }

  void encode_files_of_stream() {
    const double share = std::exchange(hold_out_share_, 0);
    encode_files(recipe_.data.train, "all", dataset_.train_report, false);
    hold_out_share_ = share;
  }

  void copy(const TokenStore& from, int64_t begin, int64_t end, const std::string& set, CorpusReport& report) const {
    constexpr int64_t kAtOnce = 1 << 16;
    TokenStoreWriter writer(data_ / set);
    for (int64_t at = begin; at < end; at += kAtOnce) writer.add(from.ids(at, std::min(kAtOnce, end - at)), {});
    writer.commit();
    report.tokens[0] = end - begin;
    report.kept = std::max<int64_t>(report.kept, end > begin);
  }

  void save() const;

  const Recipe& recipe_;
  Task task_;
  fs::path folder_, data_;
  DataProgress progress_;
  Dataset dataset_;
  int64_t lines_ = 0;
  double hold_out_share_ = 0;  // of the training lines, where no validation files are named
  std::unordered_set<uint64_t> valid_hashes_;
};

Json to_json(const CorpusReport& report) {
  return {{"lines", report.lines},
          {"kept", report.kept},
          {"duplicates", report.duplicates},
          {"dropped", report.dropped},
          {"first_dropped", report.first_dropped},
          {"tokens", {report.tokens[0], report.tokens[1]}},
          {"cut", report.cut},
          {"unknown", report.unknown},
          {"longest", report.longest},
          {"lengths", report.lengths}};
}

CorpusReport report_from(const Json& json) {
  CorpusReport report;
  report.lines = json.at("lines");
  report.kept = json.at("kept");
  report.duplicates = json.at("duplicates");
  report.dropped = json.at("dropped").get<std::map<std::string, int64_t>>();
  report.first_dropped = json.at("first_dropped").get<std::map<std::string, int64_t>>();
  report.tokens[0] = json.at("tokens")[0];
  report.tokens[1] = json.at("tokens")[1];
  report.cut = json.value("cut", int64_t{0});
  report.unknown = json.at("unknown");
  report.longest = json.at("longest");
  report.lengths = json.at("lengths").get<std::vector<int64_t>>();
  return report;
}

constexpr std::array kStores = {"train.tokens", "train.index", "valid.tokens", "valid.index"};

// Written last: a folder without it was not finished and is made again.
void Preparation::save() const {
  Json checksums = Json::object();
  for (const char* name : kStores) checksums[name] = hash_text(hash_file(data_ / name));
  const Json json = {{"made_from", dataset_.record.json()},
                     {"checksums", checksums},
                     {"train", to_json(dataset_.train_report)},
                     {"valid", to_json(dataset_.valid_report)},
                     {"overlap", dataset_.overlap},
                     {"overlap_line", dataset_.overlap_line},
                     {"labels", dataset_.labels},
                     {"valid_texts", dataset_.valid_texts}};
  write_text(data_ / "dataset.json", json.dump(1, ' ') + "\n");
}

bool Preparation::is_made(const DatasetRecord& record) const {
  std::error_code ignored;
  if (!fs::exists(data_ / "dataset.json", ignored)) return false;
  const nlohmann::json json = read_json(data_ / "dataset.json");
  const auto made = json.is_object() ? record_from(json.value("made_from", nlohmann::json())) : std::nullopt;
  return made && differences(*made, record).empty();
}

Dataset Preparation::load() const {
  const Json json = read_json(data_ / "dataset.json");
  const char* const remedy = "delete the folder it is in, it is made again from the text";
  const auto made = json.is_object() && json.contains("made_from") ? record_from(json["made_from"]) : std::nullopt;
  check(
      made.has_value(), "[data] {}: does not say what the ids were made from: {}",
      [&] { return (data_ / "dataset.json").string(); }, remedy);
  Dataset dataset;
  std::map<std::string, std::string> checksums;
  try {
    dataset.record = *made;
    checksums = json.at("checksums").get<std::map<std::string, std::string>>();
    dataset.train_report = report_from(json.at("train"));
    dataset.valid_report = report_from(json.at("valid"));
    dataset.overlap = json.at("overlap");
    dataset.overlap_line = json.at("overlap_line");
    dataset.labels = json.at("labels").get<std::vector<std::string>>();
    dataset.valid_texts = json.at("valid_texts").get<std::vector<std::pair<std::string, std::string>>>();
  } catch (const nlohmann::json::exception& error) {
    fail("[data] {}: {}: {}", (data_ / "dataset.json").string(), json_reason(error), remedy);
  }
  for (const char* name : kStores)
    check(
        hash_text(hash_file(data_ / name)) == checksums[name], "[data] {}: is damaged: {}",
        [&] { return (data_ / name).string(); }, remedy);
  check_tokenizer(folder_, dataset.record.tokenizer);
  dataset.tokenizers = load_tokenizers(folder_);
  dataset.train = std::make_unique<TokenStore>(data_ / "train");
  dataset.valid = std::make_unique<TokenStore>(data_ / "valid");
  const int64_t seconds =
      task_ == Task::classification ? std::ssize(dataset.labels) : dataset.tokenizers.target->size();
  for (const TokenStore* store : {dataset.train.get(), dataset.valid.get()})
    store->check_ids(dataset.tokenizers.source->size(), seconds);
  return dataset;
}

}  // namespace

std::string model_type_of(const Recipe& recipe) {
  const auto type = recipe.model.find("model_type");
  check(type != recipe.model.end() && type->is_string(),
        "[recipe] model.model_type is missing: marian, pegasus, gpt2, llama, bert or rnn_seq2seq");
  return type->get<std::string>();
}

Task task_of(const Recipe& recipe) {
  const std::optional<Family> family = family_of(model_type_of(recipe));
  if (family == Family::language_model) return Task::language_model;
  if (family == Family::encoder) return recipe.data.labels ? Task::classification : Task::masked;
  return Task::translation;
}

fs::path data_path(const Recipe& recipe, const std::string& name) {
  const fs::path path = recipe.data.folder.empty() ? fs::path(name) : fs::path(recipe.data.folder) / name;
  std::error_code none;
  const fs::path packed = path.string() + ".gz";
  return !fs::exists(path, none) && fs::exists(packed, none) ? packed : path;
}

CorpusFiles corpus_files(const Recipe& recipe, const std::vector<std::string>& names) {
  const Task task = task_of(recipe);
  CorpusFiles files;
  for (const std::string& name : names) files.paths.push_back(data_path(recipe, name));
  files.pairs = task == Task::translation || task == Task::classification;
  files.columns = {recipe.data.columns[0], recipe.data.columns[1]};
  files.stream = recipe.data.unit == "stream";
  return files;
}

Dataset prepare_dataset(const Recipe& recipe, const fs::path& folder, const DataProgress& progress) {
  check(!recipe.data.train.empty(), "[data] data.train names no file: what shall be learned?");
  const DatasetRecord record = record_dataset(recipe);
  const std::optional<DatasetRecord> trained = trained_dataset(folder);
  if (trained) {
    const std::vector<std::string> changes = differences(*trained, record);
    check(changes.empty(),
          "[data] {}: the run was trained on other files or settings than the recipe names now: {}: choose another "
          "folder, or put them back",
          folder, fmt::join(changes, ", "));
  }
  Preparation preparation(recipe, folder, progress);
  return preparation.is_made(record) ? preparation.load() : preparation.make(record, trained);
}

Dataset open_dataset(const Recipe& recipe, const fs::path& folder) {
  const Preparation preparation(recipe, folder, {});
  check(preparation.is_made(record_dataset(recipe)),
        "[data] {}: the data that rank 0 has prepared is not there: the run's folder has to lie on a disk that all "
        "machines share, under the same path",
        folder);
  return preparation.load();
}

}  // namespace limpid
