#include "inspect/pass.h"

namespace limpid {

Probe* Pass::probe() {
  if (!changes_) return listener_;
  return listener_ ? this : changes_;
}

bool Pass::wants(std::string_view name) const { return changes_->wants(name) || listener_->wants(name); }

Tensor Pass::visit(const Tap& tap) {
  if (!changes_->wants(tap.name)) return listener_->visit(tap);
  const Tensor changed = changes_->visit(tap);
  return listener_->wants(tap.name) ? listener_->visit({tap.name, changed, tap.layout}) : changed;
}

}  // namespace limpid
