#include "runtime/process/mount_plan.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace tfemu::process {
namespace {

using Type = MountStep::Type;

const std::set<std::string> kReadOnly{"bin",    "sbin", "lib", "lib32", "lib64",
                                      "libx32", "usr",  "srv", "nix",   "gnu"};
const std::set<std::string> kWritable{"etc", "var", "opt"};
const std::set<std::string> kKernel{"proc", "sys", "dev"};

std::string FirstPart(const std::string& relative) { return relative.substr(0, relative.find('/')); }

// A folder of the root that comes from somewhere.
struct Source {
  std::vector<std::string> lowers;  // the highest first
  bool writable = false;
};

class Planner {
 public:
  Planner(const RootRequest& request, const HostView& host) : request_(request), host_(host) {}

  Result<std::vector<MountStep>> Run() {
    if (request_.container.root.host) TakeHost();
    RETURN_IF_ERROR(TakeLayers());
    RETURN_IF_ERROR(MakeRoomForTargets());
    EmitFolders();
    EmitSources();
    EmitKernel();
    EmitPython();
    RETURN_IF_ERROR(EmitMounts());
    if (request_.container.privileges.read_only_root) EmitReadOnly();
    return std::move(steps_);
  }

 private:
  MountStep& Emit(Type type, std::string target) {
    steps_.push_back({.type = type, .target = std::move(target)});
    return steps_.back();
  }

  void TakeHost() {
    for (const auto& entry : host_.List("/")) {
      const bool writable = kWritable.contains(entry.name);
      if (!writable && !kReadOnly.contains(entry.name)) continue;
      if (entry.type == HostEntry::Type::kSymlink) links_[entry.name] = entry.link;
      if (entry.type == HostEntry::Type::kFolder) sources_[entry.name] = {{"/" + entry.name}, writable};
    }
  }

  Result<void> TakeLayers() {
    const auto& layers = request_.container.root.layers;
    if (!request_.container.root.host) {  // the layers are the whole root
      if (layers.empty()) return Error{Reason::kInvalid, "the image has neither the host's root nor layers"};
      sources_[""] = {{layers.rbegin(), layers.rend()}, true};
      return {};
    }
    for (const auto& layer : layers) {
      if (!host_.Exists(layer))
        return Error{Reason::kNotFound, "the image's layer " + layer + " does not exist"};
      for (const auto& entry : host_.List(layer)) RETURN_IF_ERROR(TakeLayerEntry(layer, entry));
    }
    return {};
  }

  Result<void> TakeLayerEntry(const std::string& layer, const HostEntry& entry) {
    const std::string path = layer + "/" + entry.name;
    if (kKernel.contains(entry.name))
      return Error{Reason::kInvalid, "the image's layer has /" + entry.name + ", which the kernel provides",
                   "remove " + path};
    if (entry.type == HostEntry::Type::kSymlink) {
      if (!sources_.contains(entry.name)) links_[entry.name] = entry.link;
      return {};
    }
    if (entry.type == HostEntry::Type::kFile) {
      layer_files_[entry.name] = path;
      return {};
    }
    std::string target = entry.name;
    if (const auto link = links_.find(entry.name); link != links_.end()) {
      if (!NormalizePath(link->second, target))
        return Error{Reason::kInvalid,
                     "the image's layer has /" + entry.name + ", a symbolic link on this host"};
      if (!sources_.contains(target)) sources_[target] = {{"/" + target}, true};
    }
    Source& source = sources_[target];
    source.lowers.insert(source.lowers.begin(), path);
    source.writable = true;
    return {};
  }

