#pragma once
// MissingKeys: what parse_config throws where required keys are not there: all of them at once, so that nobody has to
// run again for each.

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace limpid {

class MissingKeys : public Error {
 public:
  MissingKeys(const std::string& text, std::vector<std::string> keys) : Error(text), keys_(std::move(keys)) {}
  const std::vector<std::string>& keys() const { return keys_; }

 private:
  std::vector<std::string> keys_;
};

}  // namespace limpid
