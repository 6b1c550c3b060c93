// limpid log: how training runs went, as curves.

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "app/command.h"
#include "app/output_file.h"
#include "app/progress.h"
#include "app/terminal.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "inspect/chart.h"
#include "server/runs_folder.h"
#include "training/run_log.h"

namespace limpid {
namespace {

struct LogOptions {
  std::vector<std::string> runs;
  std::vector<std::string> curves;
  std::string svg;
  bool follow = false, json = false;
};

struct Shown {
  const char* key;
  const char* title;
};

constexpr Shown kShown[] = {{"loss", "training loss, nats per token"},
                            {"valid/loss", "validation loss, nats per token"},
                            {"valid/bleu", "validation BLEU"},
                            {"valid/chrf", "validation chrF"},
                            {"valid/exact", "validation, % exactly right"},
                            {"learning_rate", "learning rate"},
                            {"gradient_norm", "gradient norm"},
                            {"tokens_per_second", "tokens per second"}};

// One chart per curve, every run a line in it. What no run has is left out.
std::vector<Chart> charts_of(const std::vector<RunLog>& logs, const std::vector<std::string>& wanted) {
  std::vector<Chart> charts;
  for (const Shown& shown : kShown) {
    const bool asked = std::find(wanted.begin(), wanted.end(), shown.key) != wanted.end();
    if (!wanted.empty() && !asked) continue;
    Chart chart{.title = shown.title, .x_name = "step", .y_name = shown.key};
    bool any = false;
    for (const RunLog& log : logs) {
      const auto found = log.curves.find(shown.key);
      if (found == log.curves.end()) continue;
      const RunCurve curve = smoothed(found->second, 200);
      ChartSeries series{.name = log.name};
      for (size_t i = 0; i < curve.steps.size(); ++i) {
        series.points.push_back({curve.steps[i], curve.values[i]});
        any = any || curve.values[i] != 0;
      }
      chart.series.push_back(std::move(series));
    }
    if (any) charts.push_back(std::move(chart));
  }
  return charts;
}

std::vector<RunLog> read_all(const std::vector<std::string>& runs) {
  std::vector<RunLog> logs;
  for (const std::string& run : runs) logs.push_back(read_run_log(run));
  return logs;
}

// The last value of everything, run by run.
std::string table(const std::vector<RunLog>& logs) {
  std::string text;
  for (const RunLog& log : logs) {
    std::string line = fmt::format("{}: step {:.0f}", log.name, log.step);
    for (const Shown& shown : kShown) {
      const auto found = log.curves.find(shown.key);
      if (found == log.curves.end() || found->second.values.empty()) continue;
      line += fmt::format(", {} {:.4g}", shown.key, found->second.values.back());
    }
    line += fmt::format(", {}{}", clock_text(log.seconds), log.finished ? "" : " (not finished)");
    text += wrapped(line, terminal_width(STDOUT_FILENO), 2) + '\n';
  }
  return text;
}

std::string to_json_lines(const std::vector<RunLog>& logs) {
  std::string text;
  for (const RunLog& log : logs) {
    nlohmann::ordered_json json = {{"run", log.name}, {"finished", log.finished}, {"seconds", log.seconds}};
    for (const auto& [name, curve] : log.curves)
      json["curves"][name] = {{"steps", curve.steps}, {"values", curve.values}};
    text += json.dump() + '\n';
  }
  return text;
}

// All charts below each other in one picture.
std::string svg_of(const std::vector<Chart>& charts) {
  std::string inner;
  double height = 0, width = 0;
  for (const Chart& chart : charts) {
    const std::string svg = to_svg(chart);
    const auto number = [&](const char* key) {
      const size_t at = svg.find(key);
      return at == std::string::npos ? 0.0 : std::strtod(svg.c_str() + at + std::string_view(key).size(), nullptr);
    };
    std::string placed = svg.substr(svg.find("<svg"));
    placed.insert(4, fmt::format(" y=\"{}\"", height));
    inner += placed + '\n';
    height += number("height=\"");
    width = std::max(width, number("width=\""));
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n{2}</svg>\n",
      width, height, inner);
}

std::string shown_text(const LogOptions& options, const std::vector<RunLog>& logs) {
  std::string text;
  const TerminalStyle style{.width = std::max<int64_t>(terminal_width(STDOUT_FILENO), 40),
                            .color = colors(STDOUT_FILENO)};
  for (const Chart& chart : charts_of(logs, options.curves)) text += to_terminal(chart, style) + '\n';
  return text + table(logs);
}

void write_picture(const LogOptions& options, const std::vector<RunLog>& logs, bool announce) {
  const std::string picture = svg_of(charts_of(logs, options.curves));
  if (announce)
    write_output(options.svg, picture);
  else
    write_text(options.svg, picture);
}

bool are_running(const std::vector<std::string>& runs) {
  return std::any_of(runs.begin(), runs.end(), [](const std::string& run) { return WatchedRun("", run).running(); });
}

// Draws again whenever something has happened, until every run has ended or no process works at them any more.
int follow(const LogOptions& options) {
  const InterruptGuard guard;
  std::string before;
  while (!interrupted()) {
    const bool alive = are_running(options.runs);  // asked first: what it wrote last is read below
    const std::vector<RunLog> logs = read_all(options.runs);
    const bool redraw = redraws(STDOUT_FILENO) && !options.json;
    const std::string text = options.json ? to_json_lines(logs) : redraw ? shown_text(options, logs) : table(logs);
    const bool last = !alive || std::all_of(logs.begin(), logs.end(), [](const RunLog& log) { return log.finished; });
    if (text != before) fmt::print("{}{}", redraw ? "\033[H\033[2J" : "", text);
    if (!options.svg.empty() && (text != before || last)) write_picture(options, logs, last);
    std::fflush(stdout);
    before = text;
    if (last) {
      for (const RunLog& log : logs)
        if (!log.finished)
          fmt::print(stderr,
                     "limpid log: {} is not finished, and no process works at it: limpid train goes on with it\n",
                     log.name);
      return 0;
    }
    for (int i = 0; i < 20 && !interrupted(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return 128 + interrupt_signal();
}

}  // namespace

int run_log(int argc, char** argv) {
  CommandLine line("log",
                   "Shows how training runs went: loss, score, learning rate, gradient norm and speed over the steps; "
                   "several runs in one chart.",
                   "limpid log my-translator\n         limpid log first second --curve loss valid/loss --svg runs.svg");
  LogOptions options;
  line.add_option("RUN", options.runs, "folders of training runs")->required();
  std::vector<std::string> names;
  for (const Shown& shown : kShown) names.emplace_back(shown.key);
  line.add_option("--curve", options.curves, "only these: loss, valid/loss, valid/bleu, learning_rate, …")
      ->check(CLI::IsMember(names));
  add_output_option(line, "--svg", options.svg, "the charts to this file");
  line.add_flag("--follow", options.follow, "draw again while the runs go on, until all have ended");
  line.add_flag("--json", options.json, "print JSON, one object per line");
  if (const auto code = line.read(argc, argv)) return *code;
  check(!options.follow || options.svg != "-",
        "[log] --follow writes the picture again and again: give --svg the name of a file");
  if (options.follow) return follow(options);
  const std::vector<RunLog> logs = read_all(options.runs);
  if (options.json)
    fmt::print("{}", to_json_lines(logs));
  else if (options.svg != "-")
    fmt::print("{}", shown_text(options, logs));
  if (!options.svg.empty()) write_picture(options, logs, true);
  return 0;
}

}  // namespace limpid
