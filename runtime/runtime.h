// What a node can do with a pod. One implementation starts processes, another plays a script on virtual time;
// nothing above this line can tell which. Shapes follow the CRI: a sandbox, then containers inside it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emulator/base/executor.h"
#include "emulator/base/result.h"
#include "emulator/base/unique_fd.h"

namespace tfemu::runtime {

struct File {
  std::string path;  // relative to the volume, may have folders
  std::string content;
  unsigned mode = 0644;
};

// A folder that holds at most `bytes`: a file system of that size lies over it.
struct Quota {
  std::string folder;  // absolute
  uint64_t bytes = 0;
  friend bool operator==(const Quota&, const Quota&) = default;
};

// A pod's volume: made before its first container starts, shared by its containers, gone (but for kDirectory)
// after StopPod.
struct Volume {
  enum class Type {
    kDirectory,  // `host_path` is bound; made with `create_mode` when that is set, else it must exist
    kScratch,    // an empty folder on disk
    kMemory,     // an empty tmpfs of at most `size_bytes` (0: half the memory)
    kFiles,      // `files` on a tmpfs, read-only in the containers
  };
  std::string name;
  Type type = Type::kScratch;
  std::string host_path;
  std::optional<unsigned> create_mode;
  uint64_t size_bytes = 0;  // of kScratch: reported when what is in it comes near (kVolumeUsage)
  std::vector<File> files;
  // When set, `host_path` lies below it and is looked up as if it were "/": links that pods make lead nowhere
  // else.
  std::string host_base = {};
  // What `host_path` must be, in the words of hostPath.type (File, Socket, …); "" asks for nothing.
  std::string host_type = {};
  std::vector<Quota> quotas = {};       // of kDirectory: on it and on folders above it, the outermost first
  std::optional<int64_t> group = {};    // fsGroup: everything in it is this group's
  bool group_only_on_mismatch = false;  // not when the root is already
  bool read_only = false;               // in every container
};

struct Mount {
  std::string volume;    // the name of a Volume; "" when `host_path` says what is mounted
  std::string sub_path;  // relative, below the volume; made when absent
  std::string target;    // absolute, in the container
  bool read_only = false;
  std::string host_path = {};  // a folder, file or device of the host that must exist
};

// The file system a container starts with.
struct Root {
  bool host = true;                 // the host's own root, read-only, under the layers
  std::vector<std::string> layers;  // absolute host folders laid over it, the first lowest
  std::string python_environment;   // absolute host folder of a virtual environment, or ""; see kPythonPrefix
};

// Where a container sees its python environment; its bin folder is first on PATH.
inline constexpr const char* kPythonPrefix = "/opt/venv";

// Zero means no limit (for cpu_shares: the kernel's default).
struct Limits {
  int64_t cpu_millis = 0;
  int64_t cpu_shares = 0;
  int64_t memory_bytes = 0;
};

// What a container's processes may do, beyond the usual and short of it.
struct Privileges {
  std::vector<std::string> add, drop;  // capabilities by name, without CAP_; "ALL"
  bool no_new = false;                 // no program gives it more
  bool read_only_root = false;
  friend bool operator==(const Privileges&, const Privileges&) = default;
};

struct ContainerLaunch {
  std::string name;
  int attempt = 0;  // 0 for the first start, then the restart count
  Root root;
  std::vector<std::string> argv;  // argv[0] is looked up on the container's PATH
  std::vector<std::string> env;   // "NAME=value"
  std::string working_dir = "/";  // made when absent
  std::string user;  // "": root. uid, uid:gid, or names that are looked up in the container's /etc/passwd
  std::vector<int64_t> groups = {};  // besides those of the user
  std::vector<Mount> mounts;
  Limits limits;
  std::string log_path;  // absolute; see log_format.h
  // A file in the container whose end becomes the message of its exit; "" for none.
  std::string message_path = {};
  bool message_from_log = false;  // of a failure that left nothing there
  Privileges privileges = {};
};

struct PodLaunch {
  std::string uid, ns, name;
  std::string node;  // pods of one node share a bridge
  std::string hostname;
  std::string address;  // IPv4, in the cluster's pod range, not in use
  std::vector<std::string> dns_searches;
  std::vector<std::string> dns_servers = {};  // empty: the cluster's
  std::vector<std::string> dns_options = {"ndots:5"};
  bool share_processes = false;      // one pid namespace for all of its containers
  std::vector<File> etc_files = {};  // further files of /etc, such as hosts aliases; paths relative to /etc
  std::vector<Volume> volumes;
};

struct PodEvent {
  enum class Type {
    kSandboxReady,          // namespaces, address and volumes exist
    kSandboxFailed,         // reason, message
    kContainerStarted,      // the program was exec'ed; pid is the host's number of it
    kContainerStartFailed,  // reason (StartError, ContainerCannotRun), message, exit_code 127/128
    kContainerExited,       // exit_code (128+n for signal n), oom_killed, message
    kPodStopped,            // nothing of the pod is left
    kVolumeUsage,           // of a volume with a size or a quota: volume, used_bytes, size_bytes
  };
  Type type;
  std::string uid;
  std::string container;  // "" for the sandbox's events
  int attempt = 0;
  int pid = 0;
  int exit_code = 0;
  int signal = 0;
  bool oom_killed = false;
  std::string reason, message;
  Instant at;
  uint64_t sequence = 0;  // for Acknowledge; 0: of no account
  std::string volume = {};
  uint64_t used_bytes = 0, size_bytes = 0;
};
using PodEventSink = std::function<void(const PodEvent&)>;

// What a runtime still has when somebody new takes it over: the latest attempt of each container, and the
// events that nobody has acknowledged. The pods' state includes what the events tell.
struct KeptContainer {
  enum class State { kStarting, kRunning, kExited };
  std::string name, program;  // argv[0]
  int attempt = 0;
  State state = State::kStarting;
  int pid = 0, exit_code = 0, signal = 0;
  bool oom_killed = false, term_sent = false;
  std::string reason, message;  // of a start that failed
  Instant started_at, finished_at;
};
struct KeptPod {
  enum class Sandbox { kStarting, kReady, kFailed, kStopping };
  std::string uid, ns, name, node, address;
  Sandbox sandbox = Sandbox::kStarting;
  std::string reason, message;  // of a failed sandbox
  std::vector<KeptContainer> containers;
};
struct Kept {
  bool taken_over = false;  // false: the runtime is new, and whatever ran before it is lost
  std::vector<KeptPod> pods;
  std::vector<PodEvent> events;
};

// Everything is idempotent by pod uid (and container attempt). Results come as events, posted on the
// executor, in the order in which things happened.
class Runtime {
 public:
  virtual ~Runtime() = default;
  virtual void StartPod(const PodLaunch& pod) = 0;
  virtual void StartContainer(const std::string& uid, const ContainerLaunch& container) = 0;
  // To the container's PID 1. No event when the container is not running.
  virtual void SignalContainer(const std::string& uid, const std::string& container, int signal) = 0;
  // Kills what still runs (every process, not only PID 1) and removes the sandbox; kPodStopped when it is
  // gone.
  virtual void StopPod(const std::string& uid) = 0;
  virtual void SetSink(PodEventSink sink) = 0;
  // Once, before anything is started: what goes on from before.
  virtual Kept TakeOver() { return {}; }
  // What came of every event up to this one is stored: none of them need be told again.
  virtual void Acknowledge(uint64_t /*sequence*/) {}
  // New contents of a volume of files in a running pod; a container sees each file old or new, never half.
  virtual void UpdateFiles(const std::string& uid, const std::string& volume,
                           const std::vector<File>& files) = 0;
  // The folder of a provisioned volume, which no pod uses any longer: renamed when `aside` is given, else
  // removed with all that is in it.
  virtual void DiscardFolder(const std::string& folder, const std::string& aside) = 0;
};

// Descriptors 0, 1, 2 of the new process; with a tty all three are the terminal's.
struct ExecLaunch {
  std::string container;
  std::vector<std::string> argv;
  bool tty = false;
  UniqueFd stdio[3];
};

// Doors into a running pod, for exec and port-forward.
class PodAccess {
 public:
  virtual ~PodAccess() = default;
  // `done` gets the exit code (128+n for a signal, 127 when the program was not found) or why it did not
  // start. The process gets the container's namespaces, root, environment and working directory.
  virtual void Exec(const std::string& uid, ExecLaunch launch, std::function<void(Result<int>)> done) = 0;
  // A TCP socket, not yet connected, that lives in the pod's network namespace.
  virtual void OpenSocket(const std::string& uid, std::function<void(Result<UniqueFd>)> done) = 0;
};

}  // namespace tfemu::runtime
