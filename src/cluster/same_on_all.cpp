#include "cluster/same_on_all.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"

namespace limpid {
namespace {

constexpr size_t kLongestShown = 60;

std::string shortened(const std::string& text) {
  return text.size() <= kLongestShown ? text : fmt::format("{}…", text.substr(0, kLongestShown));
}

std::string host_name() {
  std::array<char, 256> host{};
  return ::gethostname(host.data(), host.size() - 1) == 0 ? host.data() : "?";
}

using Facts = std::map<std::string, std::string>;

std::vector<std::string> differences(const Facts& expected, const Facts& found) {
  std::vector<std::string> result;
  const auto value = [](const Facts& facts, const std::string& what) {
    const auto at = facts.find(what);
    return at == facts.end() ? std::string("nothing") : at->second;
  };
  Facts all = expected;
  all.insert(found.begin(), found.end());
  for (const auto& [what, ignored] : all)
    if (const std::string a = value(expected, what), b = value(found, what); a != b)
      result.push_back(fmt::format("{} is {} instead of {}", what, shortened(b), shortened(a)));
  return result;
}

}  // namespace

std::vector<std::string> differences_between_ranks(Courier& courier, const NamedFacts& facts) {
  const nlohmann::json mine = {{"host", host_name()}, {"facts", Facts(facts.begin(), facts.end())}};
  std::vector<nlohmann::json> all;
  for (const std::string& text : courier.gather(mine.dump()))
    all.push_back(parse_json(text, "[ranks] what another rank says"));
  const auto expected = all[0].at("facts").get<Facts>();
  std::vector<std::string> result;
  for (size_t rank = 1; rank < all.size(); ++rank)
    if (const auto found = differences(expected, all[rank].at("facts").get<Facts>()); !found.empty())
      result.push_back(fmt::format("rank {} on {} differs from rank 0 on {}: {}", rank,
                                   all[rank].at("host").get<std::string>(), all[0].at("host").get<std::string>(),
                                   fmt::join(found, "; ")));
  return result;
}

void together(Courier& ranks, const std::function<void()>& act) {
  if (ranks.size() == 1) return act();
  std::string mine;
  std::exception_ptr error;
  try {
    act();
  } catch (const Error& failure) {
    mine = failure.what();
    error = std::current_exception();
  }
  const std::vector<std::string> all = ranks.gather(mine);
  const auto failed = std::find_if(all.begin(), all.end(), [](const std::string& text) { return !text.empty(); });
  if (failed == all.end()) return;
  if (std::count(all.begin(), all.end(), *failed) == ranks.size()) throw ErrorOnAll(*failed);
  if (error) std::rethrow_exception(error);
  fail("[ranks] rank {} cannot go on", failed - all.begin());
}

void check_same_on_all(Courier& courier, const NamedFacts& facts) {
  const std::vector<std::string> found = differences_between_ranks(courier, facts);
  if (!found.empty()) fail_on_all(courier, "[ranks] {}: all ranks need the same", fmt::join(found, ". And "));
}

}  // namespace limpid
