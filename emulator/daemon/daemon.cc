#include "emulator/daemon/daemon.h"

#include <fcntl.h>
#include <poll.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>
#include <unistd.h>

#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include "emulator/base/strings.h"
#include "emulator/daemon/dns_server.h"
#include "emulator/daemon/gpu_watch.h"
#include "emulator/daemon/heap_trim.h"
#include "emulator/daemon/probe_runner.h"
#include "emulator/daemon/service_proxy.h"
#include "emulator/io/resident.h"
#include "emulator/manager/cluster.h"
#include "emulator/manager/lister.h"
#include "emulator/rpc/paths.h"
#include "emulator/rpc/server.h"
#include "emulator/store/sqlite_journal.h"
#include "runtime/gpu/host/host_gpus.h"
#include "runtime/image/image_folders.h"
#include "runtime/process/cgroup.h"
#include "runtime/process/files.h"
#include "runtime/process/gpu_files.h"
#include "runtime/process/process_runtime.h"
#include "runtime/process/usage.h"

namespace tfemu::daemon {
namespace {

namespace fs = std::filesystem;
using io::AsioExecutor;

constexpr const char* kDnsAddress = "10.96.0.10";
constexpr int kLockTries = 200, kLockWaitMs = 5;

std::string Getenv(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

// What belongs to this program: beside it, in ../libexec, or where a build tree has it. "" when it is
// nowhere.
std::string FindBeside(const std::string& name) {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* place : {"", "../libexec/tfemu", "../../runtime", "../../runtime/supervisor"})
    if (const fs::path candidate = (here / place / name).lexically_normal(); fs::exists(candidate, error))
      return candidate.string();
  return "";
}

Result<std::string> FindSupervisor() {
  if (const std::string given = Getenv("TFEMU_SUPERVISOR"); !given.empty()) return given;
  if (const std::string found = FindBeside("tfemu-supervisor"); !found.empty()) return found;
  return Error{Reason::kNotFound, "tfemu-supervisor is not beside tfemud",
               "reinstall tfemu, or name it in TFEMU_SUPERVISOR"};
}

Result<void> CheckIsolation(const std::string& level) {
  if (level != "auto" && level != "root")
    return Error{Reason::kInvalid, "--isolation " + level + ": only root is provided by this version"};
  if (::geteuid() != 0)
    return Error{Reason::kForbidden, "pods need namespaces and cgroups, which need root",
                 "run it again as root: sudo tfemu up"};
  return {};
}

std::string CgroupDriverName() {
  switch (process::DetectCgroupVersion("/sys/fs/cgroup")) {
    case process::CgroupVersion::kV1: return "v1";
    case process::CgroupVersion::kV2: return "v2";
    case process::CgroupVersion::kNone: return "none";
  }
  return "none";
}

class Daemon {
 public:
  Daemon(const Options& options, api::ClusterConfig config)
      : options_(options), config_(std::move(config)), executor_(context_) {
    // From here on: whoever asks while the cluster still starts is heard when it has.
    signals_.async_wait([this](const auto& error, int signal) {
      if (error) return;
      spdlog::info("{}: stopping", signal == SIGINT ? "SIGINT" : "SIGTERM");
      Shutdown([] {});
    });
  }

  Result<void> Start() {
    ASSIGN_OR_RETURN(paths_, rpc::MakeClusterPaths(options_.home, options_.cluster, Getenv));
    RETURN_IF_ERROR(Lock());
    RETURN_IF_ERROR(FindGpus());  // forks, so before there is a second thread
    ASSIGN_OR_RETURN(const std::string supervisor, FindSupervisor());
    process::ProcessRuntime::Options runtime{paths_.state, options_.cluster, supervisor,
                                             [](const std::string& text) { spdlog::warn(text); }};
    runtime_ = std::make_unique<process::ProcessRuntime>(executor_, std::move(runtime));
    RETURN_IF_ERROR(runtime_->Start());
    took_over_ = runtime_->taken_over();
    RETURN_IF_ERROR(CheckFlags());
    RETURN_IF_ERROR(OpenStore());
    heap_trim_.emplace(executor_, *store_);
    image::ImageFoldersOptions images{image::DefaultImageFolders(config_.image_folders, options_.home),
                                      options_.home + "/cache"};
    images_ = std::make_unique<image::ImageFolders>(executor_, std::move(images));
    RETURN_IF_ERROR(StartCluster());
    StartDns();
    StartGpuWatch();
    RETURN_IF_ERROR(StartProxy());
    const rpc::Backend backend{executor_,
                               cluster_->registry(),
                               *store_,
                               *runtime_,
                               *images_,
                               paths_.state,
                               [this] { return Facts(); },
                               [this] { return Use(); },
                               [this](std::function<void()> stopped) { Shutdown(std::move(stopped)); }};
    server_ = std::make_unique<rpc::Server>(backend);
    return server_->Start(paths_.socket);
  }

