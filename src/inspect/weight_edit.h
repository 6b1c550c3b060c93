#pragma once
// Weights changed for a while: an edit takes the weight's place in the model until its owner goes out of scope; the
// files stay as they are. In a line:
//
//   h.1.mlp.c_proj.weight[57,:]*=0       a row, scaled
//   model.layers.0.mlp.down_proj.weight[:,12]=0      a column, set
//   lm_head.weight[3,5]+=0.25                        one number, added to
//   NAME+=0.5*outer(token:basketball, npy:key.npy)   a rank-one matrix, added
//
// Names are those of `limpid params`; rows and columns as the file stores them.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/session.h"

namespace limpid {

struct WeightEdit {
  enum class Kind { add, scale, set, add_outer };
  std::string name;
  int64_t row = -1, column = -1;  // -1: all
  Kind kind = Kind::add;
  double value = 0;         // of add_outer: its factor
  std::string left, right;  // of add_outer, as directions (inspect/direction.h)
};

WeightEdit parse_weight_edit(std::string_view text);

// The numbers of one weight as reals that may be changed. They stand in the model until this object goes.
class EditableWeight {
 public:
  EditableWeight(Model& model, const std::string& name);
  EditableWeight(const EditableWeight&) = delete;
  EditableWeight& operator=(const EditableWeight&) = delete;
  ~EditableWeight();

  const std::string& name() const { return name_; }
  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  Matrix values() { return {numbers_.data(), rows_, cols_}; }
  void restore();  // the numbers that the model was loaded with

 private:
  Model& model_;
  std::string name_;
  Weight before_;  // as the model had it
  int64_t rows_ = 0, cols_ = 0;
  std::vector<real> numbers_;
};

void apply(const WeightEdit& edit, const Session& session, EditableWeight& weight);

// All edits, in their order, until the object goes.
class WeightEdits {
 public:
  WeightEdits(const Session& session, const std::vector<WeightEdit>& edits);

 private:
  std::vector<std::unique_ptr<EditableWeight>> weights_;
};

}  // namespace limpid
