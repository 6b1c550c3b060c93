#pragma once
// One pass over an example: its interventions come first, and whoever listens sees what they left.

#include "autograd/probe.h"
#include "inspect/session.h"

namespace limpid {

class Pass : public Probe {
 public:
  Pass(const Example& example, Probe* listener) : changes_(example.changes.get()), listener_(listener) {}

  // For Run: null where nobody changes or listens.
  Probe* probe();

  bool wants(std::string_view name) const override;
  Tensor visit(const Tap& tap) override;

 private:
  Probe *changes_, *listener_;
};

}  // namespace limpid
