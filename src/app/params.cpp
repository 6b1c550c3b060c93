#include "app/command.h"
namespace limpid {
int run_params(int, char**) { return 0; }
}  // namespace limpid
