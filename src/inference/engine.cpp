#include "inference/engine.h"

#include <algorithm>
#include <limits>

#include "base/as_errors.h"
#include "base/parallel.h"
#include "base/seconds_since.h"

namespace limpid {

Engine::Engine(const Model& model, EngineOptions options) : model_(model), options_(std::move(options)) {
  check(options_.max_batch >= 1, "[engine] {} texts at once: it takes one", options_.max_batch);
  check(options_.max_prefill_tokens >= 1, "[engine] {} tokens of prompts in a step: it takes one",
        options_.max_prefill_tokens);
  check(options_.memory >= 0, "[engine] a memory of {} bytes: it is 0 (no bound) or more", options_.memory);
  lanes_.push_back({.state = make_decoder_state(model)});
}

int64_t Engine::running() const {
  size_t texts = 0;
  for (const Lane& lane : lanes_) texts += lane.texts.size() + lane.reading.size();
  return static_cast<int64_t>(texts);
}

bool Engine::has(int64_t number) const {
  const auto is_it = [&](const Text& text) { return text.number == number; };
  return std::any_of(waiting_.begin(), waiting_.end(), is_it) ||
         std::any_of(lanes_.begin(), lanes_.end(), [&](const Lane& lane) {
           return std::any_of(lane.texts.begin(), lane.texts.end(), is_it) ||
                  std::any_of(lane.reading.begin(), lane.reading.end(), is_it);
         });
}

// Numbers wait in the order in which they were given.
bool Engine::waits(int64_t number) const {
  const auto at = std::lower_bound(waiting_.begin(), waiting_.end(), number,
                                   [](const Text& text, int64_t wanted) { return text.number < wanted; });
  return at != waiting_.end() && at->number == number;
}

int64_t Engine::reused_tokens() const {
  int64_t tokens = 0;
  for (const Lane& lane : lanes_) tokens += lane.state->reused_tokens();
  return tokens;
}

int64_t Engine::used() const {
  int64_t bytes = 0;
  for (const Lane& lane : lanes_) bytes += lane.state->bytes();
  return bytes;
}

int64_t Engine::bytes_for(const GenerationTask& task) const {
  const GenerationTask::Limits most = task.limits();
  const int64_t scores = most.rows * model_.config().vocab * static_cast<int64_t>(sizeof(real));
  const auto text = static_cast<int64_t>(task.text().size());
  return lanes_[0].state->bytes_for({text, most.tokens_per_block(), most.rows}) + scores;
}

int64_t Engine::add(std::unique_ptr<GenerationTask> task, std::optional<Clock::time_point> deadline) {
  const int64_t bytes = bytes_for(*task);
  check(options_.memory == 0 || bytes <= options_.memory,
        "[engine] a text can come to need {} bytes of memory and the bound is {}: raise it, narrow the beam or ask for "
        "fewer tokens",
        bytes, options_.memory);
  waiting_.push_back({added_, std::move(task), deadline, bytes});
  return added_++;
}

// What is remembered gives way to texts that run.
void Engine::make_room() {
  const int64_t left = options_.memory > 0 ? options_.memory - set_aside_ : std::numeric_limits<int64_t>::max();
  const auto lanes = static_cast<int64_t>(lanes_.size());
  for (const Lane& lane : lanes_) lane.state->evict_to(std::min(options_.prefix_memory, left) / lanes);
}

EngineMemory Engine::memory() const {
  int64_t remembered = 0;
  for (const Lane& lane : lanes_) remembered += lane.state->remembered_bytes();
  const int64_t most = lanes_.size() == 1 ? lanes_[0].state->most_bytes() : 0;
  return {used(), std::max({most_used_, used(), most}), set_aside_, remembered};
}

// The text with its rows taken out.
Engine::Text Engine::Lane::take(size_t index) {
  Text text = std::move(texts[index]);
  int64_t begin = 0;
  for (size_t i = 0; i < index; ++i) begin += texts[i].rows;
  texts.erase(texts.begin() + static_cast<ptrdiff_t>(index));
  std::vector<int32_t> rows;
  for (int64_t i = 0; i < state->rows(); ++i)
    if (i < begin || i >= begin + text.rows) rows.push_back(static_cast<int32_t>(i));
  state->reorder(rows);
  ids.erase(ids.begin() + begin, ids.begin() + begin + text.rows);
  return text;
}

Engine::Text Engine::Lane::take_reading(size_t index) {
  Text text = std::move(reading[index]);
  reading.erase(reading.begin() + static_cast<ptrdiff_t>(index));
  state->drop_unread(static_cast<int64_t>(index));
  return text;
}

// The first text of a lane that the condition holds for, taken out.
template <class Condition>
std::optional<Engine::Text> Engine::take_first(Lane& lane, const Condition& condition) {
  const auto index_in = [&](const std::vector<Text>& texts) {
    return static_cast<size_t>(std::find_if(texts.begin(), texts.end(), condition) - texts.begin());
  };
  std::optional<Text> text;
  if (const size_t index = index_in(lane.texts); index < lane.texts.size())
    text = lane.take(index);
  else if (const size_t unread = index_in(lane.reading); unread < lane.reading.size())
    text = lane.take_reading(unread);
  if (text) set_aside_ -= text->bytes;
  return text;
}

bool Engine::cancel(int64_t number) {
  const auto has_number = [&](const Text& text) { return text.number == number; };
  if (const auto waits = std::find_if(waiting_.begin(), waiting_.end(), has_number); waits != waiting_.end()) {
    const Text text = std::move(*waits);
    waiting_.erase(waits);
    text.task->stop(FinishReason::cancelled);
    return true;
  }
  for (Lane& lane : lanes_)
    if (const auto text = take_first(lane, has_number)) {
      text->task->stop(FinishReason::cancelled);
      return true;
    }
  return false;
}

void Engine::end_overdue() {
  const Clock::time_point now = options_.now();
  const auto overdue = [&](const Text& text) { return text.deadline && *text.deadline <= now; };
  std::vector<Text> ended;
  for (Lane& lane : lanes_)
    while (auto text = take_first(lane, overdue)) ended.push_back(std::move(*text));
  std::deque<Text> waiting;
  for (Text& text : waiting_) {
    if (overdue(text))
      ended.push_back(std::move(text));
    else
      waiting.push_back(std::move(text));
  }
  waiting_ = std::move(waiting);
  for (const Text& text : ended) text.task->stop(FinishReason::deadline);
}

bool Engine::fits(const Text& text) const { return options_.memory == 0 || set_aside_ + text.bytes <= options_.memory; }

// Where many wait, new texts come a few at a time, so that the model has something to work on while it reads.
void Engine::choose_for(Lane& lane) {
  const auto running = static_cast<int64_t>(lane.texts.size() + lane.reading.size());
  const int64_t room = options_.max_batch - running;
  if (running > 0 && room < std::min(std::max<int64_t>(1, options_.max_batch / 8), waiting())) return;
  int64_t tokens = 0;
  while (!waiting_.empty() && static_cast<int64_t>(lane.coming.size()) < room && fits(waiting_.front())) {
    Text& text = waiting_.front();
    const auto length = static_cast<int64_t>(text.task->text().size());
    if (!lane.coming.empty() && tokens + length > options_.max_prefill_tokens) break;
    tokens += length;
    set_aside_ += text.bytes;
    lane.coming.push_back(std::move(text));
    waiting_.pop_front();
  }
}

void Engine::begin_waiting() {
  const auto full = [&](const Lane& lane) {
    return static_cast<int64_t>(lane.texts.size() + lane.reading.size() + lane.coming.size()) >= options_.max_batch;
  };
  for (size_t i = 0; i < lanes_.size() && !waiting_.empty(); ++i) {
    choose_for(lanes_[i]);
    const bool more = i + 1 == lanes_.size() && full(lanes_[i]) && !waiting_.empty() && fits(waiting_.front());
    if (more && static_cast<int>(lanes_.size()) < threads()) lanes_.push_back({.state = make_decoder_state(model_)});
  }
  make_room();
}

void Engine::Lane::begin(std::vector<Text> begun) {
  std::vector<std::vector<int32_t>> sources;
  std::vector<int64_t> limits;
  for (Text& text : begun) {
    sources.push_back(text.task->text());
    limits.push_back(text.task->limits().tokens_per_block());
    reading.push_back(std::move(text));
  }
  state->begin(sources, limits);
}

// So many tokens of prompts as fit into a step beside the texts that are being written. Where those leave no time, the
// prompts wait, but not for ever: every step owes them a little, which is read at once when it is worth a pass.
int64_t Engine::Lane::prompt_tokens(const EngineOptions& options, const StepCost& cost) {
  constexpr int64_t kFirst = 64, kLeast = 16, kOwedPerStep = 4;
  if (options.step_seconds == 0) return options.max_prefill_tokens;
  if (!cost.known()) return std::min(kFirst, options.max_prefill_tokens);
  const StepWork generation{.written = std::ssize(ids), .keys = state->keys_of_step()};
  const int64_t fits =
      state->tokens_within(options.step_seconds - cost.seconds(generation),
                           {.token = cost.per_prompt_token(), .key = cost.per_key(), .text = cost.per_written_token()});
  owed += kOwedPerStep;
  if (fits < kLeast && owed < kLeast && !texts.empty()) return 0;
  owed = 0;
  return std::min(std::max(fits, kLeast), options.max_prefill_tokens);
}

// Texts whose prompt is read join those that are written.
void Engine::Lane::read(int64_t tokens) {
  const std::vector<int32_t> first = state->read_on(tokens);
  const auto end = reading.begin() + static_cast<ptrdiff_t>(first.size());
  for (auto text = reading.begin(); text != end; ++text) {
    text->rows = 1;
    texts.push_back(std::move(*text));
  }
  reading.erase(reading.begin(), end);
  ids.insert(ids.end(), first.begin(), first.end());
}

// Every row has its scores and every text has looked at them.
void Engine::Lane::write() {
  std::vector<std::pair<GenerationTask*, int64_t>> rows;
  for (const Text& text : texts)
    for (int64_t i = 0; i < text.rows; ++i) rows.emplace_back(text.task.get(), i);
  state->step(ids, [&](int64_t first, Matrix scores) {
    parallel_for(scores.rows, [&](int64_t i) {
      const auto [task, row] = rows[first + i];
      task->on_logits(row, {scores.row(i), static_cast<size_t>(scores.cols)});
    });
  });
}

void Engine::Lane::step(const EngineOptions& options, const StepCost& cost) {
  begin(std::exchange(coming, {}));
  const auto start = Clock::now();
  const int64_t keys = state->keys_attended(), prompts = state->prompt_tokens_read();
  const int64_t readable = reading.empty() ? 0 : prompt_tokens(options, cost);
  if (readable > 0) read(readable);
  const auto written = std::ssize(ids);
  if (texts.empty())
    state->finish_reading();
  else
    write();
  work = {written, state->prompt_tokens_read() - prompts, state->keys_attended() - keys};
  seconds = seconds_since(start);
}

// Every text chooses; those that are done leave.
void Engine::go_on(Lane& lane) {
  std::vector<Text> going_on, anew, done;
  std::vector<int32_t> rows, ids;
  int64_t first = 0;
  for (Text& text : lane.texts) {
    text.task->advance();
    const std::vector<GenerationTask::Row> next = text.task->rows();
    const int64_t before = std::exchange(text.rows, static_cast<int64_t>(next.size()));
    if (next.empty()) {
      lane.state->cache_prefix(first);
      done.push_back(std::move(text));
    } else if (text.task->starts_anew()) {
      anew.push_back(std::move(text));
    } else {
      for (const GenerationTask::Row& row : next) {
        rows.push_back(static_cast<int32_t>(first + row.parent));
        ids.push_back(row.id);
      }
      going_on.push_back(std::move(text));
    }
    first += before;
  }
  lane.state->reorder(rows);
  lane.texts = std::move(going_on);
  lane.ids = std::move(ids);
  for (const Text& text : done) set_aside_ -= text.bytes;
  make_room();
  lane.begin(std::move(anew));
  for (const Text& text : done) text.task->finish();
}

bool Engine::step() {
  return as_errors([&] { return take_step(); });
}

bool Engine::take_step() {
  end_overdue();
  begin_waiting();
  std::vector<size_t> busy;
  for (size_t i = 0; i < lanes_.size(); ++i)
    if (!lanes_[i].idle()) busy.push_back(i);
  while (costs_.size() < busy.size()) {  // a guess: threads that are shared take as much longer
    const auto sharing = static_cast<double>(costs_.size());
    costs_.push_back(costs_.empty() ? StepCost() : costs_.back().times((sharing + 1) / sharing));
  }
  const auto step_of = [&](int64_t i) { lanes_[busy[i]].step(options_, costs_[busy.size() - 1]); };
  parallel_for(static_cast<int64_t>(busy.size()), step_of);
  for (const size_t i : busy) costs_[busy.size() - 1].learn(lanes_[i].work, lanes_[i].seconds);
  texts_of_step_ = busy.empty() ? 0 : running();
  most_used_ = std::max(most_used_, used());
  for (const size_t i : busy) go_on(lanes_[i]);
  return running() > 0 || !waiting_.empty();
}

}  // namespace limpid
