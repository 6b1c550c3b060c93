#include <cstdio>
#include <vector>

#include "limpid.h"

int main() {
  std::vector<limpid::real> numbers(6);
  const limpid::Matrix matrix(numbers.data(), 2, 3);
  limpid::parallel_for(matrix.rows, [&](int64_t i) { matrix(i, 2) = static_cast<limpid::real>(i + 1); });
  try {
    limpid::check(false, "[stranger] rows end in {} and {}", matrix(0, 2), matrix(1, 2));
  } catch (const limpid::Error& error) {
    std::puts(error.what());
  }
}
