#include "server/engine_service.h"

#include "base/turns.h"
#include "server/http.h"
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
  const auto texts = static_cast<int64_t>(job.texts.size());
  int64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    if (ends_) throw HttpError(503, "The server is stopping.");
    if (texts > options_.waiting)
      throw HttpError(
          400, fmt::format("{} texts are asked for at once and {} may wait: ask for fewer.", texts, options_.waiting));
    if (waiting_ + texts > options_.waiting)
      throw HttpError(
          429, fmt::format("{} texts are waiting and {} may: try again soon.", waiting_.load(), options_.waiting),
          {.code = "queue_full", .headers = {{"Retry-After", "1"}}});
    if (job.accepted) job.accepted();
    waiting_ += texts;
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

void EngineService::begin(int64_t number, Job job) {
  Begun begun{.failed = std::move(job.failed)};
  try {
    for (auto& text : job.texts) begun.texts.push_back(engine_->add(std::move(text), job.deadline));
  } catch (const std::exception& error) {
    for (const int64_t text : begun.texts) engine_->cancel(text);
    if (begun.failed) begun.failed(error.what());
    return;
  }
  texts_of_jobs_ += static_cast<int64_t>(begun.texts.size());
  jobs_[number] = std::move(begun);
}

// Jobs none of whose texts is left in the engine.
void EngineService::forget_finished() {
  if (engine_->running() + engine_->waiting() == texts_of_jobs_) return;
  texts_of_jobs_ = 0;
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    std::erase_if(job->second.texts, [&](int64_t text) { return !engine_->has(text); });
    texts_of_jobs_ += static_cast<int64_t>(job->second.texts.size());
    job = job->second.texts.empty() ? jobs_.erase(job) : std::next(job);
  }
}

// A step that throws leaves texts half changed: none of them can go on.
void EngineService::fail_all(const std::string& message) {
  engine_ = std::make_unique<Engine>(model_, options_.engine);
  texts_of_jobs_ = 0;
  for (const auto& [number, job] : std::exchange(jobs_, {}))
    if (job.failed) job.failed(message);
}

void EngineService::take_stock() {
  const std::lock_guard lock(mutex_);
  int64_t coming = 0;
  for (const auto& [number, job] : coming_) coming += static_cast<int64_t>(job.texts.size());
  waiting_ = coming + engine_->waiting();
  running_ = engine_->running();
  reused_tokens_ = engine_->reused_tokens();
  memory_ = engine_->memory();
}

void EngineService::work() {
  bool busy = false;
  for (;;) {
    std::vector<std::pair<int64_t, Job>> coming;
    std::vector<int64_t> cancelled;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ends_ || busy || !coming_.empty() || !cancelled_.empty(); });
      if (ends_) break;
      coming.swap(coming_);
      cancelled.swap(cancelled_);
    }
    for (auto& [number, job] : coming) begin(number, std::move(job));
    for (const int64_t number : cancelled) {
      const auto found = jobs_.find(number);
      if (found == jobs_.end()) continue;
      for (const int64_t text : found->second.texts) engine_->cancel(text);
    }
    std::optional<ForegroundWork> turn(std::in_place);
    const auto start = Engine::Clock::now();
    try {
      const RepliesTogether together;
      busy = engine_->step();
    } catch (const std::exception& error) {
      fail_all(error.what());
      busy = false;
    }
    const double seconds = std::chrono::duration<double>(Engine::Clock::now() - start).count();
    turn.reset();
    forget_finished();
    take_stock();
    if (options_.observe) options_.observe({seconds, engine_->running()});
  }
  fail_all("The server is stopping.");
}

}  // namespace limpid
