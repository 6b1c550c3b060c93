#include "server/metrics.h"

#include "base/error.h"

namespace limpid {
namespace {

// name="value",name="value"
std::string written(const Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    text += fmt::format("{}{}=\"", text.empty() ? "" : ",", name);
    for (const char c : value) {
      if (c == '\\' || c == '"') text += '\\';
      if (c == '\n')
        text += "\\n";
      else
        text += c;
    }
    text += '"';
  }
  return text;
}

std::string in_braces(const std::string& labels) { return labels.empty() ? "" : "{" + labels + "}"; }

}  // namespace

void Metrics::describe(const std::string& name, const std::string& type, const std::string& help,
                       std::vector<double> bounds) {
  const std::lock_guard lock(mutex_);
  metrics_[name] = {.type = type, .help = help, .bounds = std::move(bounds)};
}

Metrics::Metric& Metrics::find(const std::string& name) {
  const auto found = metrics_.find(name);
  check(found != metrics_.end(), "[metrics] \"{}\" was not described", name);
  return found->second;
}

void Metrics::count(const std::string& name, const Labels& labels, double by) {
  const std::lock_guard lock(mutex_);
  find(name).values[written(labels)] += by;
}

void Metrics::observe(const std::string& name, const Labels& labels, double value) {
  const std::lock_guard lock(mutex_);
  Metric& metric = find(name);
  Histogram& histogram = metric.histograms[written(labels)];
  histogram.counts.resize(metric.bounds.size());
  for (size_t i = 0; i < metric.bounds.size(); ++i)
    if (value <= metric.bounds[i]) ++histogram.counts[i];
  histogram.sum += value;
  ++histogram.total;
}

void Metrics::gauge(const std::string& name, const Labels& labels, std::function<double()> value) {
  const std::lock_guard lock(mutex_);
  find(name).gauges[written(labels)] = std::move(value);
}

std::string Metrics::text() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [short_name, metric] : metrics_) {
    const std::string name = "limpid_" + short_name;
    text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, metric.help, name, metric.type);
    for (const auto& [labels, value] : metric.values) text += fmt::format("{}{} {}\n", name, in_braces(labels), value);
    for (const auto& [labels, value] : metric.gauges)
      text += fmt::format("{}{} {}\n", name, in_braces(labels), value());
    for (const auto& [labels, histogram] : metric.histograms) {
      const std::string comma = labels.empty() ? "" : ",";
      for (size_t i = 0; i < metric.bounds.size(); ++i)
        text +=
            fmt::format("{}_bucket{{{}{}le=\"{}\"}} {}\n", name, labels, comma, metric.bounds[i], histogram.counts[i]);
      text += fmt::format("{}_bucket{{{}{}le=\"+Inf\"}} {}\n", name, labels, comma, histogram.total);
      text += fmt::format("{}_sum{} {}\n{}_count{} {}\n", name, in_braces(labels), histogram.sum, name,
                          in_braces(labels), histogram.total);
    }
  }
  return text;
}

}  // namespace limpid
