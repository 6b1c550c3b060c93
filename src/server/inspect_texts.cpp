#include "server/inspect_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "inference/decoder_state.h"
#include "server/http.h"
#include "text/token_store.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLongest = 256;  // tokens of a text that the run folder keeps

// The first `most` tokens, the last of which is the end.
std::vector<int32_t> cut_with_end(std::vector<int32_t> ids, int32_t end, size_t most) {
  ids.resize(std::min(ids.size(), most));
  if (end < 0 || (!ids.empty() && ids.back() == end)) return ids;
  ids.resize(std::min(ids.size(), most - 1));
  return with_end(std::move(ids), end);
}

Example example_of_ids(const Session& session, std::vector<int32_t> first, std::vector<int32_t> second) {
  const auto most = static_cast<size_t>(std::min<int64_t>(most_positions(session.config()), kLongest));
  if (session.two_sided()) {
    first = cut_with_end(std::move(first), session.reader().special().end, most);
    second = cut_with_end(std::move(second), session.writer().special().end, most);
    Example example = example_of(session.config(), first, second);
    example.source = pieces_of(session.reader(), first);
    example.input = pieces_of(session.writer(), example.batch.input.ids);
    return example;
  }
  first.resize(std::min(first.size(), most));
  Example example = example_of(session.config(), {}, first);
  example.input = pieces_of(session.reader(), first);
  return example;
}

std::vector<Example> own_texts(const Session& session, const fs::path& folder, int64_t most) {
  std::error_code none;
  if (!fs::exists(folder / "data" / "valid.tokens", none) && !fs::exists(folder / "data" / "valid.index", none))
    throw HttpError(400, "The model's folder keeps no texts: give some as \"texts\".", {.param = "corpus"});
  const TokenStore store(folder / "data" / "valid");
  std::vector<Example> examples;
  for (int64_t i = 0; i < std::min(store.size(), most); ++i) {
    auto ids = store.example(i);
    if (ids.first.empty()) continue;
    examples.push_back(example_of_ids(session, std::move(ids.first), std::move(ids.second)));
  }
  return examples;
}

}  // namespace

std::vector<Example> read_texts(InspectCall& call) {
  const Session& session = call.session();
  const nlohmann::json* given = call.fields.any("texts");
  const bool corpus = call.fields.flag("corpus");
  const int64_t most = call.fields.whole("most", 200, 1, call.limits.texts);
  std::vector<Example> examples;
  if (given && !given->is_array()) throw HttpError(400, "\"texts\" must be a list.", {.param = "texts"});
  if (given && static_cast<int64_t>(given->size()) > call.limits.texts)
    throw HttpError(400, fmt::format("There are {} texts, and one request takes {}.", given->size(), call.limits.texts),
                    {.param = "texts"});
  for (const nlohmann::json& one : given ? *given : nlohmann::json::array()) {
    const bool pair = one.is_array() && one.size() == 2 && one[0].is_string() && one[1].is_string();
    if (!pair && !one.is_string())
      throw HttpError(400, "\"texts\" holds texts, or pairs of a source and its target.", {.param = "texts"});
    const Text text =
        pair ? Text{one[0].get<std::string>(), one[1].get<std::string>()} : Text{one.get<std::string>(), ""};
    if (!text.text.empty()) examples.push_back(session.example(text));
  }
  if (corpus) examples = own_texts(session, call.served.path, most);
  for (Example& example : examples) example = call.changed(std::move(example));
  return examples;
}

std::optional<std::string> example_text(const Session& session, const fs::path& folder) {
  try {
    constexpr int64_t kLooked = 20, kTokens = 12;
    std::optional<std::string> best;
    for (const Example& example : own_texts(session, folder, kLooked)) {
      const std::vector<int32_t>& ids = session.two_sided() ? example.batch.source.ids : example.batch.input.ids;
      const auto count = std::min<int64_t>(std::ssize(ids), session.two_sided() ? std::ssize(ids) : kTokens);
      best = session.reader().decode(std::span(ids).first(static_cast<size_t>(count)));
      if (std::ssize(ids) <= kTokens) break;
    }
    return best;
  } catch (const Error&) {  // a folder from elsewhere, or one whose texts are gone
    return std::nullopt;
  }
}

}  // namespace limpid
