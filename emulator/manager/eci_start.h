// How long ECI takes to start a pod, when the cluster's description says that this is to be felt: the
// sandbox, then the images that no cache holds (simulation-failures-eci.md 6.4). Pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "emulator/api/eci_settings.h"
#include "emulator/base/executor.h"

namespace tfemu::manager {

struct EciStart {
  struct Word {
    std::string reason, message;
  };
  Duration wait{0};               // of the cluster's time; zero when nothing is modelled
  std::vector<Word> first, last;  // events when it begins, and when it is over
  std::string matched_cache;      // "" when no cache held an image
};

// `image_bytes` tells an image's size, 0 when it is not known.
EciStart PlanEciStart(const api::EciSettings& settings, const api::Pod& pod,
                      const std::function<uint64_t(const std::string&)>& image_bytes);

}  // namespace tfemu::manager
