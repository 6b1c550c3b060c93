#include "server/runs_events.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "server/workers.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr auto kKeepAlive = std::chrono::seconds(15);

// A log may come from anywhere: its lines need not be what a run writes.
std::string event_name(const Json& event) {
  const auto name = event.find("event");
  return name != event.end() && name->is_string() ? name->get<std::string>() : "message";
}

}  // namespace

RunEvents::~RunEvents() { end(); }

void RunEvents::end() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  for (Listener& listener : listeners_) listener.reply->end();
  listeners_.clear();
}

void RunEvents::listen(const WatchedRun& run, int64_t after, std::shared_ptr<Reply> reply) {
  reply->begin(event_stream_head());
  const std::lock_guard lock(mutex_);
  if (ends_) return reply->end();
  listeners_.push_back({.run = run, .reply = std::move(reply), .after = after, .told = Clock::now()});
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  changed_.notify_all();
}

bool RunEvents::tell(Listener& listener) const {
  if (listener.reply->cancelled()) return false;
  std::string parts;
  const std::vector<std::string> lines = new_lines(listener.run.log(), listener.offset);
  if (listener.offset < 0) {  // a run that has begun anew, or has gone back to an earlier step
    listener.offset = listener.line = listener.after = 0;
    parts += event_text("{}", "reset");
  }
  for (const std::string& line : lines) {
    if (++listener.line <= listener.after) continue;
    const Json event = Json::parse(line, nullptr, false);
    parts +=
        fmt::format("id: {}\n", listener.line) + event_text(line, event.is_object() ? event_name(event) : "unreadable");
  }
  if (const std::string state = listener.run.state(); state != listener.state) {
    listener.state = state;
    parts += event_text(Json{{"state", state}}.dump(), "state");
  }
  if (parts.empty() && Clock::now() - listener.told > kKeepAlive) parts = ": still here\n\n";
  if (parts.empty()) return true;
  listener.told = Clock::now();
  return listener.reply->write(std::move(parts));
}

void RunEvents::work() {
  block_signals();
  std::unique_lock lock(mutex_);
  while (!ends_) {
    std::erase_if(listeners_, [&](Listener& listener) {
      if (tell(listener)) return false;
      listener.reply->end();
      return true;
    });
    changed_.wait_for(lock, every_, [&] { return ends_; });
  }
}

}  // namespace limpid
