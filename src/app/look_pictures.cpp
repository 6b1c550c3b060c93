// limpid look … taps, heatmap: what there is to see, and pictures of it.

#include <fmt/format.h>

#include <memory>

#include "app/look.h"
#include "inspect/pictures.h"
#include "inspect/tap_names_json.h"

namespace limpid {
namespace {

struct HeatmapOptions : BlockPictureOptions {
  std::string tap;
  bool heads = false;
};

void show_heatmap(const LookOptions& options, const HeatmapOptions& heatmap) {
  const Session session = open_model(options);
  const Example example = read_example(session, options);
  if (heatmap.heads) return write_picture(options, head_grid(session, example, heatmap.tap));
  if (!heatmap.tap.empty()) return write_picture(options, tap_picture(session, example, heatmap.tap, heatmap.head));
  write_picture(options, block_picture(session, example, heatmap));
}

}  // namespace

LookPart add_look_taps(CLI::App& look, LookOptions& options) {
  CLI::App* part = look.add_subcommand("taps", "Lists the names under which values can be seen, with their shapes.");
  part->add_flag("--json", options.json, "print JSON, one object per line");
  return {part, [&options] {
            const Session session = open_model(options);
            const std::vector<TapInfo> taps = list_taps(session.model());
            if (options.json)
              for (const auto& tap : taps_json(taps)) write_json(tap);
            else
              for (const TapInfo& tap : taps) fmt::print("{:34} {}\n", tap.name, shape_text(tap));
          }};
}

LookPart add_look_heatmap(CLI::App& look, LookOptions& options) {
  CLI::App* part = look.add_subcommand(
      "heatmap",
      "Draws attention scores, up-projection, activation and down-projection of a block; or any tap; or all heads.");
  auto heatmap = std::make_shared<HeatmapOptions>();
  add_text_options(*part, options);
  part->add_option("--block", heatmap->block, "which block")->capture_default_str();
  part->add_option("--side", heatmap->side, "encoder or decoder of a model that has both (default: decoder)");
  part->add_option("--position", heatmap->position, "one token alone, counted from 0, or from the end by -1, -2, …");
  part->add_option("--head", heatmap->head, "one head of the attention, or of --tap (default: their mean, or all)");
  part->add_flag("--cross", heatmap->cross, "cross-attention instead of self-attention");
  part->add_flag("--pattern", heatmap->pattern, "attention after the softmax");
  part->add_flag("--heads", heatmap->heads, "a grid of all heads' patterns, or those that --tap names");
  part->add_option("--tap", heatmap->tap, "any tap instead, by name or pattern with *; TransformerLens' names too");
  add_result_options(*part, options, true);
  return {part, [&options, heatmap] { show_heatmap(options, *heatmap); }};
}

}  // namespace limpid