  // A target that is not there must be made, so what it lies in must be writable.
  Result<void> MakeRoomForTargets() {
    std::vector<std::string> targets{request_.container.working_dir};
    for (const auto& mount : request_.container.mounts) targets.push_back(mount.target);
    if (HasMessage()) targets.push_back(request_.container.message_path);
    for (const auto& target : targets) {
      std::string relative;
      if (!NormalizePath(target, relative))
        return Error{Reason::kInvalid, "the path \"" + target + "\" must not contain \"..\""};
      const auto source = sources_.find(FirstPart(relative));
      if (source == sources_.end() || relative.find('/') == std::string::npos) continue;
      const std::string below = relative.substr(relative.find('/'));
      const auto& lowers = source->second.lowers;
      const bool there = std::any_of(lowers.begin(), lowers.end(),
                                     [&](const auto& lower) { return host_.Exists(lower + below); });
      if (!there) source->second.writable = true;
    }
    return {};
  }

  void EmitFolders() {
    if (sources_.contains("")) Emit(Type::kOverlay, "").lowers = sources_[""].lowers;
    static const std::vector<std::pair<const char*, unsigned>> kFolders{
        {"tmp", 01777},  {"run", 0755}, {"run/lock", 01777}, {"root", 0700}, {"home", 0755}, {"mnt", 0755},
        {"media", 0755}, {"var", 0755}, {"etc", 0755},       {"proc", 0555}, {"sys", 0555},  {"dev", 0755}};
    for (const auto& [name, mode] : kFolders)
      if (!links_.contains(FirstPart(name))) Emit(Type::kFolder, name).mode = mode;
    for (const auto& [name, text] : links_) Emit(Type::kSymlink, name).source = text;
  }

  void EmitSources() {
    for (const auto& [target, source] : sources_) {
      if (target.empty()) continue;
      MountStep& step = Emit(source.writable ? Type::kOverlay : Type::kBind, target);
      if (source.writable) {
        step.lowers = source.lowers;
        if (target == "etc") step.files = EtcFiles(request_.pod);
        if (target == "var") step.hidden = {"tmp"};
      } else {
        step.source = source.lowers.front();
        step.read_only = true;
      }
    }
    for (const auto& [name, path] : layer_files_) {
      MountStep& step = Emit(Type::kBind, name);
      step.source = path;
      step.read_only = true;
    }
    if (!sources_.contains("etc"))
      for (const auto& file : EtcFiles(request_.pod)) {
        if (!request_.container.root.host && file.path == "nsswitch.conf")
          continue;  // an image has its own modules
        MountStep& step = Emit(Type::kFile, "etc/" + file.path);
        step.content = file.content;
        step.mode = file.mode;
      }
    Emit(Type::kFolder, "var/tmp").mode = 01777;
  }

  void EmitKernel() {
    FileSystem("proc", "proc", "");
    Emit(Type::kReadOnlySelf, "proc/sys");
    Emit(Type::kReadOnlySelf, "proc/sysrq-trigger");
    FileSystem("sys", "sysfs", "").read_only = true;
    if (!request_.container.root.host || request_.container.privileges.read_only_root)
      FileSystem("dev", "tmpfs", "mode=0755");  // the image's own is of no use
    static constexpr struct {
      const char* name;
      unsigned major, minor;
    } kDevices[] = {{"null", 1, 3},   {"zero", 1, 5},    {"full", 1, 7},
                    {"random", 1, 8}, {"urandom", 1, 9}, {"tty", 5, 0}};
    for (const auto& device : kDevices) {
      MountStep& step = Emit(Type::kDevice, std::string("dev/") + device.name);
      step.mode = 0666;
      step.major = device.major;
      step.minor = device.minor;
    }
    static constexpr std::pair<const char*, const char*> kLinks[] = {
        {"fd", "/proc/self/fd"},       {"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"},
        {"stderr", "/proc/self/fd/2"}, {"ptmx", "pts/ptmx"},         {"core", "/proc/kcore"}};
    for (const auto& [name, to] : kLinks) Emit(Type::kSymlink, std::string("dev/") + name).source = to;
    FileSystem("dev/pts", "devpts", "newinstance,ptmxmode=0666,mode=0620,gid=5");
    FileSystem("dev/mqueue", "mqueue", "");
    Emit(Type::kBind, "dev/shm").source = request_.shm;
  }

