#include "app/version.h"

#include <dnnl.h>
#include <fmt/format.h>

#include "base/parallel.h"
#include "base/real.h"
#include "kernels/instruction_set.h"

namespace limpid {

const char* source_hash();  // made by the build: cmake/source_hash.cmake

namespace {

std::string product_library() {
  const dnnl_version_t* dnnl = dnnl_version();
  return fmt::format("{}.{}.{}", dnnl->major, dnnl->minor, dnnl->patch);
}

}  // namespace

std::string version_text() {
#ifdef NDEBUG
  const char* build = "release";
#else
  const char* build = "debug";
#endif
  return fmt::format("limpid {} ({} build of sources {}, {}, {} threads, gcc {})\nkernels: {}; products: oneDNN {}",
                     LIMPID_VERSION, build, source_hash(), sizeof(real) == 4 ? "float" : "double", threads(),
                     __VERSION__, kernels::instruction_set(), product_library());
}

NamedFacts program_facts() {
  return {{"hash of the sources", source_hash()}, {"compiler", __VERSION__}, {"oneDNN", product_library()}};
}

}  // namespace limpid
