// limpid look … capture: taps of one text or of a whole file of texts to disk.

#include <fmt/format.h>

#include <memory>

#include "app/look.h"
#include "app/progress.h"
#include "base/error.h"
#include "base/file.h"
#include "inspect/capture.h"
#include "inspect/effect.h"
#include "text/line_reader.h"

namespace limpid {
namespace {

struct CaptureCommand {
  CaptureOptions capture;
  std::vector<std::string> files;
  std::string out;
  int64_t generate = 0;
  bool dry = false;
};

// One text per line; a second file has the targets. Blank lines are left out, on both sides together.
void each_line(const Session& session, const std::vector<std::string>& files,
               const std::function<void(const Example&)>& use) {
  LineReader source(files[0]);
  std::optional<LineReader> target;
  if (files.size() > 1) target.emplace(files[1]);
  while (const auto line = source.next()) {
    Text text{std::string(*line), ""};
    if (target) {
      const auto other = target->next();
      check(other.has_value(), "[capture] {} has fewer lines than {}", files[1], files[0]);
      text.target = std::string(*other);
    }
    if (text.text.empty() || (target && text.target.empty())) continue;
    use(session.example(text));
  }
}

// The text with what the model writes after it (of an encoder-decoder model: for it), as far as it reads that itself.
Example with_written(const Session& session, const Example& example, int64_t most) {
  const std::vector<int32_t> written = write_greedily(session.model(), example, most, session.writer().special().end);
  fmt::print(stderr, "limpid look: writes {} tokens: {}\n", written.size(), session.writer().decode(written));
  std::vector<int32_t> ids;
  if (!session.two_sided()) ids = example.batch.input.ids;
  ids.insert(ids.end(), written.begin(), written.end());
  if (!session.two_sided() && !written.empty()) ids.pop_back();
  check(!ids.empty(), "[capture] the model ends at once: it writes nothing for this text");
  Example longer = example_of(session.config(), example.batch.source.ids, ids);
  longer.changes = example.changes;
  return longer;
}

void run_capture(const LookOptions& options, const CaptureCommand& command) {
  const Session session = open_model(options);
  Examples examples;
  if (command.files.empty()) {
    auto example = std::make_shared<Example>(read_example(session, options));
    if (command.generate > 0) *example = with_written(session, *example, command.generate);
    examples = [example](const std::function<void(const Example&)>& use) { use(*example); };
  } else {
    check(!session.two_sided() || command.files.size() == 2,
          "[capture] this model reads pairs: name two files, --text SOURCE TARGET, line by line");
    examples = [&](const std::function<void(const Example&)>& use) { each_line(session, command.files, use); };
  }
  const CapturePlan plan = plan_capture(session.model(), command.capture, examples);
  fmt::print(stderr, "limpid look: {} taps of {} texts ({} tokens): {}\n", plan.taps.size(), plan.texts,
             plan.source_tokens + plan.input_tokens, bytes_text(static_cast<uint64_t>(plan.bytes)));
  if (!command.dry) {
    Progress progress(plan.texts, options.json || plan.texts < 2);
    capture(session.model(), plan, examples, command.out, [&](int64_t done) { progress.update(done, "texts"); });
    progress.clear();
  }
  nlohmann::ordered_json arrays = nlohmann::ordered_json::object();
  for (const ArrayShape& array : plan.arrays) {
    if (options.json)
      arrays[array.name] = array.shape;
    else
      fmt::print("{:36} ({})\n", array.name, fmt::join(array.shape, ", "));
  }
  if (options.json)
    write_json({{"texts", plan.texts}, {"bytes", plan.bytes}, {"out", command.out}, {"arrays", arrays}});
}

}  // namespace

LookPart add_look_capture(CLI::App& look, LookOptions& options) {
  CLI::App* part = look.add_subcommand(
      "capture", "Writes chosen taps to a .safetensors file or a folder of .npy files, for one text or a whole file.");
  auto command = std::make_shared<CaptureCommand>();
  add_text_options(*part, options);
  part->add_option("--tap", command->capture.patterns, "names or patterns with *, our own or TransformerLens'")
      ->required();
  part->add_option("--text", command->files,
                   "texts, one per line, plain or gzip; of encoder-decoder models SOURCE TARGET")
      ->expected(1, 2);
  part->add_option("--generate", command->generate,
                   "let the model write at most so many tokens and capture the values with which it does")
      ->excludes("--text")
      ->check(CLI::Range(1, 1 << 20));
  part->add_option("--layer", command->capture.layers, "only these layers");
  part->add_option("--position", command->capture.positions, "only these positions; -1 is the last");
  auto* out = part->add_option("--out", command->out, "FILE.safetensors, or a new folder for .npy files");
  auto* dry = part->add_flag("--dry-run", command->dry, "say the bytes and shapes, and write nothing");
  part->add_flag("--json", options.json, "print JSON, one object per line");
  part->callback([out, dry] {
    if (out->count() == 0 && dry->count() == 0) throw CLI::RequiredError("--out");
  });
  return {part, [&options, command] {
            command->capture.token_by_token = command->generate > 0;
            run_capture(options, *command);
          }};
}

}  // namespace limpid
