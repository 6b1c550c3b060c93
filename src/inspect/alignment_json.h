#pragma once
// Word alignments as JSON and as a picture.

#include <nlohmann/json_fwd.hpp>

#include "inspect/aer.h"
#include "inspect/heatmap.h"

namespace limpid {

nlohmann::ordered_json alignment_score_json(const AlignmentScore& score);
nlohmann::ordered_json word_attention_json(const WordAttention& attention);  // source, target, attention
Picture word_attention_picture(const WordAttention& attention, const std::string& title);

}  // namespace limpid
