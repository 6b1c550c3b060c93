#pragma once
// The metrics behind one face, by the names and signatures of sacreBLEU.

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "scoring/bleu.h"
#include "scoring/bootstrap.h"
#include "scoring/chrf.h"

namespace limpid {

using TextMetric = std::variant<BleuOptions, ChrfOptions>;

std::string name(const TextMetric& metric);  // BLEU, chrF2, chrF2++

SentenceStatistics statistics(const TextMetric& metric, std::span<const std::string> hypotheses, References references);
ScoreOfSums score_of_sums(const TextMetric& metric);

// What else was done beside the score itself.
struct SignatureFields {
  int64_t references = 1;
  std::optional<int64_t> bootstrap_draws, randomization_draws;
  std::optional<uint64_t> seed;
};

// What a reader needs to compare the score with others, "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:…". The
// version is Limpid's, since a signature says which program computed.
std::string signature(const TextMetric& metric, const SignatureFields& fields = {});

}  // namespace limpid
