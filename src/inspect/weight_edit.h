#pragma once
// Weights changed for one use: the edited model shares every other weight with the one it was made from; that one and
// the files stay as they are. In a line:
//
//   h.1.mlp.c_proj.weight[57,:]*=0       a row, scaled
//   model.layers.0.mlp.down_proj.weight[:,12]=0      a column, set
//   lm_head.weight[3,5]+=0.25                        one number, added to
//   NAME+=0.5*outer(token:basketball, npy:key.npy)   a rank-one matrix, added
//
// `limpid look MODEL intervene --weights` lists the names; rows and columns as the file stores them.

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

// The numbers of one weight, as reals to be changed before the model's next use. The model is one of its own
// (Model::sharing_weights) and keeps them; a quantised weight becomes reals, with which products no longer round their
// inputs to 8 bits. Rows and columns as the file stores them.
Matrix edit_weight(Model& model, const std::string& name);
// Directions are those of the session.
void apply(const WeightEdit& edit, const Session& session, Model& model);

// The same session with the edits made, in their order. It shares all other weights with the first one, which stays as
// it is and may be used meanwhile.
Session with_weight_edits(const Session& session, const std::vector<WeightEdit>& edits);

}  // namespace limpid