  void Run() { context_.run(); }

  // Ends what a daemon that died has left: its supervisor, whatever that one's version, and the pods.
  Result<void> Sweep() {
    paths_ = rpc::FindClusterPaths(options_.home, options_.cluster);
    if (!fs::exists(paths_.state)) return {};
    RETURN_IF_ERROR(Lock());
    process::ProcessRuntime::Options runtime{paths_.state, options_.cluster, "",
                                             [](const std::string& text) { spdlog::warn(text); }};
    return process::ProcessRuntime(executor_, std::move(runtime)).Sweep();
  }

  // Everything is gone after this: pods, supervisor, sockets; with --ephemeral the state too. But when the
  // start has failed, pods that a former daemon left are left to the next.
  void End(bool started) {
    const bool ephemeral = options_.ephemeral && (started || !took_over_);
    if (runtime_ && !started && took_over_) runtime_->Abandon();
    server_.reset();
    gpu_watch_.reset();
    proxy_.reset();
    dns_.reset();
    if (runtime_) runtime_->Shutdown();
    cluster_.reset();
    runtime_.reset();
    heap_trim_.reset();
    store_.reset();
    journal_.reset();
    std::error_code ignored;
    if (ephemeral && !paths_.state.empty()) fs::remove_all(paths_.state, ignored);
  }

