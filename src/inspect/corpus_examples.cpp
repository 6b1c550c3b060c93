#include "inspect/corpus_examples.h"

#include <algorithm>

#include "base/error.h"
#include "inference/decoder_state.h"
#include "inference/model_text.h"

namespace limpid {
namespace {

void cut(std::vector<int32_t>& ids, int64_t most) {
  if (static_cast<int64_t>(ids.size()) > most) ids.resize(static_cast<size_t>(most));
}

// As Session::example, but a text that is longer than the model was made for is cut.
Example example_of_text(const Session& session, const Text& text) {
  const int64_t most = context_length(session.config());
  std::vector<int32_t> read = input_ids(session.loaded, text.text), written;
  cut(read, most);
  if (session.two_sided()) {
    written = target_ids(session.loaded, text.target);
    cut(written, most);
  }
  Example example =
      example_of(session.config(), session.two_sided() ? read : written, session.two_sided() ? written : read);
  if (session.two_sided()) example.source = pieces_of(session.reader(), read);
  example.input = pieces_of(session.writer(), example.batch.input.ids);
  return example;
}

void append(Tokens& to, std::vector<int64_t>& lengths, const Tokens& tokens) {
  to.ids.insert(to.ids.end(), tokens.ids.begin(), tokens.ids.end());
  lengths.push_back(static_cast<int64_t>(tokens.ids.size()));
}

}  // namespace

CorpusExamples::CorpusExamples(const Session& session, CorpusOptions options)
    : session_(&session), options_(std::move(options)) {
  check(!options_.files.empty(), "[corpus] name a file of texts");
  check(!session.two_sided() || options_.files.size() == 2,
        "[corpus] this model reads pairs: name two files, SOURCE TARGET, line by line");
  check(session.two_sided() || options_.files.size() == 1, "[corpus] this model reads one text: name one file");
  check(options_.window == 0 || session.config().continues_text(),
        "[corpus] only language models read a text as one stream: leave the window out");
  check(options_.window <= most_positions(session.config()), "[corpus] the window is {}, the model reads {} tokens",
        options_.window, most_positions(session.config()));
  restart();
}

void CorpusExamples::restart() {
  source_.emplace(options_.files[0]);
  if (options_.files.size() > 1) target_.emplace(options_.files[1]);
  stream_.clear();
  given_ = 0;
}

double CorpusExamples::progress() const {
  const double texts = options_.most > 0 ? static_cast<double>(given_) / static_cast<double>(options_.most) : 0;
  return std::max(source_->progress(), texts);
}

std::optional<Example> CorpusExamples::next() {
  if (options_.most > 0 && given_ >= options_.most) return std::nullopt;
  std::optional<Example> example = options_.window > 0 ? next_window() : next_line();
  given_ += example.has_value();
  return example;
}

std::optional<Example> CorpusExamples::next_line() {
  while (const auto line = source_->next()) {
    Text text{std::string(*line), ""};
    if (target_) {
      const auto other = target_->next();
      check(other.has_value(), "[corpus] {} has fewer lines than {}", options_.files[1], options_.files[0]);
      text.target = std::string(*other);
    }
    if (text.text.empty() || (target_ && text.target.empty())) continue;
    return example_of_text(*session_, text);
  }
  return std::nullopt;
}

std::optional<Example> CorpusExamples::next_window() {
  const auto wanted = static_cast<size_t>(options_.window);
  while (stream_.size() < wanted) {
    const auto line = source_->next();
    if (!line) return std::nullopt;  // what is left is shorter than a window
    const std::vector<int32_t> ids = session_->reader().encode(std::string(*line) + "\n");
    stream_.insert(stream_.end(), ids.begin(), ids.end());
  }
  std::vector<int32_t> ids(stream_.begin(), stream_.begin() + options_.window);
  stream_.erase(stream_.begin(), stream_.begin() + options_.window);
  Example example = example_of(session_->config(), {}, ids);
  example.input = pieces_of(session_->reader(), ids);
  return example;
}

Batch join_examples(const Config& config, const std::vector<Example>& examples) {
  Batch batch;
  std::vector<int64_t> sources, inputs;
  for (const Example& example : examples) {
    append(batch.input, inputs, example.batch.input);
    if (!example.batch.source.ids.empty()) append(batch.source, sources, example.batch.source);
    if (config.labels.empty())
      batch.labels.insert(batch.labels.end(), example.next.begin(), example.next.end());
    else
      batch.labels.insert(batch.labels.end(), example.next.size(), -1);
  }
  batch.input.sequences = Sequences(inputs);
  if (!sources.empty()) batch.source.sequences = Sequences(sources);
  return batch;
}

const std::vector<std::string>& tokens_at(const Example& example, bool source) {
  return source ? example.source : example.input;
}

}  // namespace limpid
