#include "server/engine_service.h"

#include <algorithm>

#include "base/turns.h"
#include "server/router.h"
#include "server/workers.h"

namespace limpid {

EngineService::EngineService(const Model& model, EngineServiceOptions options)
    : model_(model), options_(std::move(options)), engine_(std::make_unique<Engine>(model, options_.engine)) {
  thread_ = std::thread([this] {
    block_signals();
    work();
  });
}

EngineService::~EngineService() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

int64_t EngineService::submit(Job job) {
  int64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    if (ends_) throw HttpError(503, "The server is stopping.");
    if (waiting_ >= options_.waiting)
      throw HttpError(
          429, fmt::format("{} requests are waiting and {} may: try again soon.", waiting_.load(), options_.waiting),
          {.code = "queue_full", .headers = {{"Retry-After", "1"}}});
    if (job.accepted) job.accepted();
    ++waiting_;
    number = submitted_++;
    coming_.emplace_back(number, std::move(job));
  }
  changed_.notify_one();
  return number;
}

void EngineService::cancel(int64_t job) {
  {
    const std::lock_guard lock(mutex_);
    cancelled_.push_back(job);
  }
  changed_.notify_one();
}

EngineMemory EngineService::memory() const {
  const std::lock_guard lock(mutex_);
  return memory_;
}

void EngineService::end(Begun& job, FinishReason why) {
  for (auto& text : std::exchange(job.coming, {})) text->stop(why);
  for (const int64_t text : job.texts) engine_->cancel(text);
}

// Texts that the engine has are ended by the engine.
void EngineService::end_overdue() {
  const auto now = options_.engine.now();
  for (auto& [number, job] : jobs_)
    if (job.deadline && *job.deadline <= now)
      for (auto& text : std::exchange(job.coming, {})) text->stop(FinishReason::deadline);
}

// False: the job has failed.
bool EngineService::hand_on_one(std::map<int64_t, Begun>::iterator job) {
  Begun& begun = job->second;
  std::unique_ptr<GenerationTask> text = std::move(begun.coming.front());
  begun.coming.pop_front();
  try {
    begun.texts.push_back(engine_->add(std::move(text), begun.deadline));
    ++handed_on_;
    return true;
  } catch (const std::exception& error) {
    const auto failed = std::move(begun.failed);
    if (failed) failed(as_http_error(error));
    end(begun, FinishReason::cancelled);
    return false;
  }
}

// One text of each job in turn, as many as the engine's next steps can begin.
void EngineService::hand_on() {
  const int64_t most = 2 * options_.engine.max_batch;
  const auto has_more = [](const auto& job) { return !job.second.coming.empty(); };
  while (engine_->waiting() < most) {
    auto job = std::find_if(jobs_.upper_bound(last_served_), jobs_.end(), has_more);
    if (job == jobs_.end()) job = std::find_if(jobs_.begin(), jobs_.end(), has_more);
    if (job == jobs_.end()) return;
    last_served_ = job->first;
    if (!hand_on_one(job)) jobs_.erase(job);
  }
}

// Of jobs that are done nothing is left.
void EngineService::forget_finished() {
  bool ended = engine_->running() + engine_->waiting() != handed_on_;
  for (auto& [number, job] : jobs_) {
    job.waits = job.waits && (job.texts.empty() || engine_->waits(job.texts.front()));
    ended = ended || (job.texts.empty() && job.coming.empty());
  }
  if (!ended) return;
  handed_on_ = engine_->running() + engine_->waiting();
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    Begun& begun = job->second;
    std::erase_if(begun.texts, [&](int64_t text) { return !engine_->has(text); });
    job = begun.texts.empty() && begun.coming.empty() ? jobs_.erase(job) : std::next(job);
  }
}

// A step that throws leaves texts half changed: none of them can go on.
void EngineService::fail_all(const HttpError& error) {
  engine_ = std::make_unique<Engine>(model_, options_.engine);
  handed_on_ = 0;
  for (const auto& [number, job] : std::exchange(jobs_, {}))
    if (job.failed) job.failed(error);
}

void EngineService::take_stock() {
  const std::lock_guard lock(mutex_);
  const auto waits = [](const auto& job) { return job.second.waits; };
  waiting_ = std::ssize(coming_) + std::count_if(jobs_.begin(), jobs_.end(), waits);
  running_ = engine_->running();
  reused_tokens_ = engine_->reused_tokens();
  memory_ = engine_->memory();
}

void EngineService::work() {
  for (;;) {
    std::vector<std::pair<int64_t, Job>> coming;
    std::vector<int64_t> cancelled;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ends_ || !jobs_.empty() || !coming_.empty() || !cancelled_.empty(); });
      if (ends_) break;
      coming.swap(coming_);
      cancelled.swap(cancelled_);
    }
    for (auto& [number, job] : coming) {
      Begun& begun = jobs_[number] = {.deadline = job.deadline, .failed = std::move(job.failed)};
      for (auto& text : job.texts) begun.coming.push_back(std::move(text));
    }
    for (const int64_t number : cancelled)
      if (const auto found = jobs_.find(number); found != jobs_.end()) end(found->second, FinishReason::cancelled);
    step();
    forget_finished();
    take_stock();
  }
  fail_all(HttpError(503, "The server is stopping."));
}

void EngineService::step() {
  std::optional<ForegroundWork> turn(std::in_place);
  const auto start = Engine::Clock::now();
  try {
    const RepliesTogether together;
    end_overdue();
    hand_on();
    engine_->step();
  } catch (const std::exception& error) {
    fail_all(as_http_error(error));
  }
  const double seconds = std::chrono::duration<double>(Engine::Clock::now() - start).count();
  turn.reset();
  if (options_.observe && engine_->texts_of_step() > 0) options_.observe({seconds, engine_->texts_of_step()});
}

}  // namespace limpid
