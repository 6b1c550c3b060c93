#pragma once
// Descriptor: an open file of the system, closed whatever happens on the way.

#include <unistd.h>

#include <utility>

namespace limpid {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  int get() const { return descriptor_; }
  bool open() const { return descriptor_ >= 0; }
  int release() { return std::exchange(descriptor_, -1); }  // whoever takes it closes it

 private:
  int descriptor_ = -1;
};

}  // namespace limpid
