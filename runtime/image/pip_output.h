// Understands what pip prints: how far it is, and why it failed.
#pragma once

#include <deque>
#include <string>

#include "emulator/base/error.h"

namespace tfemu::image {

class PipOutput {
 public:
  // `requirements` is named in messages; `packages` is how many it lists.
  PipOutput(std::string requirements, int packages)
      : requirements_(std::move(requirements)), packages_(packages) {}

  void AddLine(const std::string& line);

  int collected() const { return collected_; }
  int packages() const { return packages_; }  // grows when pip finds more than the file lists
  bool installing() const { return installing_; }
  const std::string& doing() const { return doing_; }  // a few words, "collecting numpy"

  // Why pip ended with `exit_code`, in its own words, with what the user could do.
  Error Failure(int exit_code) const;

 private:
  std::string requirements_;
  int packages_;
  int collected_ = 0;
  bool installing_ = false;
  std::string doing_ = "asking for packages";
  std::string first_error_;
  std::deque<std::string> last_lines_;
};

// Lines of a requirements file that name a package.
int CountRequirements(const std::string& text);

}  // namespace tfemu::image
