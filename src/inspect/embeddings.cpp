#include "inspect/embeddings.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace limpid {

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
// the roots of their eigenvalues are the places. Of each axis the largest coordinate is positive.
Projection2d principal_components(const std::vector<std::vector<double>>& vectors) {
  check(vectors.size() >= 3, "[look] a map of two dimensions wants at least three words");
  const auto n = static_cast<Eigen::Index>(vectors.size()), width = static_cast<Eigen::Index>(vectors[0].size());
  Eigen::MatrixXd centred(n, width);
  for (Eigen::Index i = 0; i < n; ++i) centred.row(i) = Eigen::Map<const Eigen::RowVectorXd>(vectors[i].data(), width);
  centred.rowwise() -= centred.colwise().mean().eval();
  const Eigen::MatrixXd products = centred * centred.transpose();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(products);  // eigenvalues from the smallest on
  check(solver.info() == Eigen::Success, "[look] the principal components of these vectors cannot be computed");
  const double total = products.trace();
  Projection2d result;
  result.points.resize(vectors.size());
  for (size_t axis = 0; axis < 2; ++axis) {
    const Eigen::Index at = n - 1 - static_cast<Eigen::Index>(axis);
    const double value = std::max(solver.eigenvalues()[at], 0.0);
    Eigen::VectorXd places = solver.eigenvectors().col(at) * std::sqrt(value);
    Eigen::Index largest = 0;
    places.cwiseAbs().maxCoeff(&largest);
    if (places[largest] < 0) places = -places;
    for (Eigen::Index i = 0; i < n; ++i) result.points[i][axis] = places[i];
    result.explained[axis] = total > 0 ? value / total : 0;
  }
  return result;
}

}  // namespace limpid
