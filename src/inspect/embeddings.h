#pragma once
// The vectors that a model has for its tokens: neighbours, similarities, a map of two dimensions.

#include <array>

#include "inspect/weights.h"

namespace limpid {

enum class Similarity { cosine, dot };

struct Neighbour {
  int32_t id = 0;
  double similarity = 0;
};

class EmbeddingSpace {
 public:
  // side: "encoder" for the table that reads the source, else that of the side that writes.
  EmbeddingSpace(const Model& model, const std::string& side);

  int64_t count() const { return rows_; }
  int64_t width() const { return cols_; }
  std::vector<double> vector(int32_t id) const;
  std::vector<double> mean(const std::vector<int32_t>& ids) const;  // of a word of several tokens

  // The tokens most like a vector, best first.
  std::vector<Neighbour> nearest(const std::vector<double>& to, int64_t count, Similarity kind) const;

 private:
  int64_t rows_, cols_;
  std::vector<real> numbers_;
  std::vector<double> lengths_;
};

double similarity(const std::vector<double>& a, const std::vector<double>& b, Similarity kind);
std::vector<real> similarity_matrix(const std::vector<std::vector<double>>& vectors, Similarity kind);

// Principal components: the two directions in which the vectors differ most, and each vector's place in them.
struct Projection2d {
  std::vector<std::array<double, 2>> points;
  std::array<double, 2> explained = {};  // share of the variance, 0 … 1
};
Projection2d principal_components(const std::vector<std::vector<double>>& vectors);

// The points with their names as a picture.
std::string scatter_svg(const Projection2d& projection, const std::vector<std::string>& labels,
                        const std::string& title);

}  // namespace limpid
