// Instants and durations as Kubernetes writes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "emulator/base/executor.h"

namespace tfemu {

std::string FormatTime(Instant t);                        // metav1.Time: 2026-11-30T18:32:45Z
std::string FormatMicroTime(Instant t);                   // metav1.MicroTime: 2026-11-30T18:32:45.744221Z
std::string FormatNanoTime(Instant t);                    // log lines: nine digits, always
std::optional<Instant> ParseTime(std::string_view text);  // RFC 3339 in UTC, any number of fraction digits

// kubectl's age: 59s, 5m3s, 7m, 3h, 2d (apimachinery duration.HumanDuration).
std::string FormatAge(Duration age);
// "10m", "1h30m", "500ms", "45s"; a bare number counts seconds.
std::optional<Duration> ParseDuration(std::string_view text);

}  // namespace tfemu
