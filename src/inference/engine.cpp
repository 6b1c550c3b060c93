#include "inference/engine.h"

#include <algorithm>
#include <limits>

#include "base/parallel.h"

namespace limpid {

Engine::Engine(const Model& model, EngineOptions options)
    : model_(model), options_(std::move(options)), state_(make_decoder_state(model)) {
  check(options_.texts_at_once >= 1, "[engine] {} texts at once: it takes one", options_.texts_at_once);
  check(options_.memory >= 0, "[engine] a memory of {} bytes: it is 0 (no bound) or more", options_.memory);
}

int64_t Engine::bytes_for(const Writing& writing) const {
  const auto [rows, tokens] = writing.most();
  const int64_t scores = rows * model_.config().vocab * static_cast<int64_t>(sizeof(real));
  return state_->bytes_for({static_cast<int64_t>(writing.text().size()), tokens, rows}) + scores;
}

int64_t Engine::add(std::unique_ptr<Writing> writing, std::optional<Clock::time_point> deadline) {
  const int64_t bytes = bytes_for(*writing);
  check(options_.memory == 0 || bytes <= options_.memory,
        "[engine] a text can come to need {} bytes of memory and the bound is {}: raise it, narrow the beam or ask for "
        "fewer tokens",
        bytes, options_.memory);
  waiting_.push_back({added_, std::move(writing), deadline, bytes});
  return added_++;
}

// What is remembered gives way to texts that run.
void Engine::make_room() {
  const int64_t left = options_.memory > 0 ? options_.memory - set_aside_ : std::numeric_limits<int64_t>::max();
  state_->forget_down_to(std::min(options_.prefix_memory, left));
}

EngineMemory Engine::memory() const {
  const int64_t used = state_->bytes();
  return {used, std::max(most_used_, std::max(used, state_->most_bytes())), set_aside_, state_->remembered_bytes()};
}

// The text with its rows taken out.
Engine::Text Engine::take(size_t index) {
  Text text = std::move(texts_[index]);
  int64_t begin = 0;
  for (size_t i = 0; i < index; ++i) begin += texts_[i].rows;
  texts_.erase(texts_.begin() + static_cast<ptrdiff_t>(index));
  std::vector<int32_t> rows;
  for (int64_t i = 0; i < state_->rows(); ++i)
    if (i < begin || i >= begin + text.rows) rows.push_back(static_cast<int32_t>(i));
  state_->keep(rows);
  ids_.erase(ids_.begin() + begin, ids_.begin() + begin + text.rows);
  set_aside_ -= text.bytes;
  return text;
}

bool Engine::cancel(int64_t number) {
  const auto has_number = [&](const Text& text) { return text.number == number; };
  if (const auto waits = std::find_if(waiting_.begin(), waiting_.end(), has_number); waits != waiting_.end()) {
    const Text text = std::move(*waits);
    waiting_.erase(waits);
    text.writing->stop(Ending::cancelled);
    return true;
  }
  const auto runs = std::find_if(texts_.begin(), texts_.end(), has_number);
  if (runs == texts_.end()) return false;
  take(static_cast<size_t>(runs - texts_.begin())).writing->stop(Ending::cancelled);
  return true;
}

void Engine::end_overdue() {
  const Clock::time_point now = options_.now();
  const auto overdue = [&](const Text& text) { return text.deadline && *text.deadline <= now; };
  std::vector<Text> ended;
  for (size_t i = texts_.size(); i-- > 0;)
    if (overdue(texts_[i])) ended.push_back(take(i));
  std::deque<Text> waiting;
  for (Text& text : waiting_) {
    if (overdue(text))
      ended.push_back(std::move(text));
    else
      waiting.push_back(std::move(text));
  }
  waiting_ = std::move(waiting);
  for (const Text& text : ended) text.writing->stop(Ending::deadline);
}

bool Engine::fits(const Text& text) { return options_.memory == 0 || set_aside_ + text.bytes <= options_.memory; }

// New texts come a few at a time, so that the model has something to work on while it reads.
void Engine::begin_waiting() {
  const int64_t room = options_.texts_at_once - running();
  if (running() > 0 && room < std::max<int64_t>(1, options_.texts_at_once / 8)) return;
  std::vector<Text> texts;
  int64_t tokens = 0;
  while (!waiting_.empty() && static_cast<int64_t>(texts.size()) < room && fits(waiting_.front())) {
    Text& text = waiting_.front();
    const auto length = static_cast<int64_t>(text.writing->text().size());
    if (!texts.empty() && tokens + length > options_.tokens_at_once) break;
    tokens += length;
    set_aside_ += text.bytes;
    texts.push_back(std::move(text));
    waiting_.pop_front();
  }
  if (texts.empty()) return;
  make_room();
  read(std::move(texts));
}

void Engine::read(std::vector<Text> texts) {
  std::vector<std::vector<int32_t>> ids;
  std::vector<int64_t> limits;
  for (const Text& text : texts) {
    ids.push_back(text.writing->text());
    limits.push_back(text.writing->most().tokens);
  }
  for (const int32_t id : state_->add(ids, limits)) ids_.push_back(id);
  for (Text& text : texts) {
    text.rows = 1;
    texts_.push_back(std::move(text));
  }
}

// Every text chooses; those that are done leave.
void Engine::go_on() {
  std::vector<Text> going_on, anew, done;
  std::vector<int32_t> rows, ids;
  int64_t first = 0;
  for (Text& text : texts_) {
    text.writing->advance();
    const std::vector<Writing::Row> next = text.writing->rows();
    const int64_t before = std::exchange(text.rows, static_cast<int64_t>(next.size()));
    if (next.empty()) {
      state_->remember(first);
      done.push_back(std::move(text));
    } else if (text.writing->starts_anew()) {
      anew.push_back(std::move(text));
    } else {
      for (const Writing::Row& row : next) {
        rows.push_back(static_cast<int32_t>(first + row.parent));
        ids.push_back(row.id);
      }
      going_on.push_back(std::move(text));
    }
    first += before;
  }
  state_->keep(rows);
  texts_ = std::move(going_on);
  ids_ = std::move(ids);
  for (const Text& text : done) set_aside_ -= text.bytes;
  make_room();
  if (!anew.empty()) read(std::move(anew));
  for (const Text& text : done) text.writing->finish();
}

bool Engine::step() {
  end_overdue();
  begin_waiting();
  if (texts_.empty()) return !waiting_.empty();
  Tensor scores = state_->step(ids_);
  const Matrix values = scores.values();
  std::vector<std::pair<Writing*, int64_t>> rows;
  for (const Text& text : texts_)
    for (int64_t i = 0; i < text.rows; ++i) rows.emplace_back(text.writing.get(), i);
  parallel_for(static_cast<int64_t>(rows.size()), [&](int64_t i) {
    rows[i].first->look(rows[i].second, {values.row(i), static_cast<size_t>(values.cols)});
  });
  scores = {};
  most_used_ = std::max(most_used_, state_->bytes());
  go_on();
  return !texts_.empty() || !waiting_.empty();
}

}  // namespace limpid
