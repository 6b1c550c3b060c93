#include "cluster/communicator.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "cluster/mpi_module.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

class LoneCommunicator : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::unique_ptr<Transfer> start_exchange(const real*, const RankBlocks&, real*, const RankBlocks&) override {
    return std::make_unique<Transfer>();
  }
  std::unique_ptr<Transfer> start_gather(real*, const RankBlocks&, int) override {
    return std::make_unique<Transfer>();
  }
  bool test(Transfer&) override { return true; }
  void broadcast(std::span<std::byte>) override {}
  std::vector<std::string> gather(const std::string& mine) override { return {mine}; }
  void show_life(Doing) override {}
};

// Beside the program, or where an installation has it.
fs::path module_path() {
  std::error_code ignored;
  const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  const fs::path installed = folder.parent_path() / "lib" / "limpid" / kMpiModule;
  return fs::exists(folder / kMpiModule, ignored) || !fs::exists(installed, ignored) ? folder / kMpiModule : installed;
}

}  // namespace

std::unique_ptr<Communicator> make_lone_communicator() { return std::make_unique<LoneCommunicator>(); }

int started_ranks() {
  const char* const size = std::getenv("OMPI_COMM_WORLD_SIZE");
  return size == nullptr ? 1 : std::max(1, std::atoi(size));
}

std::unique_ptr<Communicator> join_ranks(const CommunicatorOptions& options) {
  if (started_ranks() == 1) return make_lone_communicator();
  const fs::path path = module_path();
  std::error_code ignored;
  check(
      fs::exists(path, ignored),
      "[mpi] {} is missing: ./limpid under mpirun builds it; by hand: apt-get install libopenmpi-dev openmpi-bin, then "
      "build the target limpid_mpi",
      path);
  // For the whole process: Open MPI opens parts of its own that look for its symbols. Never closed.
  void* const module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  check(module != nullptr, "[mpi] {} cannot be loaded: {}", path, [] { return std::string(::dlerror()); });
  const auto join = reinterpret_cast<JoinMpi>(::dlsym(module, kJoinMpi));
  const auto version = reinterpret_cast<MpiModuleVersion>(::dlsym(module, kMpiModuleVersion));
  check(join != nullptr && version != nullptr && version() == std::string(LIMPID_MPI_SOURCES),
        "[mpi] {} was made from other sources than this program: ./limpid under mpirun builds it anew; by hand: build "
        "the target limpid_mpi",
        path);
  return std::unique_ptr<Communicator>(join(options));
}

}  // namespace limpid
