// limpid verify: are our numbers those of the reference?

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/verify_case.h"
#include "app/verify_reference.h"
#include "base/error.h"

namespace limpid {
namespace {

std::string describe(const LargestError& e) { return e.compared ? fmt::format("{:.1e}", e.error) : "-"; }

nlohmann::json as_json(const CaseReport& report, bool passed) {
  nlohmann::json json = {{"case", report.name}, {"parameters", report.parameters}, {"passed", passed}};
  auto put = [&](const char* name, const LargestError& e) {
    json[name] = {{"error", e.error}, {"where", e.where}, {"compared", e.compared}};
  };
  put("logits", report.logits);
  put("loss", report.loss);
  put("activations", report.activations);
  put("gradients", report.gradients);
  put("adam", report.adam);
  return json;
}

void print_row(const CaseReport& report, bool passed) {
  const Tolerances& tolerances = report.tolerances;
  fmt::print("{:28} {:>10} {:>9} {:>9} {:>12} {:>10} {:>9}  {}\n", report.name, report.parameters,
             describe(report.logits), describe(report.loss), describe(report.activations), describe(report.gradients),
             describe(report.adam), passed ? "ok" : "FAILED");
  auto explain = [](const char* what, const LargestError& e, double tolerance) {
    if (!(e.error <= tolerance))
      fmt::print("  {}: {} is off by {:.2e}, at most {:.0e} is allowed\n", what, e.where, e.error, tolerance);
  };
  explain("logits", report.logits, tolerances.values);
  explain("loss", report.loss, tolerances.values);
  explain("activations", report.activations, tolerances.values);
  explain("gradients", report.gradients, tolerances.gradients);
  explain("adam", report.adam, tolerances.values);
}

}  // namespace

int run_verify(int argc, char** argv) {
  CommandLine line(
      "verify",
      "Compares logits, loss, activations, every gradient and ten Adam steps with reference cases computed elsewhere.",
      "limpid verify tests/golden/*/");
  std::vector<std::string> folders;
  bool json = false;
  line.add_option("DIR", folders,
                  "folders with config.json, model.safetensors and either batch.json and expected.safetensors, or "
                  "case.safetensors (ids, logits, hidden states)")
      ->required();
  line.add_flag("--json", json, "print JSON, one object per case");
  if (const auto code = line.read(argc, argv)) return *code;

  const Tolerances tolerances;
  int failed = 0;
  if (!json)
    fmt::print(
        "largest error, relative to the tensor's largest number (allowed: gradients {:.0e}, else {:.0e}); of cases "
        "without "
        "gradients\nas it is (allowed: {:.0e})\n{:28} {:>10} {:>9} {:>9} {:>12} {:>10} {:>9}\n",
        tolerances.gradients, tolerances.values, kReferenceTolerance, "case", "parameters", "logits", "loss",
        "activations", "gradients", "ten steps");
  for (const std::string& folder : folders) {
    try {
      const CaseReport report = is_reference_case(folder) ? verify_reference(folder) : verify_case(folder);
      const bool passed = report.passed();
      failed += !passed;
      if (json)
        fmt::print("{}\n", as_json(report, passed).dump());
      else
        print_row(report, passed);
    } catch (const Error& error) {  // one broken folder does not hide the others
      fmt::print(stderr, "limpid verify: {}\n", error.what());
      ++failed;
    }
  }
  if (!json) fmt::print("{} of {} passed\n", folders.size() - failed, folders.size());
  return failed ? 1 : 0;
}

}  // namespace limpid
