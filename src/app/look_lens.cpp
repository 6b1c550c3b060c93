// limpid look … lens: the residual stream read as tokens, layer by layer.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "app/look.h"
#include "app/terminal.h"
#include "inspect/display_text.h"
#include "inspect/lens_json.h"

namespace limpid {
namespace {

struct LensCommand {
  std::string token;
  int64_t top = 3;
  std::optional<int64_t> position;
  bool probability = false;
};

// "decoder.1.resid_post" as the head of a narrow column.
std::string heading(const std::string& layer) {
  if (layer.ends_with(".resid_pre")) return "embedding";
  const size_t begin = layer.find('.') + 1;
  return (layer.ends_with(".h") ? "layer " : "block ") + layer.substr(begin, layer.find('.', begin) - begin);
}

constexpr int64_t kLensHead = 26, kNarrowestCell = 13;  // columns of position and watched token, and of a layer

// One line per position: of each layer the most likely token with the watched token's rank. Layers that do not fit
// beside the others stand below them.
std::string lens_text(const Session& session, const Example& example, const LensTable& table, int64_t width) {
  const auto layers = static_cast<int64_t>(table.layers.size());
  const int64_t beside = std::clamp<int64_t>((width - kLensHead) / (kNarrowestCell + 1), 1, layers);
  const int64_t cell = std::clamp<int64_t>((width - kLensHead) / beside - 1, kNarrowestCell, 24);
  std::string text =
      wrapped("In each layer: the likeliest token, its probability, and (rank) of the watched one.", width, 0) + "\n";
  for (int64_t begin = 0; begin < layers; begin += beside) {
    const int64_t end = std::min(begin + beside, layers);
    text += "\n" + pad_right("position", 14) + pad_right("watched", 12);
    for (int64_t layer = begin; layer < end; ++layer)
      text += " " + pad_right(cut_to(heading(table.layers[layer]), cell), cell);
    text += "\n";
    for (int64_t i = 0; i < table.positions; ++i) {
      const int32_t watched = table.at(0, i).watched;
      text +=
          pad_right(cut_to(fmt::format("{:3} {}", table.first + i, visible(example.input[table.first + i])), 13), 14);
      text += pad_right(cut_to(visible(watched < 0 ? "" : session.piece(watched)), 11), 12);
      for (int64_t layer = begin; layer < end; ++layer) {
        const LensCell& c = table.at(layer, i);
        const std::string figures =
            fmt::format("{:3.0f}%{}", 100 * c.top[0].probability, watched < 0 ? "" : fmt::format(" ({})", c.rank));
        const int64_t room = cell - display_width(figures) - 1;
        text += " " + pad_right(cut_to(visible(session.piece(c.top[0].id)), room), room) + " " + figures;
      }
      text += "\n";
    }
  }
  return text;
}

void show_lens(const LookOptions& options, const LensCommand& command) {
  const Session session = open_model(options);
  const Example example = read_example(session, options);
  LensOptions lens{.top = command.top};
  if (!command.token.empty()) lens.watched = session.token(session.writer(), command.token);
  if (command.position) lens.first = lens.last = position_of(example, *command.position);
  const LensTable table = logit_lens(session.model(), example, lens);
  const Picture picture = lens_picture(session, example, table);
  if (command.probability) return write_picture(options, picture);
  write_result(options, {.shown = [&] { return lens_text(session, example, table, terminal_style(options).width); },
                         .csv = [&] { return to_csv(picture); },
                         .svg = [&] { return to_svg(picture); },
                         .json = [&] { return lens_json(session, example, table); }});
}

}  // namespace

LookPart add_look_lens(CLI::App& look, LookOptions& options) {
  CLI::App* part =
      look.add_subcommand("lens", "Logit lens: what the model would say after each layer, at every position.");
  auto command = std::make_shared<LensCommand>();
  add_text_options(*part, options);
  part->add_option("--token", command->token,
                   "the token to watch, or #ID (default: the one that comes next in the text)");
  part->add_option("--top", command->top, "likeliest tokens in --json")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  part->add_option("--position", command->position, "one token alone, counted from 0, or from the end by -1, -2, …");
  part->add_flag("--probability", command->probability, "the watched token's probability as a picture in the terminal");
  add_result_options(*part, options, true);
  return {part, [&options, command] { show_lens(options, *command); }};
}

}  // namespace limpid
