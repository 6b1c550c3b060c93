#include "inspect/pass_memory.h"

#include <algorithm>

namespace limpid {

PassMemory::PassMemory(std::vector<std::string> taps, bool all_at_once, int64_t most_bytes)
    : taps_(std::move(taps)), all_at_once_(all_at_once), most_bytes_(most_bytes) {}

PassMemory::Values PassMemory::values(const std::vector<std::string>& names,
                                      const std::function<Values(const std::vector<std::string>&)>& pass) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> missing;
  for (const std::string& name : names)
    if (!known_.contains(name)) missing.push_back(name);
  Values result, seen;
  if (!missing.empty()) {
    if (all_at_once_)
      for (const std::string& tap : taps_)
        if (!known_.contains(tap) && std::find(missing.begin(), missing.end(), tap) == missing.end())
          missing.push_back(tap);
    seen = pass(missing);
    for (const std::string& name : missing) {
      const auto value = seen.find(name);
      const int64_t bytes = value == seen.end() ? 0 : static_cast<int64_t>(value->second.numbers.size() * sizeof(real));
      if (bytes_ + bytes > most_bytes_) continue;
      bytes_ += bytes;
      known_.insert(name);
      if (value != seen.end()) kept_.insert(seen.extract(value));
    }
  }
  for (const std::string& name : names) {
    if (const auto kept = kept_.find(name); kept != kept_.end())
      result.emplace(name, kept->second);
    else if (const auto value = seen.find(name); value != seen.end())
      result.insert(seen.extract(value));
  }
  return result;
}

}  // namespace limpid
