#pragma once
// Metrics: counters and distributions in the text format that Prometheus reads.

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace limpid {

// Pairs of a label's name and its value.
using Labels = std::vector<std::pair<std::string, std::string>>;

class Metrics {
 public:
  // What a metric is; state each before it is used. Names get the prefix "limpid_".
  void describe(const std::string& name, const std::string& type, const std::string& help,
                std::vector<double> bounds = {});  // of a histogram: its buckets' upper bounds
  void count(const std::string& name, const Labels& labels, double by = 1);
  void observe(const std::string& name, const Labels& labels, double value);  // into a histogram
  // A gauge is asked for when somebody reads: value() for these labels.
  void gauge(const std::string& name, const Labels& labels, std::function<double()> value);

  std::string text() const;

 private:
  struct Histogram {
    std::vector<int64_t> counts;
    double sum = 0;
    int64_t total = 0;
  };
  struct Metric {
    std::string type, help;
    std::vector<double> bounds;
    std::map<std::string, double> values;  // by labels as they are written
    std::map<std::string, Histogram> histograms;
    std::map<std::string, std::function<double()>> gauges;
  };

  Metric& find(const std::string& name);

  mutable std::mutex mutex_;
  std::map<std::string, Metric> metrics_;
};

}  // namespace limpid
