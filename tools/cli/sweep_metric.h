// The figure of a run, found in its pods' logs.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/base/result.h"

namespace re2 {
class RE2;
}

namespace tfemu::cli {

// How the figures of several pods become the job's.
enum class Total { kMean, kSum, kMax, kMin };

struct Figures {
  std::map<std::string, double> pods;  // the last figure that each pod printed
  double total = 0, per_pod = 0;
};

class Metric {
 public:
  // `pattern` "" means the figures of this repository's programs: each worker of the benchmark prints the
  // job's images/sec, each process of the MNIST trainer its own.
  static Result<Metric> Make(const std::string& pattern, std::optional<Total> total);
  ~Metric();
  Metric(Metric&&) noexcept;
  Metric& operator=(Metric&&) noexcept;

  // From each pod's whole output; nothing when no line matches.
  std::optional<Figures> Gather(const std::map<std::string, std::string>& logs) const;
  const std::string& unit() const { return unit_; }
  // What results depend on, for resuming.
  std::string Identity() const;

 private:
  struct Pattern {
    std::unique_ptr<re2::RE2> expression;
    Total total;
    bool of_job = false;  // each pod prints the whole job's figure
  };
  Metric() = default;
  std::vector<Pattern> patterns_;  // the first that matches anywhere counts
  std::string unit_;
};

Result<Total> ParseTotal(const std::string& word);

}  // namespace tfemu::cli
