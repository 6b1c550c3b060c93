#pragma once
// What the features of a sparse autoencoder stand for: the texts that fire each most, how strongly it fires, and which
// tokens its direction promotes and demotes.

#include "inspect/firing.h"
#include "inspect/neurons.h"
#include "inspect/sae_training.h"

namespace limpid {

struct FeatureDashboard {
  int64_t feature = 0;
  Firing firing;
  SaidTokens said;  // empty where the tap does not lie in or before the residual stream
};

struct DashboardOptions {
  std::vector<int64_t> features;  // none: `count` of those that fire, from rare to frequent
  int64_t count = 12;
  int64_t texts = 8, tokens = 8;  // shown of each
};

// `progress` is told the share of the corpus read.
std::vector<FeatureDashboard> feature_dashboards(const Session& session, const LoadedSae& loaded,
                                                 const CorpusOptions& corpus, const DashboardOptions& options,
                                                 const std::function<void(double)>& progress = {});

nlohmann::ordered_json dashboard_json(const Session& session, const FeatureDashboard& board);

// One page, self-contained.
std::string dashboard_html(const Session& session, const LoadedSae& loaded,
                           const std::vector<FeatureDashboard>& features);

}  // namespace limpid
