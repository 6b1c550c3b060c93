#include "app/version.h"

#include <dnnl.h>
#include <fmt/format.h>

#include "base/parallel.h"
#include "base/real.h"
#include "kernels/instruction_set.h"

namespace limpid {

std::string version_text() {
#ifdef NDEBUG
  const char* build = "release";
#else
  const char* build = "debug";
#endif
  const dnnl_version_t* dnnl = dnnl_version();
  return fmt::format("limpid {} ({} build, {}, {} threads, gcc {})\nkernels: {}; products: oneDNN {}.{}.{}",
                     LIMPID_VERSION, build, sizeof(real) == 4 ? "float" : "double", threads(), __VERSION__,
                     kernels::instruction_set(), dnnl->major, dnnl->minor, dnnl->patch);
}

}  // namespace limpid