  MountStep& FileSystem(std::string target, std::string type, std::string options) {
    MountStep& step = Emit(Type::kFileSystem, std::move(target));
    step.source = std::move(type);
    step.content = std::move(options);
    return step;
  }

  void EmitPython() {
    const std::string& environment = request_.container.root.python_environment;
    if (environment.empty()) return;
    MountStep& step = Emit(Type::kBind, runtime::kPythonPrefix + 1);
    step.source = environment;
    step.read_only = true;
  }

  // Outer targets first, else they would hide the inner ones.
  Result<void> EmitMounts() {
    std::vector<std::pair<std::string, const runtime::Mount*>> mounts;
    std::vector<runtime::Mount> wanted = request_.container.mounts;
    if (HasMessage())
      wanted.push_back({.target = request_.container.message_path, .host_path = request_.message_file});
    for (const auto& mount : wanted) {
      std::string target;
      NormalizePath(mount.target, target);
      if (target.empty()) return Error{Reason::kInvalid, "a volume cannot be mounted on /"};
      if (FirstPart(target) == "proc")
        return Error{Reason::kInvalid,
                     "\"" + mount.target + "\" cannot be mounted because it is inside /proc"};
      mounts.emplace_back(std::move(target), &mount);
    }
    std::stable_sort(mounts.begin(), mounts.end(), [](const auto& a, const auto& b) {
      return std::count(a.first.begin(), a.first.end(), '/') <
             std::count(b.first.begin(), b.first.end(), '/');
    });
    for (const auto& [target, mount] : mounts) RETURN_IF_ERROR(EmitMount(target, *mount));
    return {};
  }

  bool HasMessage() const {
    return !request_.message_file.empty() && !request_.container.message_path.empty();
  }

  // Last: until then the targets of mounts are made.
  void EmitReadOnly() {
    std::string working_dir;
    NormalizePath(request_.container.working_dir, working_dir);
    if (!working_dir.empty()) Emit(Type::kFolder, working_dir);
    for (const auto& [target, source] : sources_) {
      const bool hidden = std::ranges::any_of(request_.container.mounts, [&](const auto& mount) {
        std::string on;
        return NormalizePath(mount.target, on) && on == target;
      });
      if (source.writable && !target.empty() && !hidden) Emit(Type::kReadOnlyMount, target);
    }
    Emit(Type::kReadOnlyMount, "");
  }

  bool IsReadOnly(const std::string& name) const {
    const auto& volumes = request_.pod.volumes;
    return std::any_of(volumes.begin(), volumes.end(), [&](const auto& volume) {
      return volume.name == name && (volume.type == runtime::Volume::Type::kFiles || volume.read_only);
    });
  }

  Result<void> EmitMount(const std::string& target, const runtime::Mount& mount) {
    if (!mount.host_path.empty()) {
      MountStep& step = Emit(Type::kBind, target);
      step.source = mount.host_path;
      step.read_only = mount.read_only;
      return {};
    }
    const auto volume = request_.volumes.find(mount.volume);
    if (volume == request_.volumes.end())
      return Error{Reason::kInvalid, "the pod has no volume \"" + mount.volume + "\""};
    MountStep& step = Emit(Type::kBind, target);
    step.source = volume->second;
    step.read_only = mount.read_only || IsReadOnly(mount.volume);
    if (!NormalizePath(mount.sub_path, step.sub_path))
      return Error{Reason::kInvalid, "the subPath \"" + mount.sub_path + "\" must not contain \"..\""};
    return {};
  }

  const RootRequest& request_;
  const HostView& host_;
  std::map<std::string, Source> sources_;     // by path in the root
  std::map<std::string, std::string> links_;  // name -> text
  std::map<std::string, std::string> layer_files_;
  std::vector<MountStep> steps_;
};

}  // namespace

Result<std::vector<MountStep>> PlanRoot(const RootRequest& request, const HostView& host) {
  return Planner(request, host).Run();
}

}  // namespace tfemu::process
