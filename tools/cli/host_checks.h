// What this host can and can't do for a cluster.
#pragma once

#include <string>
#include <vector>

namespace tfemu::cli {

struct HostCheck {
  enum class Grade { kGood, kNotice, kMissing };
  std::string name;
  Grade grade = Grade::kGood;
  std::string finding;  // one line
  std::string remedy;   // a command, or ""
};

std::vector<HostCheck> CheckHost(const std::string& home);

}  // namespace tfemu::cli
