#pragma once
// EngineService: one thread around an Engine, so that any thread can hand it texts. Texts of all clients are written
// together, one token each per step; a client that leaves frees its place with the next step.

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "inference/engine.h"
#include "server/http.h"

namespace limpid {

struct EngineServiceOptions {
  EngineOptions engine = {};
  int64_t waiting = 256;  // jobs that may wait for their turn
  // After every step that had something to do, on the engine's thread.
  struct Step {
    double seconds = 0;
    int64_t texts = 0;  // that took part
  };
  std::function<void(const Step&)> observe = {};
};

class EngineService {
 public:
  // The model must outlive the service.
  EngineService(const Model& model, EngineServiceOptions options);
  ~EngineService();  // what runs is cancelled
  EngineService(const EngineService&) = delete;
  EngineService& operator=(const EngineService&) = delete;

  struct Job {
    std::vector<std::unique_ptr<GenerationTask>> texts;
    std::optional<Engine::Clock::time_point> deadline;
    std::function<void(const HttpError& error)> failed;  // instead of results; on the engine's thread
    std::function<void()> accepted = {};  // before anything else is heard of it; on the thread of submit()
  };
  // Returns a number to cancel the job by. Results come as the texts were told, on the engine's thread. The engine is
  // given a job's texts as it has room for them, in turn with those of other jobs, so that a long job neither fills
  // the queue nor keeps short ones waiting. Throws HttpError 429 where too many jobs wait already.
  int64_t submit(Job job);
  void cancel(int64_t job);

  int64_t running() const { return running_; }
  int64_t waiting() const { return waiting_; }  // jobs of which nothing runs yet
  EngineMemory memory() const;
  int64_t reused_tokens() const { return reused_tokens_; }

 private:
  void work();
  struct Begun {
    std::deque<std::unique_ptr<GenerationTask>> coming;  // that the engine has not been given yet
    std::vector<int64_t> texts;                          // numbers in the engine of the others
    std::optional<Engine::Clock::time_point> deadline;
    std::function<void(const HttpError&)> failed;
    bool waits = true;  // no text of it runs yet
  };

  void end(Begun& job, FinishReason why);
  void end_overdue();
  void hand_on();
  bool hand_on_one(std::map<int64_t, Begun>::iterator job);
  void fail_all(const HttpError& error);
  void forget_finished();
  void take_stock();
  void step();

  const Model& model_;
  const EngineServiceOptions options_;
  std::unique_ptr<Engine> engine_;  // of the service's thread, as is jobs_
  std::map<int64_t, Begun> jobs_;
  int64_t last_served_ = -1;  // the job whose turn was last
  int64_t handed_on_ = 0;     // texts that the engine has

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<int64_t, Job>> coming_;
  std::vector<int64_t> cancelled_;
  EngineMemory memory_;
  int64_t submitted_ = 0;
  bool ends_ = false;
  std::atomic<int64_t> running_ = 0, waiting_ = 0, reused_tokens_ = 0;
  std::thread thread_;
};

}  // namespace limpid
