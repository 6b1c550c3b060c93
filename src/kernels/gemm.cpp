#include "kernels/gemm.h"

#include <omp.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/parallel.h"
#include "kernels/rows.h"

#ifndef LIMPID_F64
#include <dnnl.h>
#endif

namespace limpid::kernels {
namespace {

struct Product {
  Transpose transpose_a, transpose_b;
  ConstMatrix a, b;
  Matrix c;
  int64_t depth;
  bool accumulate;
  const real* bias;
};

#ifdef LIMPID_F64
// oneDNN has no double: the gradient-checking build multiplies by hand.
void multiply(const Product& p) {
  const int64_t a_row = p.transpose_a == Transpose::no ? p.a.stride : 1,
                a_col = p.transpose_a == Transpose::no ? 1 : p.a.stride;
  const int64_t b_row = p.transpose_b == Transpose::no ? p.b.stride : 1,
                b_col = p.transpose_b == Transpose::no ? 1 : p.b.stride;
  for (int64_t i = 0; i < p.c.rows; ++i) {
    for (int64_t j = 0; j < p.c.cols; ++j) {
      real sum = p.accumulate ? p.c(i, j) : 0;
      for (int64_t k = 0; k < p.depth; ++k) sum += p.a.data[i * a_row + k * a_col] * p.b.data[k * b_row + j * b_col];
      p.c(i, j) = sum;
    }
  }
}
#else
// OneThread below speaks to OpenMP. With another runtime oneDNN would share every product out by itself, with other
// bits for other numbers of threads.
//
// Products of float need nothing beyond AVX-512; what some virtual machines announce and do not deliver (AMX) is
// therefore kept from oneDNN, unless its own environment variable asks for an instruction set.
bool prepare_onednn() {
  static const bool openmp = [] {
    if (!std::getenv("ONEDNN_MAX_CPU_ISA") && !std::getenv("DNNL_MAX_CPU_ISA"))
      dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx512_core_bf16);  // refused where oneDNN has already been at work
    return dnnl_version()->cpu_runtime == DNNL_RUNTIME_OMP;
  }();
  return openmp;
}

void multiply(const Product& p) {
  check(prepare_onednn(),
        "[gemm] this oneDNN was built with another CPU runtime than OpenMP: link one that uses OpenMP");
  const dnnl_status_t status = dnnl_sgemm(
      p.transpose_a == Transpose::no ? 'N' : 'T', p.transpose_b == Transpose::no ? 'N' : 'T', p.c.rows, p.c.cols,
      p.depth, 1.0F, p.a.data, p.a.stride, p.b.data, p.b.stride, p.accumulate ? 1.0F : 0.0F, p.c.data, p.c.stride);
  check(status == dnnl_success, "[gemm] oneDNN refused a product of {}×{}×{} (status {})", p.c.rows, p.c.cols, p.depth,
        static_cast<int>(status));
}
#endif

void multiply_block(Product p, int64_t row, int64_t rows, int64_t col, int64_t cols) {
  p.a = p.transpose_a == Transpose::no ? p.a.rows_from(row, rows) : p.a.cols_from(row, rows);
  p.b = p.transpose_b == Transpose::no ? p.b.cols_from(col, cols) : p.b.rows_from(col, cols);
  p.c = p.c.rows_from(row, rows).cols_from(col, cols);
  multiply(p);
  if (p.bias) add_row(p.bias + col, p.c);
}

// oneDNN would spread every product over OpenMP's threads. Here a product is cut into blocks for our own threads, the
// same ones with any number of them, so that the bits are the same too.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

// Blocks are large, since oneDNN packs its operands once per call, but at least a few, so that threads share the work.
int64_t block_size(int64_t extent, int64_t parts, int64_t most) {
  const int64_t size = (extent + parts - 1) / parts;
  return std::clamp<int64_t>((size + 31) / 32 * 32, 64, most);
}

}  // namespace

void gemm(Transpose transpose_a, ConstMatrix a, Transpose transpose_b, ConstMatrix b, Matrix c, bool accumulate,
          const real* bias) {
  const int64_t depth = transpose_a == Transpose::no ? a.cols : a.rows;
  const int64_t a_rows = transpose_a == Transpose::no ? a.rows : a.cols;
  const int64_t b_rows = transpose_b == Transpose::no ? b.rows : b.cols;
  const int64_t b_cols = transpose_b == Transpose::no ? b.cols : b.rows;
  check(b_rows == depth && a_rows == c.rows && b_cols == c.cols, "[gemm] ({}×{})·({}×{}) does not give {}×{}", a_rows,
        depth, b_rows, b_cols, c.rows, c.cols);
  if (c.size() == 0) return;
  if (depth == 0) {  // a sum of no terms, which oneDNN refuses
    if (!accumulate) fill_zero(c);
    if (bias) add_row(bias, c);
    return;
  }
  const Product product{transpose_a, transpose_b, a, b, c, depth, accumulate, bias};
  const bool tall = c.rows >= c.cols;
  const int64_t row_block = tall ? block_size(c.rows, 4, 512) : std::min<int64_t>(c.rows, 512);
  const int64_t col_block = tall ? std::min<int64_t>(c.cols, 1024) : block_size(c.cols, 4, 512);
  const int64_t row_blocks = (c.rows + row_block - 1) / row_block, col_blocks = (c.cols + col_block - 1) / col_block;
  auto block = [&](int64_t i) {
    const OneThread guard;
    const int64_t row = i % row_blocks * row_block, col = i / row_blocks * col_block;
    multiply_block(product, row, std::min(row_block, c.rows - row), col, std::min(col_block, c.cols - col));
  };
  parallel_for(row_blocks * col_blocks, block);
}

}  // namespace limpid::kernels
