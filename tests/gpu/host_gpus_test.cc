// What is learnt of the host's GPUs from a driver that answers, one that does not, and none.
#include "runtime/gpu/host/host_gpus.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tfemu::gpu {
namespace {

std::string Uuid(int number) { return "GPU-5a3f1c00-0000-4000-8000-00000000000" + std::to_string(number); }

std::string Line(int index, const std::string& more = "") {
  const std::string i = std::to_string(index);
  return "gpu\tindex=" + i + "\tuuid=" + Uuid(index) +
         "\tname=NVIDIA A100-SXM4-40GB\tmemory_bytes=42949672960\tpci=00000000:0" + i + ":00.0\tminor=" + i +
         "\tdriver=550.54.15\tcuda=12.4\tsm=8.0\tpower_limit_w=400\tkind=real" + more + "\n";
}

// A driver that has these devices: the emulated library, whose devices are marked as real ones.
class Driver {
 public:
  explicit Driver(const std::string& lines) {
    std::string pattern = std::filesystem::temp_directory_path() / "tfemu-host-gpus-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    std::ofstream(folder_ + "/devices") << "tfemu-gpus 1\n" << lines;
    ::setenv("TFEMU_GPU_DEVICES", (folder_ + "/devices").c_str(), 1);
  }
  ~Driver() { std::filesystem::remove_all(folder_); }
  static std::string library() { return std::getenv("TFEMU_TEST_NVML"); }

 private:
  std::string folder_;
};

Result<HostGpus> AskBad(const char* fault, int timeout_ms) {
  ::setenv("TFEMU_TEST_NVML_FAULT", fault, 1);
  return ProbeHostGpus(std::getenv("TFEMU_TEST_BAD_NVML"), timeout_ms);
}

TEST_CASE("the inventory: identity, memory, links") {
  const Driver driver(Line(0, "\tlinks=1:12") + Line(1, "\tlinks=0:12"));
  const auto host = ProbeHostGpus(Driver::library(), 10'000);
  REQUIRE(host.ok());
  REQUIRE(host.value().devices.size() == 2);
  const api::Gpu& gpu = host.value().devices[0];
  CHECK(gpu.uuid == Uuid(0));
  CHECK(gpu.model == "NVIDIA A100-SXM4-40GB");
  CHECK(gpu.memory_bytes == int64_t{42'949'672'960});
  CHECK(gpu.pci == "00000000:00:00.0");
  CHECK(gpu.minor == 0);
  CHECK(gpu.driver == "550.54.15");
  CHECK(gpu.cuda == "12.4");
  CHECK(gpu.compute_capability == "8.0");
  CHECK(gpu.power_limit_watts == 400);
  CHECK(gpu.links == std::map<int, int>{{1, 12}});
  CHECK_FALSE(gpu.is_virtual());
}

TEST_CASE("MIG instances follow their GPU") {
  const auto mig = [](int index, int gi, const char* profile) {
    return "gpu\tindex=" + std::to_string(index) + "\tuuid=MIG-5a3f1c00-0000-4000-8000-0000000000" +
           std::to_string(10 + index) +
           "\tname=NVIDIA A100-SXM4-40GB\tmemory_bytes=5368709120\tparent=" + Uuid(0) +
           "\tgi=" + std::to_string(gi) + "\tci=0\tprofile=" + profile + "\tkind=real\n";
  };
  const Driver driver(Line(0, "\tmig=enabled") + mig(1, 7, "1g.5gb") + mig(2, 8, "2g.10gb"));
  const auto host = ProbeHostGpus(Driver::library(), 10'000);
  REQUIRE(host.ok());
  REQUIRE(host.value().devices.size() == 3);
  const api::Gpu& instance = host.value().devices[1];
  CHECK(instance.mig_profile == "1g.5gb");
  CHECK(instance.parent == Uuid(0));
  CHECK(instance.gpu_instance == 7);
  CHECK(instance.memory_bytes == int64_t{5} << 30);
  CHECK(host.value().devices[2].mig_profile == "2g.10gb");
  CHECK(api::GpuResources({host.value().devices, {}}) ==
        api::Resources{{"nvidia.com/mig-1g.5gb", {1000}}, {"nvidia.com/mig-2g.10gb", {1000}}});
}

TEST_CASE("a GPU that is lost is left out, the others are there") {
  const Driver driver(Line(0, "\thealth=lost") + Line(1));
  const auto host = ProbeHostGpus(Driver::library(), 10'000);
  REQUIRE(host.ok());
  REQUIRE(host.value().devices.size() == 1);
  CHECK(host.value().devices[0].uuid == Uuid(1));
}

TEST_CASE("no driver, and one that has no devices") {
  const auto none = ProbeHostGpus("/nowhere/libnvidia-ml.so.1", 10'000);
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().reason == Reason::kNotFound);
  CHECK(none.error().message.starts_with("no NVIDIA driver: "));
  const Driver driver("");
  const auto empty = ProbeHostGpus(Driver::library(), 10'000);
  REQUIRE(empty.ok());
  CHECK(empty.value().devices.empty());
}

TEST_CASE("a driver that hangs is given up after the time-out, and leaves no process") {
  const auto host = AskBad("hang", 200);
  REQUIRE_FALSE(host.ok());
  CHECK(host.error().reason == Reason::kTimeout);
  CHECK(host.error().message.find("did not answer within") != std::string::npos);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
}

TEST_CASE("a driver that takes its program down, and one that refuses, are named") {
  for (const char* fault : {"crash", "exit"}) {
    CAPTURE(fault);
    const auto host = AskBad(fault, 10'000);
    REQUIRE_FALSE(host.ok());
    CHECK(host.error().reason == Reason::kUnavailable);
    CHECK(host.error().message == "the NVIDIA driver broke the program that asked it for the GPUs");
  }
  const auto host = AskBad("mismatch", 10'000);
  REQUIRE_FALSE(host.ok());
  CHECK(host.error().message == "the NVIDIA driver does not start: Driver/library version mismatch (18)");
}

std::string DaemonSays() {
  const std::string command = std::string(std::getenv("TFEMU_TEST_DAEMON")) + " --probe-gpus";
  FILE* pipe = ::popen(command.c_str(), "re");
  REQUIRE(pipe != nullptr);
  std::string text;
  for (std::array<char, 4096> buffer; std::fgets(buffer.data(), buffer.size(), pipe) != nullptr;)
    text += buffer.data();
  ::pclose(pipe);
  return text;
}

std::string LastLine(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

TEST_CASE("tfemud --probe-gpus says the same as text, whatever the driver prints before") {
  const Driver driver(Line(0));
  ::setenv("TFEMU_NVML", Driver::library().c_str(), 1);
  const auto host = ParseProbe(LastLine(DaemonSays()));
  REQUIRE(host.ok());
  REQUIRE(host.value().devices.size() == 1);
  CHECK(host.value().devices[0].uuid == Uuid(0));
  ::setenv("TFEMU_NVML", std::getenv("TFEMU_TEST_BAD_NVML"), 1);
  ::setenv("TFEMU_TEST_NVML_FAULT", "chatter", 1);
  const auto chatty = ParseProbe(LastLine(DaemonSays()));
  CHECK(chatty.ok());
  ::setenv("TFEMU_TEST_NVML_FAULT", "mismatch", 1);
  CHECK(ParseProbe(LastLine(DaemonSays())).error().message.find("version mismatch") != std::string::npos);
}

}  // namespace
}  // namespace tfemu::gpu
