// The runtime's values as messages on the wire, and back.
#pragma once

#include <functional>

#include "runtime/process/supervisor.pb.h"
#include "runtime/runtime.h"

namespace tfemu::process {

wire::StartPod Encode(const runtime::PodLaunch& pod);
runtime::PodLaunch Decode(wire::StartPod message);
wire::StartContainer Encode(const std::string& uid, const runtime::ContainerLaunch& container);
runtime::ContainerLaunch Decode(wire::StartContainer message);

wire::UpdateFiles EncodeFiles(const std::string& uid, const std::string& volume,
                              const std::vector<runtime::File>& files);
std::vector<runtime::File> DecodeFiles(wire::UpdateFiles message);

// Raised with every change that the other side must know of.
inline constexpr uint32_t kProtocolVersion = 2;

// Instants travel as readings of the steady clock (see Event.steady_ns): the sender's are such readings.
wire::Event Encode(const runtime::PodEvent& event);
runtime::PodEvent Decode(wire::Event message, Instant at);

wire::Ready Encode(const runtime::Kept& kept);
// `at` turns a reading of the steady clock into an instant of ours.
runtime::Kept Decode(wire::Ready message, const std::function<Instant(int64_t)>& at);

int64_t SteadyNanoseconds();

}  // namespace tfemu::process
