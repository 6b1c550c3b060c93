#pragma once
// What commands have to do with mpirun.

#include "app/command.h"
#include "cluster/courier.h"

namespace limpid {

struct RankOptions {
  double timeout = 15;  // seconds
};
void add_rank_options(CommandLine& line, RankOptions& options);

// The processes that mpirun has started, or this one alone. When one is lost, the others say so and end at once: what
// was saved is whole at any moment.
std::unique_ptr<Communicator> join_mpirun(const RankOptions& options);

// "rank 2: " under mpirun, else nothing: who speaks.
std::string speaking_rank();

// What all ranks would say: rank 0 says it, and the others leave it the time to, for mpirun ends all as soon as one
// ends.
void say_for_all(const std::string& text);

// This rank's share of its machine's cores, where several ranks are on it; 0: all.
int threads_of_rank();

}  // namespace limpid
