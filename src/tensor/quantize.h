#pragma once
// Rows of numbers to quantised types and back (see DType). A row's bytes depend on its own numbers alone.
//
//   q8_0   d = max|x| / 127 in each block, q = round(x / d)
//   q8     the same with one d per row
//   q4_0   q runs from −8 to 7, so the largest |x| is best put at −8: d = x_max / −8 is where a search for the least
//          squared error starts; it tries d around that and, for the q found, the d that fits them best
//
//   others tensor/block_writer.h
//
// The error of q8 and q8_0 is at most d / 2 per number (d rounded to 16 bits: a little more).

#include <cstddef>

#include "tensor/dtype.h"
#include "tensor/weight.h"

namespace limpid {

// `cols` numbers to bytes_of(type, cols) bytes. `factor` gets the row's factor where the type is q8. Numbers must be
// finite: others are an Error that begins with `where`.
void quantize_row(const real* numbers, int64_t cols, DType type, std::byte* out, float* factor,
                  const std::string& where);

// And back.
void dequantize_row(DType type, const std::byte* numbers, float factor, int64_t cols, real* out);

// Rows of a weight of two dimensions, of any type, as reals, by the calling thread alone.
void read_rows(const Weight& weight, int64_t first, int64_t count, real* out);

// All numbers of a weight of any type and number of dimensions, as reals, in parallel.
void read_numbers(const Weight& weight, real* out);

}  // namespace limpid
