// The program of a first look: `limpid demo` alone, which ./limpid builds before all the rest, since that takes half as
// long.

#include <fmt/format.h>

#include "app/commands.h"
#include "app/program.h"
#include "app/run_watch.h"
#include "base/error.h"

namespace limpid {
namespace {

constexpr Command kCommands[] = {
    {"demo", "train a small Transformer in front of your eyes and see where it looks", run_demo},
};

}  // namespace

RunWatch::RunWatch(const std::filesystem::path&, const WatchOptions& options) {
  check(!options.watch, "[--watch] this program has no server: ./limpid builds the whole one where a run is watched");
}

}  // namespace limpid

int main(int argc, char** argv) {
  const int code = limpid::run_program(limpid::kCommands, argc, argv);
  if (code == 0) fmt::print(stderr, "The first of the other commands builds them all, which takes some minutes.\n");
  return code;
}
