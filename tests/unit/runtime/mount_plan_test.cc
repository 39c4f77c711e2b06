// The plan of a container's root, without root.
#include "runtime/process/mount_plan.h"

#include <doctest/doctest.h>

#include <set>

namespace tfemu::process {
namespace {

using Type = MountStep::Type;
using EntryType = HostEntry::Type;

class FakeHost final : public HostView {
 public:
  std::map<std::string, std::vector<HostEntry>> folders{{"/",
                                                         {{"bin", EntryType::kSymlink, "usr/bin"},
                                                          {"boot"},
                                                          {"etc"},
                                                          {"home"},
                                                          {"lib64", EntryType::kSymlink, "usr/lib64"},
                                                          {"opt"},
                                                          {"root"},
                                                          {"tmp"},
                                                          {"usr"},
                                                          {"var"},
                                                          {"work"}}}};
  std::set<std::string> exists{"/usr/share", "/usr/bin", "/opt"};

  std::vector<HostEntry> List(const std::string& folder) const override {
    const auto found = folders.find(folder);
    return found == folders.end() ? std::vector<HostEntry>{} : found->second;
  }
  bool Exists(const std::string& path) const override {
    return exists.contains(path) || folders.contains(path);
  }
};

struct Launch {
  runtime::PodLaunch pod{.uid = "u", .hostname = "h", .address = "10.244.0.5"};
  runtime::ContainerLaunch container{.name = "main", .argv = {"x"}};
  FakeHost host;

