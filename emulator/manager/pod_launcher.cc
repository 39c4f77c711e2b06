#include "emulator/manager/pod_launcher.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/api/config.h"
#include "emulator/api/eci_settings.h"
#include "emulator/api/volume.h"
#include "emulator/base/strings.h"
#include "runtime/log_format.h"

namespace tfemu::manager {
namespace {

constexpr const char* kMultiAttach = "Multi-Attach error";

using api::PodVolume;
using runtime::Volume;

int64_t Milli(const api::Resources& resources, const std::string& name) {
  const auto it = resources.find(name);
  return it == resources.end() ? 0 : it->second.milli;
}

runtime::Limits LimitsOf(const api::Pod& pod, const api::Container& container) {
  // The kubelet's conversion: two shares at least, so that pods without requests yield to the others.
  const int64_t shares = std::max<int64_t>(2, Milli(container.requests, "cpu") * 1024 / 1000);
  runtime::Limits limits{Milli(container.limits, "cpu"), shares, Milli(container.limits, "memory") / 1000};
  // On ECI a container without limits has its whole instance, and no more than that.
  if (const auto instance = api::EciInstanceOf(pod.meta)) {
    if (limits.cpu_millis == 0) limits.cpu_millis = static_cast<int64_t>(instance->spec.vcpus * 1000);
    if (limits.memory_bytes == 0)
      limits.memory_bytes = static_cast<int64_t>(instance->spec.memory_gib * (int64_t{1} << 30));
  }
  return limits;
}

std::vector<std::string> Command(const api::Container& container, const runtime::Image& image,
                                 const Data& variables) {
  std::vector<std::string> argv = container.command;
  if (argv.empty()) argv = image.entrypoint;
  const bool image_args = container.command.empty() && container.args.empty();
  const auto& args = image_args ? image.cmd : container.args;
  argv.insert(argv.end(), args.begin(), args.end());
  for (std::string& arg : argv) arg = Expand(arg, variables);
  return argv;
}

Data AsMap(const std::vector<std::string>& entries) {
  Data variables;
  for (const auto& entry : entries)
    variables[entry.substr(0, entry.find('='))] = entry.substr(entry.find('=') + 1);
  return variables;
}

std::vector<runtime::File> HostAliases(const api::PodSpec& spec) {
  std::string lines;
  for (const auto& [address, names] : spec.host_aliases) lines += address + "\t" + Join(names, "\t") + "\n";
  if (lines.empty()) return {};
  return {{"hosts", lines, 0644}};
}

std::string UserOf(const api::ContainerSecurity& security, const std::string& of_image) {
  std::string user = of_image;
  if (security.run_as_user) user = std::to_string(*security.run_as_user);
  if (security.run_as_group)
    user =
        (user.empty() ? "0" : user.substr(0, user.find(':'))) + ":" + std::to_string(*security.run_as_group);
  return user;
}

// The kubelet's refusal, in its words.
Result<void> CheckNonRoot(const api::Pod& pod, const api::Container& container, const std::string& of_image) {
  const api::ContainerSecurity& security = container.security;
  if (!security.run_as_non_root) return {};
  const std::string who = "(pod: \"" + pod.meta.name + "_" + pod.meta.ns + "(" + pod.meta.uid +
                          ")\", container: " + container.name + ")";
  if (security.run_as_user == 0)
    return Error{Reason::kInvalid, "container's runAsUser breaks non-root policy " + who};
  if (security.run_as_user) return {};
  const std::string name = of_image.substr(0, of_image.find(':'));
  const auto uid = ParseInt(name);
  if (name.empty() || uid == 0)
    return Error{Reason::kInvalid, "container has runAsNonRoot and image will run as root " + who};
  if (uid) return {};
  return Error{Reason::kInvalid, "container has runAsNonRoot and image has non-numeric user (" + name +
                                     "), cannot verify user is non-root " + who};
}

}  // namespace

Lookup PodLauncher::LookupIn(const std::string& ns) const {
  const auto find = [this, ns](const char* kind, auto decode) {
    return [this, ns, kind, decode](const std::string& name) -> std::optional<Data> {
      const auto object = store_.Get({kind, ns, name});
      if (!object.ok()) return std::nullopt;
      return decode(object.value());
    };
  };
  return {find("ConfigMap", api::DecodeConfigMap), find("Secret", api::DecodeSecret)};
}

// Of a volume that one node at a time may have: pods of other nodes that hold it. Other volumes cost no look.
Result<void> PodLauncher::CheckAttachment(const api::Pod& pod, const std::string& claim,
                                          const api::PersistentVolume& volume) const {
  for (const std::string& mode : volume.access_modes)
    if (mode == "ReadWriteMany" || mode == "ReadOnlyMany") return {};
  std::vector<std::string> holders;
  for (const api::Object& object : store_.List({"Pod", pod.meta.ns}).objects) {
    const api::Pod& other = object.As(api::DecodePod);
    if (other.finished() || other.status.pod_ip.empty() || other.spec.node_name == pod.spec.node_name)
      continue;
    const bool holds = std::ranges::any_of(other.spec.volumes, [&](const PodVolume& v) {
      return v.type == PodVolume::Type::kClaim && v.claim_name == claim;
    });
    if (holds) holders.push_back(other.meta.name);
  }
  if (holders.empty()) return {};
  return Error{Reason::kUnavailable, std::string(kMultiAttach) + " for volume \"" + volume.meta.name +
                                         "\" Volume is already used by pod(s) " + Join(holders, ", ")};
}

Result<Volume> PodLauncher::ClaimVolume(const api::Pod& pod, const PodVolume& volume) const {
  const auto object = store_.Get({"PersistentVolumeClaim", pod.meta.ns, volume.claim_name});
  if (!object.ok())
    return Error{Reason::kNotFound, "persistentvolumeclaim \"" + volume.claim_name + "\" not found"};
  const auto claim = api::DecodePersistentVolumeClaim(object.value());
  if (claim.phase != "Bound")
    return Error{Reason::kUnavailable, "persistentvolumeclaim \"" + volume.claim_name + "\" is not bound"};
  const auto bound = store_.Get({"PersistentVolume", "", claim.volume_name});
  if (!bound.ok())
    return Error{Reason::kNotFound, "persistentvolume \"" + claim.volume_name + "\" not found"};
  const auto pv = api::DecodePersistentVolume(bound.value());
  RETURN_IF_ERROR(CheckAttachment(pod, volume.claim_name, pv));
  ASSIGN_OR_RETURN(Volume made, folders_.Persistent(volume.name, pv));
  made.read_only = made.read_only || volume.read_only;
  if (!pv.local_path
           .empty()) {  // the kubelet gives files of this kind of volume to fsGroup, not of NAS or hostPath
    made.group = pod.spec.ownership.group;
    made.group_only_on_mismatch = pod.spec.ownership.only_on_mismatch;
  }
  return made;
}

Result<Volume> PodLauncher::ResolveVolume(const DownwardContext& context, const PodVolume& source) const {
  runtime::Volume volume{source.name};
  switch (source.type) {
    case PodVolume::Type::kEmptyDir:
      volume.type = source.memory ? Volume::Type::kMemory : Volume::Type::kScratch;
      volume.size_bytes = static_cast<uint64_t>(source.size_limit);
      volume.group = context.pod.spec.ownership.group;
      return volume;
    case PodVolume::Type::kHostPath:
      return StorageFolders::HostPath(source.name, source.host_path, source.host_path_type);
    case PodVolume::Type::kClaim: return ClaimVolume(context.pod, source);
    case PodVolume::Type::kNetwork: return folders_.Directory(source.name, source.network);
    case PodVolume::Type::kFiles: {
      volume.type = Volume::Type::kFiles;
      volume.group = context.pod.spec.ownership.group;
      ASSIGN_OR_RETURN(volume.files, VolumeFiles(context, source, LookupIn(context.pod.meta.ns)));
      return volume;
    }
    case PodVolume::Type::kUnsupported: break;
  }
  return Error{Reason::kInvalid, source.unsupported};
}

Result<runtime::PodLaunch> PodLauncher::Pod(const DownwardContext& context) const {
  const api::Pod& pod = context.pod;
  const ResolverSettings dns =
      ResolverOf(pod.spec.dns, pod.meta.ns, settings_.cluster_domain, settings_.node_dns);
  runtime::PodLaunch launch{pod.meta.uid,
                            pod.meta.ns,
                            pod.meta.name,
                            pod.spec.node_name,
                            pod.spec.hostname.empty() ? pod.meta.name : pod.spec.hostname,
                            context.pod_ip,
                            dns.searches,
                            dns.servers,
                            dns.options,
                            pod.spec.share_processes};
  launch.etc_files = HostAliases(pod.spec);
  for (const PodVolume& source : pod.spec.volumes) {
    auto volume = ResolveVolume(context, source);
    if (!volume.ok() && volume.error().message.starts_with(kMultiAttach)) return volume.error();
    if (!volume.ok())
      return Error{volume.error().reason,
                   "MountVolume.SetUp failed for volume \"" + source.name + "\" : " + volume.error().message};
    launch.volumes.push_back(std::move(volume).value());
  }
  return launch;
}

Result<runtime::Mount> PodLauncher::MountOf(const api::VolumeMount& mount, const Data& variables) const {
  runtime::Mount made{mount.name, mount.sub_path, mount.mount_path, mount.read_only};
  if (mount.sub_path_expr.empty()) return made;
  ASSIGN_OR_RETURN(made.sub_path, ExpandSubPath(mount.sub_path_expr, variables));
  const auto parts = Split(made.sub_path, '/');
  if (made.sub_path.starts_with('/'))
    return Error{Reason::kInvalid, "error SubPath `" + made.sub_path + "` must not be an absolute path"};
  if (std::ranges::find(parts, "..") != parts.end())
    return Error{Reason::kInvalid,
                 "unable to provision SubPath `" + made.sub_path + "`: must not contain '..'"};
  return made;
}

Result<runtime::ContainerLaunch> PodLauncher::Container(const DownwardContext& context,
                                                        const api::Container& container, int attempt) const {
  ASSIGN_OR_RETURN(const runtime::Image image, images_.Find(container.image));
  const api::Pod& pod = context.pod;
  runtime::ContainerLaunch launch{container.name, attempt, image.root};
  const GpuBinding gpus = BindGpus(
      {pod, container, context.node_gpus, settings_.gpus,
       runtime::GpuFoldersOf(settings_.state_folder, pod.meta.uid, container.name), image.root.host});
  launch.root.layers.insert(launch.root.layers.end(), gpus.layers.begin(), gpus.layers.end());
  Data given = image.env;
  for (const auto& [name, value] : gpus.env) given[name] = value;
  ASSIGN_OR_RETURN(launch.env, Environment(context, container, given, LookupIn(pod.meta.ns)));
  const Data variables = AsMap(launch.env);
  if (!variables.contains("HOSTNAME"))
    launch.env.push_back("HOSTNAME=" + (pod.spec.hostname.empty() ? pod.meta.name : pod.spec.hostname));
  launch.argv = Command(container, image, variables);
  launch.working_dir = !container.working_dir.empty() ? container.working_dir : image.working_dir;
  RETURN_IF_ERROR(CheckNonRoot(pod, container, image.user));
  launch.user = UserOf(container.security, image.user);
  launch.groups = pod.spec.ownership.groups;
  for (const api::VolumeMount& mount : container.mounts) {
    ASSIGN_OR_RETURN(runtime::Mount made, MountOf(mount, variables));
    launch.mounts.push_back(std::move(made));
  }
  launch.mounts.insert(launch.mounts.end(), gpus.mounts.begin(), gpus.mounts.end());
  launch.limits = LimitsOf(pod, container);
  launch.message_path = container.termination_path;
  launch.message_from_log = container.logs_on_error;
  const api::ContainerSecurity& security = container.security;
  launch.privileges = {security.add_capabilities, security.drop_capabilities, security.no_new_privileges,
                       security.read_only_root};
  launch.log_path = runtime::LogPath(settings_.state_folder, pod.meta.ns, pod.meta.name, pod.meta.uid,
                                     container.name, attempt);
  return launch;
}

}  // namespace tfemu::manager
