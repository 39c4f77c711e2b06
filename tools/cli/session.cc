#include "tools/cli/session.h"

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
    ASSIGN_OR_RETURN(client_, rpc::Client::Connect(paths.socket, flags.cluster));
  }
  return client_.get();
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
