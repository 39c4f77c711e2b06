#include "tools/cli/sweep_metric.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace tfemu::cli {
namespace {

constexpr const char* kBenchmark = R"(total images/sec: ([0-9]+(?:\.[0-9]+)?))";
constexpr const char* kTrainer = R"(made [0-9]+ steps in [0-9.]+ s, ([0-9]+(?:\.[0-9]+)?) images/sec)";

double Combine(Total total, const std::map<std::string, double>& pods) {
  std::vector<double> values;
  for (const auto& [pod, value] : pods) values.push_back(value);
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  switch (total) {
    case Total::kMean: return sum / static_cast<double>(values.size());
    case Total::kSum: return sum;
    case Total::kMax: return std::ranges::max(values);
    case Total::kMin: return std::ranges::min(values);
  }
  return sum;
}

}  // namespace

Metric::~Metric() = default;
Metric::Metric(Metric&&) noexcept = default;
Metric& Metric::operator=(Metric&&) noexcept = default;

Result<Total> ParseTotal(const std::string& word) {
  if (word == "mean") return Total::kMean;
  if (word == "sum") return Total::kSum;
  if (word == "max") return Total::kMax;
  if (word == "min") return Total::kMin;
  return Error{Reason::kBadRequest, "--total " + word + " is not known", "mean, sum, max or min"};
}

Result<Metric> Metric::Make(const std::string& pattern, std::optional<Total> total) {
  Metric metric;
  const auto add = [&metric](const std::string& text, Total how) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    metric.patterns_.push_back({std::make_unique<re2::RE2>("(?m)" + text, options), how});
    return metric.patterns_.back().expression.get();
  };
  metric.unit_ = pattern.empty() ? "images/sec" : "figure";
  if (pattern.empty()) {
    add(kBenchmark, total.value_or(Total::kMean));
    metric.patterns_.back().of_job = !total;
    add(kTrainer, total.value_or(Total::kSum));
    return metric;
  }
  const auto* expression = add(pattern, total.value_or(Total::kMean));
  if (!expression->ok())
    return Error{Reason::kBadRequest, "--metric: " + expression->error(),
                 "RE2's syntax: (group), [0-9]+, \\d, \\S, ^ and $"};
  if (expression->NumberOfCapturingGroups() != 1)
    return Error{Reason::kBadRequest,
                 "--metric has " + std::to_string(expression->NumberOfCapturingGroups()) + " groups, not one",
                 "the group says which part is the number: 'accuracy ([0-9.]+)'; (?:...) does not count"};
  return metric;
}

std::string Metric::Identity() const {
  std::string text;
  for (const auto& pattern : patterns_)
    text += pattern.expression->pattern() + " " + std::to_string(static_cast<int>(pattern.total)) + "\n";
  return text;
}

std::optional<Figures> Metric::Gather(const std::map<std::string, std::string>& logs) const {
  for (const auto& pattern : patterns_) {
    Figures figures;
    for (const auto& [pod, text] : logs) {
      re2::StringPiece rest(text);
      std::string found;
      while (re2::RE2::FindAndConsume(&rest, *pattern.expression, &found)) {
        char* end = nullptr;
        const double value = std::strtod(found.c_str(), &end);
        if (end != found.c_str() && std::isfinite(value)) figures.pods[pod] = value;
        if (rest.empty()) break;
        if (found.empty()) rest.remove_prefix(1);  // an expression may match nothing, for ever
      }
    }
    if (figures.pods.empty()) continue;
    figures.total = Combine(pattern.total, figures.pods);
    const double job = pattern.of_job ? figures.total : Combine(Total::kSum, figures.pods);
    figures.per_pod = job / static_cast<double>(figures.pods.size());
    return figures;
  }
  return std::nullopt;
}

}  // namespace tfemu::cli
