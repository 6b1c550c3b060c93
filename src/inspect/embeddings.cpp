#include "inspect/embeddings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace limpid {
namespace {

// The strongest eigenvector of a symmetric matrix with no negative eigenvalue, at right angles to `before`, by power
// iteration from a fixed start.
std::vector<double> strongest(const std::vector<double>& matrix, size_t n, const std::vector<double>& before) {
  std::vector<double> x(n);
  for (size_t i = 0; i < n; ++i) x[i] = 1 + 0.5 * std::sin(static_cast<double>(7 * i + 1));
  for (int step = 0; step < 500; ++step) {
    if (!before.empty()) {
      const double part = dot(x.data(), before.data(), static_cast<int64_t>(n));
      for (size_t i = 0; i < n; ++i) x[i] -= part * before[i];
    }
    std::vector<double> y(n);
    for (size_t i = 0; i < n; ++i) y[i] = dot(matrix.data() + i * n, x.data(), static_cast<int64_t>(n));
    const double size = length(y);
    if (size < 1e-300) return std::vector<double>(n);
    for (double& value : y) value /= size;
    x = y;
  }
  return x;
}

}  // namespace

EmbeddingSpace::EmbeddingSpace(const Model& model, const std::string& side) {
  const WeightTable weights(model);
  const Weight& table = embedding_table(weights, model.config(), side);
  rows_ = table.shape[0];
  cols_ = table.shape[1];
  numbers_ = numbers_of(table);
  for (int64_t i = 0; i < rows_; ++i) lengths_.push_back(length(vector(static_cast<int32_t>(i))));
}

std::vector<double> EmbeddingSpace::vector(int32_t id) const {
  check(id >= 0 && id < rows_, "[look] there is no token {}: the vocabulary has {}", id, rows_);
  return {numbers_.begin() + id * cols_, numbers_.begin() + (id + 1) * cols_};
}

std::vector<double> EmbeddingSpace::mean(const std::vector<int32_t>& ids) const {
  check(!ids.empty(), "[look] a word of no tokens has no vector");
  std::vector<double> sum(cols_);
  for (int32_t id : ids) {
    const std::vector<double> one = vector(id);
    for (int64_t j = 0; j < cols_; ++j) sum[j] += one[j] / static_cast<double>(ids.size());
  }
  return sum;
}

std::vector<Neighbour> EmbeddingSpace::nearest(const std::vector<double>& to, int64_t count, Similarity kind) const {
  std::vector<Neighbour> all(rows_);
  const double size = length(to);
  for (int64_t i = 0; i < rows_; ++i) {
    double product = 0;
    for (int64_t j = 0; j < cols_; ++j) product += static_cast<double>(numbers_[i * cols_ + j]) * to[j];
    const double divisor = kind == Similarity::cosine ? std::max(size * lengths_[i], 1e-30) : 1;
    all[i] = {static_cast<int32_t>(i), product / divisor};
  }
  const auto kept = static_cast<ptrdiff_t>(std::min(count, rows_));
  std::partial_sort(all.begin(), all.begin() + kept, all.end(), [](const Neighbour& a, const Neighbour& b) {
    return a.similarity != b.similarity ? a.similarity > b.similarity : a.id < b.id;
  });
  all.resize(static_cast<size_t>(kept));
  return all;
}

double similarity(const std::vector<double>& a, const std::vector<double>& b, Similarity kind) {
  const double product = dot(a.data(), b.data(), static_cast<int64_t>(a.size()));
  return kind == Similarity::dot ? product : product / std::max(length(a) * length(b), 1e-30);
}

std::vector<real> similarity_matrix(const std::vector<std::vector<double>>& vectors, Similarity kind) {
  std::vector<real> matrix;
  for (const auto& a : vectors)
    for (const auto& b : vectors) matrix.push_back(static_cast<real>(similarity(a, b, kind)));
  return matrix;
}

// By the matrix of products between the centred vectors, which is small where the words are few: its eigenvectors times
// the roots of their eigenvalues are the places.
Projection2d principal_components(const std::vector<std::vector<double>>& vectors) {
  check(vectors.size() >= 3, "[look] a map of two dimensions wants at least three words");
  std::vector<std::vector<double>> centred = vectors;
  for (size_t j = 0; j < vectors[0].size(); ++j) {
    double mean = 0;
    for (const auto& x : vectors) mean += x[j] / static_cast<double>(vectors.size());
    for (auto& x : centred) x[j] -= mean;
  }
  const size_t n = vectors.size();
  std::vector<double> products;
  double total = 0;
  for (size_t i = 0; i < n; ++i)
    for (size_t k = 0; k < n; ++k) {
      products.push_back(dot(centred[i].data(), centred[k].data(), static_cast<int64_t>(centred[i].size())));
      if (i == k) total += products.back();
    }
  Projection2d result;
  result.points.resize(n);
  std::vector<double> before;
  for (size_t axis = 0; axis < 2; ++axis) {
    const std::vector<double> x = strongest(products, n, before);
    double value = 0;
    for (size_t i = 0; i < n; ++i) value += x[i] * dot(products.data() + i * n, x.data(), static_cast<int64_t>(n));
    for (size_t i = 0; i < n; ++i) result.points[i][axis] = x[i] * std::sqrt(std::max(value, 0.0));
    result.explained[axis] = total > 0 ? value / total : 0;
    before = x;
  }
  return result;
}

}  // namespace limpid