  Result<std::vector<MountStep>> Plan() const {
    return PlanRoot({pod, container, {{"data", "/nas/data"}}, "/scratch/shm"}, host);
  }
};

std::vector<MountStep> StepsOf(const Launch& launch) {
  auto plan = launch.Plan();
  REQUIRE_MESSAGE(plan.ok(), plan.error().message);
  return std::move(plan).value();
}

const MountStep* At(const std::vector<MountStep>& steps, const std::string& target) {
  const MountStep* found = nullptr;  // the last one is what the container sees
  for (const auto& step : steps)
    if (step.target == target) found = &step;
  return found;
}

size_t Position(const std::vector<MountStep>& steps, const std::string& target) {
  return static_cast<size_t>(At(steps, target) - steps.data());
}

TEST_CASE("the host's folders: read-only, writable, links, and the rest not shown") {
  const auto steps = StepsOf({});
  CHECK(At(steps, "usr")->type == Type::kBind);
  CHECK(At(steps, "usr")->read_only);
  CHECK(At(steps, "etc")->type == Type::kOverlay);
  CHECK(At(steps, "opt")->type == Type::kOverlay);
  CHECK(At(steps, "bin")->type == Type::kSymlink);
  CHECK(At(steps, "bin")->source == "usr/bin");
  CHECK(At(steps, "root")->type == Type::kFolder);
  CHECK(At(steps, "tmp")->mode == 01777);
  CHECK(At(steps, "work") == nullptr);
  CHECK(At(steps, "boot") == nullptr);
  CHECK(At(steps, "var")->hidden == std::vector<std::string>{"tmp"});
  CHECK(At(steps, "dev/shm")->source == "/scratch/shm");
}

TEST_CASE("a mount below a read-only folder makes that folder writable when its target is missing") {
  Launch launch;
  launch.container.mounts = {{.volume = "data", .target = "/usr/share"}};
  CHECK(At(StepsOf(launch), "usr")->type == Type::kBind);
  launch.container.mounts[0].target = "/usr/share/new";
  CHECK(At(StepsOf(launch), "usr")->type == Type::kOverlay);
  launch.container.mounts = {};
  launch.container.working_dir = "/usr/nowhere";
  CHECK(At(StepsOf(launch), "usr")->type == Type::kOverlay);
}

TEST_CASE("mounts come after everything they lie in, outer ones first") {
  Launch launch;
  launch.container.mounts = {{.volume = "data", .sub_path = "logs/", .target = "/training//logs"},
                             {.volume = "data", .target = "/training", .read_only = true},
                             {.volume = "data", .target = "/usr/share"}};
  const auto steps = StepsOf(launch);
  CHECK(Position(steps, "training") < Position(steps, "training/logs"));
  CHECK(Position(steps, "usr") < Position(steps, "usr/share"));
  CHECK(At(steps, "training")->read_only);
  CHECK(At(steps, "training")->source == "/nas/data");
  CHECK(At(steps, "training/logs")->sub_path == "logs");
  CHECK_FALSE(At(steps, "training/logs")->read_only);
}

TEST_CASE("a volume of files is read-only whatever the mount says") {
  Launch launch;
  launch.pod.volumes = {{.name = "data", .type = runtime::Volume::Type::kFiles}};
  launch.container.mounts = {{.volume = "data", .target = "/conf"}};
  CHECK(At(StepsOf(launch), "conf")->read_only);
}

TEST_CASE("layers: alone, merged, over a link, files, and the higher one first") {
  Launch launch;
  launch.container.root.layers = {"/low", "/high"};
  launch.host.folders["/low"] = {{"app"}, {"bin"}, {"usr"}};
  launch.host.folders["/high"] = {{"app"}, {"start", EntryType::kFile}};
  const auto steps = StepsOf(launch);
  CHECK(At(steps, "app")->lowers == std::vector<std::string>{"/high/app", "/low/app"});
  CHECK(At(steps, "usr")->lowers == std::vector<std::string>{"/low/usr", "/usr"});
  CHECK(At(steps, "usr/bin")->lowers == std::vector<std::string>{"/low/bin", "/usr/bin"});
  CHECK(Position(steps, "usr") < Position(steps, "usr/bin"));
  CHECK(At(steps, "bin")->type == Type::kSymlink);
  CHECK(At(steps, "start")->source == "/high/start");
}

TEST_CASE("a root without the host is its layers") {
  Launch launch;
  launch.container.root = {.host = false, .layers = {"/image"}};
  launch.host.folders["/image"] = {{"usr"}, {"etc"}};
  const auto steps = StepsOf(launch);
  CHECK(steps[0].type == Type::kOverlay);
  CHECK(steps[0].target.empty());
  CHECK(At(steps, "usr") == nullptr);
  CHECK(At(steps, "etc/hosts")->type == Type::kFile);
  launch.container.root.layers = {};
  CHECK(launch.Plan().error().message == "the image has neither the host's root nor layers");
}

TEST_CASE("what cannot be planned is refused with its name") {
  Launch launch;
  launch.container.mounts = {{.volume = "data", .target = "/"}};
  CHECK(launch.Plan().error().message == "a volume cannot be mounted on /");
  launch.container.mounts = {{.volume = "data", .target = "/a/../b"}};
  CHECK(launch.Plan().error().message == "the path \"/a/../b\" must not contain \"..\"");
  launch.container.mounts = {{.volume = "data", .sub_path = "../x", .target = "/a"}};
  CHECK(launch.Plan().error().message == "the subPath \"../x\" must not contain \"..\"");
  launch.container.mounts = {{.volume = "none", .target = "/a"}};
  CHECK(launch.Plan().error().message == "the pod has no volume \"none\"");
  launch.container.mounts = {};
  launch.container.root.layers = {"/missing"};
  CHECK(launch.Plan().error().message == "the image's layer /missing does not exist");
  launch.container.root.layers = {"/low"};
  launch.host.folders["/low"] = {{"proc"}};
  CHECK(launch.Plan().error().message == "the image's layer has /proc, which the kernel provides");
}

TEST_CASE("the python environment is a read-only bind under the writable /opt") {
  Launch launch;
  launch.container.root.python_environment = "/envs/tf";
  const auto steps = StepsOf(launch);
  CHECK(At(steps, "opt/venv")->source == "/envs/tf");
  CHECK(At(steps, "opt/venv")->read_only);
  CHECK(Position(steps, "opt") < Position(steps, "opt/venv"));
}

TEST_CASE("a read-only root becomes so last, without what is mounted into it") {
  Launch launch;
  launch.container.privileges.read_only_root = true;
  launch.container.working_dir = "/made";
  launch.container.mounts = {{.volume = "data", .target = "/opt"}};
  const auto steps = StepsOf(launch);
  CHECK(steps.back().type == Type::kReadOnlyMount);
  CHECK(steps.back().target.empty());
  std::vector<std::string> closed;
  for (const auto& step : steps)
    if (step.type == Type::kReadOnlyMount) closed.push_back(step.target);
  CHECK(closed == std::vector<std::string>{"etc", "var", ""});
  REQUIRE(At(steps, "made") != nullptr);
  CHECK(At(steps, "dev") != nullptr);
  CHECK(At(steps, "dev")->type == Type::kFileSystem);
}

TEST_CASE("the termination message file is bound like a mount, where it has room") {
  Launch launch;
  launch.container.message_path = "/usr/end";
  auto plan =
      PlanRoot({launch.pod, launch.container, {}, "/scratch/shm", "/scratch/messages/main"}, launch.host);
  REQUIRE(plan.ok());
  REQUIRE(At(plan.value(), "usr/end") != nullptr);
  CHECK(At(plan.value(), "usr/end")->source == "/scratch/messages/main");
  CHECK(At(plan.value(), "usr")->type == Type::kOverlay);
}

}  // namespace
}  // namespace tfemu::process
