// The runtime's values as messages on the wire, and back.
#pragma once

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

// The event's instant travels as a steady clock reading: see Event.steady_ns.
wire::Event Encode(const runtime::PodEvent& event, int64_t steady_ns);
runtime::PodEvent Decode(wire::Event message, Instant at);

int64_t SteadyNanoseconds();

}  // namespace tfemu::process
