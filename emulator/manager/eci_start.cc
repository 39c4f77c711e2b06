#include "emulator/manager/eci_start.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "emulator/base/strings.h"

namespace tfemu::manager {
namespace {

std::string Rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

// The name of the cache that holds the image, or "".
std::string CacheOf(const api::EciSettings& settings, const api::EciRequest& request,
                    const std::string& image) {
  if (!request.image_cache_id.empty()) return request.image_cache_id;
  if (!request.image_cache) return "";
  const bool cached = std::ranges::any_of(
      settings.image_caches, [&](const std::string& pattern) { return GlobMatch(pattern, image); });
  return cached ? "imc-auto" : "";
}

std::set<std::string> ImagesOf(const api::Pod& pod) {
  std::set<std::string> images;
  for (const auto* list : {&pod.spec.init_containers, &pod.spec.containers})
    for (const api::Container& container : *list) images.insert(container.image);
  return images;
}

}  // namespace

EciStart PlanEciStart(const api::EciSettings& settings, const api::Pod& pod,
                      const std::function<uint64_t(const std::string&)>& image_bytes) {
  EciStart start;
  if (!api::EciInstanceOf(pod.meta) || (settings.sandbox_seconds <= 0 && settings.megabytes_per_second <= 0))
    return start;
  const api::EciRequest request = api::EciRequestOf(pod.meta);
  double seconds = settings.sandbox_seconds;
  for (const std::string& image : ImagesOf(pod)) {
    if (const std::string cache = CacheOf(settings, request, image); !cache.empty()) {
      start.matched_cache = cache;
      start.first.push_back(
          {"SuccessfulHitImageCache", "[eci.imagecache]Successfully hit image cache " + cache +
                                          ", eci will be scheduled with this image cache."});
      continue;
    }
    const double megabytes = static_cast<double>(image_bytes(image)) / 1e6;
    if (settings.megabytes_per_second <= 0 || megabytes <= 0) continue;
    const double pull = megabytes / settings.megabytes_per_second;
    seconds += pull;
    start.first.push_back({"Pulling", "Pulling image \"" + image + "\""});
    start.last.push_back({"Pulled", "Successfully pulled image \"" + image + "\" in " + Rounded(pull) +
                                        "s (modelled: " + Rounded(megabytes) + " MB at " +
                                        Rounded(settings.megabytes_per_second) + " MB/s)"});
  }
  start.wait = Duration(static_cast<int64_t>(seconds * 1e9));
  return start;
}

}  // namespace tfemu::manager
