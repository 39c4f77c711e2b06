#include "tools/cli/session.h"

#include "emulator/io/unix_socket.h"
#include "emulator/rpc/client.h"

namespace tfemu::cli {

Session::Session(rpc::Environment environment, const TerminalOptions& options)
    : terminal(options), environment_(std::move(environment)), executor_(context_) {
  if (const std::string cluster = environment_("TFEMU_CLUSTER"); !cluster.empty()) flags.cluster = cluster;
}

Session::~Session() = default;

void Session::Disconnect() { client_.reset(); }

Result<rpc::ClusterPaths> Session::Paths() const {
  RETURN_IF_ERROR(rpc::CheckClusterName(flags.cluster));
  ASSIGN_OR_RETURN(const auto home, Home());
  return rpc::FindClusterPaths(home, flags.cluster);
}

Result<rpc::Client*> Session::Connect() {
  if (client_ == nullptr) {
    ASSIGN_OR_RETURN(const auto paths, Paths());
    auto client = rpc::Client::Connect(paths.socket, flags.cluster);
    if (!client.ok() && client.error().reason == Reason::kNotFound && PodsGoOn()) {
      const std::string flag = flags.cluster == "default" ? "" : " --cluster " + flags.cluster;
      return Error{Reason::kNotFound,
                   "the daemon of the cluster \"" + flags.cluster + "\" is gone, but its pods go on",
                   "tfemu up" + flag + " takes them up again, tfemu down" + flag + " ends them"};
    }
    if (!client.ok()) return client.error();
    client_ = std::move(client).value();
  }
  return client_.get();
}

// A daemon that runs has the cluster's lock, too; the supervisor's door says nothing about that.
bool Session::PodsGoOn() const {
  const auto paths = Paths();
  return paths.ok() && io::ConnectUnix(paths.value().state + "/supervisor.sock").ok();
}

int Session::Fail(const Error& error) {
  terminal.ShowError(error);
  return kRefused;
}

int Session::Usage(const std::string& message, const std::string& hint) {
  terminal.ShowError(Error{Reason::kBadRequest, message, hint});
  return kUsage;
}

}  // namespace tfemu::cli
