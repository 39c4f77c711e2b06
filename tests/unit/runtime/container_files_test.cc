// The files and the environment that a container gets by itself.
#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/process/mount_plan.h"

namespace tfemu::process {
namespace {

std::string ContentOf(const std::vector<runtime::File>& files, const std::string& path) {
  const auto found =
      std::find_if(files.begin(), files.end(), [&](const auto& file) { return file.path == path; });
  return found == files.end() ? "" : found->content;
}

const runtime::PodLaunch kPod{.uid = "u",
                              .hostname = "worker-0",
                              .address = "10.244.0.5",
                              .dns_searches = {"ns.svc.cluster.local", "svc.cluster.local", "cluster.local"}};

TEST_CASE("etc: names, resolver, and no resolver of the host") {
  const auto files = EtcFiles(kPod);
  CHECK(ContentOf(files, "hostname") == "worker-0\n");
  CHECK(ContentOf(files, "resolv.conf") ==
        "search ns.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions "
        "ndots:5\n");
  CHECK(ContentOf(files, "hosts").ends_with("10.244.0.5\tworker-0\n"));
  CHECK(ContentOf(files, "nsswitch.conf").find("hosts: files dns\n") != std::string::npos);
}

TEST_CASE("etc: further hosts are added, other files replace") {
  auto pod = kPod;
  pod.etc_files = {{"hosts", "1.2.3.4\talias\n"}, {"resolv.conf", "nameserver 9.9.9.9\n"}, {"motd", "hi\n"}};
  const auto files = EtcFiles(pod);
  CHECK(ContentOf(files, "hosts").ends_with("10.244.0.5\tworker-0\n1.2.3.4\talias\n"));
  CHECK(ContentOf(files, "resolv.conf") == "nameserver 9.9.9.9\n");
  CHECK(ContentOf(files, "motd") == "hi\n");
}

TEST_CASE("environment: defaults, and what the container says wins") {
  runtime::ContainerLaunch container;
  auto environment = ContainerEnvironment(kPod, container);
  CHECK(LookUp(environment, "PATH") == "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
  CHECK(LookUp(environment, "HOSTNAME") == "worker-0");
  CHECK(LookUp(environment, "HOME") == "/root");
  CHECK(LookUp(environment, "VIRTUAL_ENV").empty());

  container.root.python_environment = "/envs/tf";
  container.env = {"PATH=/mine", "HOME=/h", "A=1=2"};
  environment = ContainerEnvironment(kPod, container);
  CHECK(LookUp(environment, "PATH") == "/opt/venv/bin:/mine");
  CHECK(LookUp(environment, "VIRTUAL_ENV") == "/opt/venv");
  CHECK(LookUp(environment, "HOME") == "/h");
  CHECK(LookUp(environment, "A") == "1=2");
  CHECK(std::count(environment.begin(), environment.end(), "HOME=/root") == 0);
}

TEST_CASE("paths are normalised, and never lead upwards") {
  std::string out;
  CHECK(NormalizePath("/a//b/./c/", out));
  CHECK(out == "a/b/c");
  CHECK(NormalizePath("/", out));
  CHECK(out.empty());
  CHECK_FALSE(NormalizePath("a/../b", out));
}

}  // namespace
}  // namespace tfemu::process
