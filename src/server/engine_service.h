#pragma once
// EngineService: one thread around an Engine, so that any thread can hand it texts. Texts of all clients are written
// together, one token each per step; a client that leaves frees its place with the next step.

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "inference/engine.h"

namespace limpid {

struct EngineServiceOptions {
  EngineOptions engine = {};
  int64_t waiting = 256;  // texts that may wait for their turn
  // After every step, on the engine's thread.
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
    std::function<void(const std::string& message)> failed;  // instead of results; on the engine's thread
    std::function<void()> accepted = {};  // before anything else is heard of it; on the thread of submit()
  };
  // Returns a number to cancel the job by. Results come as the texts were told, on the engine's thread. Throws
  // HttpError 429 where too many texts wait already.
  int64_t submit(Job job);
  void cancel(int64_t job);

  int64_t running() const { return running_; }
  int64_t waiting() const { return waiting_; }
  EngineMemory memory() const;
  int64_t reused_tokens() const { return reused_tokens_; }

 private:
  void work();
  void begin(int64_t number, Job job);
  void fail_all(const std::string& message);
  void forget_finished();
  void take_stock();

  const Model& model_;
  const EngineServiceOptions options_;
  std::unique_ptr<Engine> engine_;  // of the service's thread, as is jobs_
  struct Begun {
    std::vector<int64_t> texts;  // their numbers in the engine
    std::function<void(const std::string&)> failed;
  };
  std::map<int64_t, Begun> jobs_;
  int64_t texts_of_jobs_ = 0;

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
