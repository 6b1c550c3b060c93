#include "app/ranks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace limpid {
namespace {

int number_of(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

void say(const std::string& text) {
  fmt::print(stderr, "limpid: {}{}\n", speaking_rank(), text);
  std::fflush(stderr);
}

[[noreturn]] void end_process(const std::string& why) {
  say(why);
  ::_exit(1);
}

}  // namespace

void add_rank_options(CommandLine& line, RankOptions& options) {
  line.add_option("--rank-timeout", options.timeout,
                  "under mpirun: seconds after which a rank that is not heard of counts as lost")
      ->check(CLI::Range(2.0, 86400.0))
      ->capture_default_str();
}

std::unique_ptr<Communicator> join_mpirun(const RankOptions& options) {
  return join_ranks({.silent_seconds = options.timeout,
                     .stuck_seconds = 12 * options.timeout,
                     .lost = [](const std::string& why) { end_process(why); },
                     .note = [](const std::string& what) { say(what); }});
}

std::string speaking_rank() {
  return started_ranks() > 1 ? fmt::format("rank {}: ", number_of("OMPI_COMM_WORLD_RANK", 0)) : "";
}

void say_for_all(const std::string& text) {
  if (number_of("OMPI_COMM_WORLD_RANK", 0) == 0)
    fmt::print(stderr, "limpid: {}\n", text);
  else
    std::this_thread::sleep_for(std::chrono::seconds(2));
}

int threads_of_rank() {
  const int local = number_of("OMPI_COMM_WORLD_LOCAL_SIZE", 1);
  if (local <= 1) return 0;
  // mpirun may have bound the rank to some cores; these count unless it shares them.
  const int allowed = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const int share = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)) / local;
  return std::max(1, std::min(allowed, share));
}

}  // namespace limpid