 private:
  Result<void> Lock() {
    lock_.Reset(::open((paths_.state + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock_.valid())
      return Error{Reason::kUnavailable, "cannot write to " + paths_.state,
                   "check its permissions and the space on its disk"};
    // A daemon that was just killed holds it for a moment yet.
    for (int i = 0; i < kLockTries; ++i, ::poll(nullptr, 0, kLockWaitMs))
      if (::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) return {};
    return Error{Reason::kAlreadyExists, "cluster " + options_.cluster + " is already running",
                 "tfemu info shows it; tfemu down stops it"};
  }

  // Pods that go on have their places on the nodes of the former daemon; other nodes would belie them.
  Result<void> CheckFlags() {
    const std::string file = paths_.state + "/flags", ours = FlagsText(options_);
    const auto theirs = process::ReadFile(file);
    if (!took_over_ || !theirs.ok()) return process::CreateFile(file, ours, 0600);
    if (theirs.value() == ours) return {};
    return Error{Reason::kConflict,
                 "the pods that go on are of a cluster that was started with: " +
                     (theirs.value().empty() ? "no flags" : theirs.value()),
                 "start it the same way, or end them first: tfemu down"};
  }

  Result<void> FindGpus() {
    const std::string library = Getenv("TFEMU_NVML");
    const Result<gpu::HostGpus> host =
        WantsHostGpus(config_)
            ? gpu::ProbeHostGpus(library.empty() ? gpu::kNvmlLibrary : library, gpu::kProbeTimeoutMs)
            : gpu::HostGpus();
    ASSIGN_OR_RETURN(node_gpus_, PlanGpus(config_, host));
    gpu_settings_ = {FindBeside("gpu/virtual-layer"), FindBeside("gpu/shim-layer")};
    if (!host.ok()) return {};
    gpu_settings_.cuda_driver = host.value().cuda_driver;
    gpu_settings_.driver_files = host.value().driver_files;
    gpu_settings_.control_devices = host.value().control_devices;
    gpu_settings_.mig_devices = host.value().mig_devices;
    return {};
  }

  Result<void> OpenStore() {
    ASSIGN_OR_RETURN(journal_, store::SqliteJournal::Open(paths_.state + "/state.db"));
    ASSIGN_OR_RETURN(store::SqliteJournal::Kept kept, journal_->Load());
    store_ = std::make_unique<store::MemoryStore>(executor_, journal_.get());
    store_->Load(std::move(kept.objects), kept.revision, std::move(kept.past));
    return {};
  }

  Result<void> StartCluster() {
    manager::ClusterSettings settings;
    settings.seed = std::random_device{}();
    settings.nodes = MakeNodes(config_, node_gpus_, ReadHostFacts(), executor_.Now());
    settings.launch = {paths_.state, "cluster.local", {}, {}, gpu_settings_, config_.eci};
    if (const auto resolver = process::ReadFile("/etc/resolv.conf"); resolver.ok())
      settings.launch.node_dns = manager::ParseResolvConf(resolver.value());
    for (const auto& [name, storage] : config_.nas)
      settings.launch.nas[name] = {storage.folder, static_cast<uint64_t>(storage.quota_bytes)};
    for (const auto& [name, storage] : config_.oss)
      settings.launch.oss[name] = {storage.folder, static_cast<uint64_t>(storage.quota_bytes)};
    settings.eci = config_.eci;
    settings.time_scale = config_.time_scale;
    settings.tfjob = config_.tfjob;
    probes_ = std::make_unique<PodProbeRunner>(executor_, *runtime_);
    cluster_ = std::make_unique<manager::Cluster>(
        manager::ClusterDeps{executor_, *store_, *runtime_, *images_, &gpu_files_, probes_.get()},
        std::move(settings));
    runtime_->SetLostHandler([this](const std::string& why) { OnSupervisorLost(why); });
    RETURN_IF_ERROR(cluster_->Start());
    TellAdopted();
    return {};
  }

  void TellAdopted() {
    const auto& adopted = cluster_->adopted();
    const auto pods = [](int n) { return std::to_string(n) + (n == 1 ? " pod" : " pods"); };
    if (took_over_) note_ = "adopted " + pods(adopted.running) + " that ran on without a daemon";
    const std::string& why = runtime_->lost_before();
    if (!took_over_ && adopted.lost > 0)
      note_ = "lost " + pods(adopted.lost) + (why.empty() ? "" : ": " + why) +
              "; those whose restart policy allows it start again";
    if (!note_.empty()) spdlog::info(note_);
  }

  // As a node that fails and comes back: its pods are gone, and start again where their policy says so.
  void OnSupervisorLost(const std::string& why) {
    if (stopping_) return;
    spdlog::error("the supervisor ended, and its pods with it: {}", why);
    cluster_->node_agent().OnRuntimeLost(why);
    dns_.reset();
    if (proxy_watch_) store_->Unwatch(*std::exchange(proxy_watch_, std::nullopt));
    proxy_.reset();
    RestartSupervisor();
  }

  void RestartSupervisor() {
    if (stopping_) return;
    const Result<void> started = runtime_->Start();
    if (!started.ok()) {
      spdlog::error("{}; trying again in a second", started.error().message);
      executor_.PostAt(executor_.Now() + std::chrono::seconds(1), [this] { RestartSupervisor(); });
      return;
    }
    (void)runtime_->TakeOver();
    StartDns();
    if (const auto proxied = StartProxy(); !proxied.ok())
      spdlog::error("services have no addresses: {}", proxied.error().message);
    cluster_->node_agent().OnRuntimeBack();
  }

  void StartDns() {
    dns_ = std::make_unique<DnsServer>(executor_, *store_, config_.tfjob.custom_cluster_domain);
    for (const bool udp : {true, false})
      runtime_->OpenClusterSocket({kDnsAddress, 53, udp}, [this, udp](Result<UniqueFd> socket) {
        if (!socket.ok()) spdlog::error("no cluster DNS: {}", socket.error().message);
        else if (udp) dns_->ServeUdp(std::move(socket).value());
        else dns_->ServeTcp(std::move(socket).value());
      });
  }

  void StartGpuWatch() {
    const auto real = [](const api::Gpu& gpu) { return !gpu.is_virtual(); };
    const bool any = std::ranges::any_of(
        node_gpus_, [&](const api::NodeGpus& gpus) { return std::ranges::any_of(gpus.devices, real); });
    if (!any) return;
    gpu_watch_ = std::make_unique<GpuWatch>(context_, executor_, "/proc/self/exe", [this](const auto& host) {
      if (!host.ok()) return cluster_->OnHostGpus(host.error());
      cluster_->node_agent().UseMigDevices(host.value().mig_devices);
      cluster_->OnHostGpus(host.value().devices);
    });
    if (const auto seconds = ParseInt(Getenv("TFEMU_GPU_WATCH_SECONDS")); seconds && *seconds > 0)
      gpu_watch_->set_period(std::chrono::seconds(*seconds));
    gpu_watch_->Start();
  }

  Result<void> StartProxy() {
    ServiceProxy::Sockets sockets;
    sockets.listen = [this](const std::string& address, int port, ServiceProxy::SocketDone done) {
      runtime_->OpenClusterSocket({address, static_cast<uint16_t>(port), false}, std::move(done));
    };
    sockets.open = [this](const std::string& uid, ServiceProxy::SocketDone done) {
      runtime_->OpenSocket(uid, std::move(done));
    };
    proxy_ = std::make_unique<ServiceProxy>(executor_, *store_, std::move(sockets));
    const store::Listing services = store_->List({"Service", ""});
    ASSIGN_OR_RETURN(proxy_watch_,
                     store_->Watch({"Service", ""}, services.revision,
                                   [this](const store::WatchEvent& event) { proxy_->OnWatch(event); }));
    for (const api::Object& service : services.objects) proxy_->OnWatch({store::WatchType::kAdded, service});
    return {};
  }

  rpc::ClusterFacts Facts() const {
    rpc::ClusterFacts facts{options_.cluster, TFEMU_VERSION, paths_.state,       "root",  CgroupDriverName(),
                            "10.244.0.0/16",  kDnsAddress,   options_.ephemeral, started_};
    facts.image_folders = images_->folders();
    facts.tfjob = api::TFJobSettingsText(config_.tfjob);
    if (!note_.empty()) facts.notes.push_back(note_);
    for (const Error& problem : images_->Problems()) facts.notes.push_back(problem.message);
    facts.settings = {{"config", options_.config_file},
                      {"nodes", std::to_string(options_.nodes)},
                      {"cpus", options_.cpus == 0 ? "" : std::to_string(options_.cpus)},
                      {"gpus", options_.gpus},
                      {"gpu-model", options_.gpu_model},
                      {"eci", options_.eci}};
    return facts;
  }

  rpc::ClusterUse Use() const {
    rpc::ClusterUse use;
    const manager::NodeAgent& agent = cluster_->node_agent();
    const auto running = agent.RunningPids();
    std::vector<int> pids;
    for (const auto& [key, list] : running) pids.insert(pids.end(), list.begin(), list.end());
    const auto usages = process::ReadUsage(pids);
    for (const auto& [key, list] : running) {
      const auto object = store_->Get(key);
      if (!object.ok()) continue;
      rpc::ClusterUse::Pod pod{key.ns, key.name, object.value().As(api::DecodePod).spec.node_name};
      for (const int pid : list)
        if (const auto usage = usages.find(pid); usage != usages.end()) {
          pod.cpu_ns += usage->second.cpu_ns;
          pod.memory_bytes += usage->second.memory_bytes;
        }
      use.pods.push_back(std::move(pod));
    }
    const auto nodes = manager::ListAll(*store_, {"Node", ""}, api::DecodeNode);
    for (const api::Node& node : nodes) {
      use.nodes.push_back(node.meta.name);
      for (const api::Gpu& gpu : node.gpus.devices)
        use.gpus.push_back(agent.gpus().Usage(node.meta.name, gpu));
    }
    for (auto& usage : agent.gpus().UsageBesides(nodes)) use.gpus.push_back(std::move(usage));
    return use;
  }

  void Shutdown(std::function<void()> stopped) {
    if (std::exchange(stopping_, true)) return;
    executor_.Post([this, stopped = std::move(stopped)] {
      runtime_->Shutdown();
      stopped();
      server_->Stop([this] { context_.stop(); });
    });
  }

  Options options_;
  api::ClusterConfig config_;
  boost::asio::io_context context_{1};
  AsioExecutor executor_;
  boost::asio::signal_set signals_{context_, SIGINT, SIGTERM};
  Instant started_ = executor_.Now();
  std::vector<api::NodeGpus> node_gpus_;
  manager::GpuSettings gpu_settings_;
  process::DiskGpuFiles gpu_files_;
  rpc::ClusterPaths paths_;
  UniqueFd lock_;
  std::unique_ptr<store::SqliteJournal> journal_;
  std::unique_ptr<store::MemoryStore> store_;
  std::optional<HeapTrim> heap_trim_;
  std::unique_ptr<process::ProcessRuntime> runtime_;
  std::unique_ptr<image::ImageFolders> images_;
  std::unique_ptr<PodProbeRunner> probes_;
  std::unique_ptr<manager::Cluster> cluster_;
  std::unique_ptr<DnsServer> dns_;
  std::unique_ptr<ServiceProxy> proxy_;
  std::unique_ptr<GpuWatch> gpu_watch_;
  std::unique_ptr<rpc::Server> server_;
  std::optional<store::WatchId> proxy_watch_;
  std::string note_;  // what became of the pods of a former daemon
  bool took_over_ = false;
  bool stopping_ = false;
};

}  // namespace

Result<void> RunCluster(const Options& options, const std::function<void()>& ready) {
  RETURN_IF_ERROR(rpc::CheckClusterName(options.cluster));
  RETURN_IF_ERROR(CheckIsolation(options.isolation));
  ASSIGN_OR_RETURN(api::ClusterConfig config, MakeConfig(options));
  Daemon daemon(options, std::move(config));
  const Result<void> started = daemon.Start();
  if (started.ok()) {
    ready();
    io::ForgetStartupCode();
    daemon.Run();
  }
  daemon.End(started.ok());
  return started;
}

Result<void> SweepCluster(const Options& options) {
  RETURN_IF_ERROR(rpc::CheckClusterName(options.cluster));
  return Daemon(options, {}).Sweep();
}

}  // namespace tfemu::daemon
