#pragma once
// Interventions: values changed on their way through a model, to see what depends on them. Each says what is done and
// where (inspect/place.h); several apply in their order, each to what the one before left. They come from a file,
//
//   [[intervention]]
//   zero = "blocks.3.ffn.post[12,57]@-1"
//   [[intervention]]
//   mean = "blocks.1.attn_out"              # over this text's positions, without the intervention …
//   over = "lines.txt"                      # … or over all positions of the lines of a file
//   [[intervention]]
//   scale = "blocks.0.attn.z[head 2]"
//   by = 0.5
//   [[intervention]]
//   set = "blocks.2.ffn.post[7]@Jordan"
//   to = 3.0
//   [[intervention]]
//   patch = "blocks.1.resid_post@4"         # the same positions of another text
//   from = "Larry Bird plays the sport of"
//   [[intervention]]
//   steer = "blocks.2.resid_post@-1"        # x + by·direction (inspect/direction.h)
//   along = "token:basketball"
//   by = 4
//   [[intervention]]
//   edit = "h.1.mlp.c_proj.weight[57,:]*=0"       # a weight (inspect/weight_edit.h)
//
// or from the same words in one line each: "blocks.0.attn.z[head 2]=0.5", "blocks.2.resid_post@-1=4*token:basketball".

#include <map>
#include <string>
#include <vector>

#include "inspect/place.h"
#include "inspect/tap_rows.h"
#include "inspect/weight_edit.h"

namespace limpid {

struct Intervention {
  enum class Kind { zero, mean, scale, set, patch, steer };
  Kind kind = Kind::zero;
  Place place;
  double number = 1;       // scale: the factor; set: the value; steer: how far
  std::string along = {};  // steer: the direction
  std::string over = {};   // mean: a file of lines; empty: the text's own positions
  Text from = {};          // patch: the other text
};

struct InterventionList {
  std::vector<Intervention> values;
  std::vector<WeightEdit> weights;

  bool empty() const { return values.empty() && weights.empty(); }
};

InterventionList parse_interventions(const std::string& toml, const std::string& where);
// "PLACE=NUMBER" (scale, set) and "PLACE=NUMBER*DIRECTION" (steer).
Intervention parse_with_number(Intervention::Kind kind, std::string_view text);
Intervention parse_steering(std::string_view text);

// The values that interventions put in, computed once for a text; then a probe for any number of passes over it, and
// over longer texts that begin with it: positions stay those of the text, and where no position was named the tokens
// behind it are changed too (by patch and mean of other texts: as far as they go).
class Intervener : public Probe {
 public:
  Intervener(const Session& session, const Example& example, const std::vector<Intervention>& interventions);

  bool wants(std::string_view name) const override;
  Tensor visit(const Tap& tap) override;

 private:
  // One intervention at one tap.
  struct Rule {
    Intervention::Kind kind = Intervention::Kind::zero;
    bool everywhere = false;         // no position was named
    std::vector<int64_t> positions;  // else these
    std::vector<int64_t> columns;    // of rows
    std::vector<int64_t> heads;      // of pairs
    std::vector<IndexRange> keys;    // likewise; none: all
    double number = 1;
    std::vector<double> direction = {};    // mean, steer
    TapValues other = {};                  // patch: the other text's values
    std::map<int64_t, int64_t> from = {};  // patch: the position of the other text for each of this one's

    bool holds_at(int64_t position) const;
    void change(real& x, int64_t position, int64_t column, int64_t head) const;
  };

  void prepare(const Session& session, const Example& example, const Intervention& intervention, const TapInfo& tap,
               Rule& rule);
  void prepare_patch(const Session& session, const Intervention& intervention, const TapInfo& tap, Rule& rule);
  void change_rows(const Rule& rule, const Tap& tap, Matrix values) const;
  void change_pairs(const Rule& rule, const Tap& tap, Tensor& value) const;

  Batch batch_;                                                  // of the text, for the order of recurrent layers
  std::map<std::string, std::vector<Rule>, std::less<>> rules_;  // by tap
};

// The mean of a tap's rows over all positions of all lines of a file.
std::vector<double> mean_over_lines(const Session& session, const std::string& tap, const std::string& file);

}  // namespace limpid
