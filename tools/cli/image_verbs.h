// The parts of tfemu image that are more than a question to the daemon.
#pragma once

#include <string>
#include <vector>

#include "emulator/rpc/client.h"
#include "runtime/image.h"
#include "tools/cli/session.h"

namespace tfemu::cli {

Result<rpc::v1::Image> FindImage(Session& session, const std::string& reference);
std::string FormatSize(uint64_t bytes);  // "-" for none

// Everything about one reference; `output` is "", json, yaml, or jsonpath=….
int InspectImage(Session& session, const std::string& reference, const std::string& output);

struct AddImageOptions {
  std::string source;  // a folder with an image.yaml, a root file system, an OCI layout, or a tar
  std::vector<std::string> references;
  std::string name, select;
  bool copy = false;
};
int AddImageFolder(Session& session, const AddImageOptions& options);
int RemoveImage(Session& session, const std::string& name);
int PruneImages(Session& session, bool dry);
// Names of the folders that RemoveImage takes.
std::vector<std::string> AddedImages(Session& session);

// Manifests, references of known images, archives and image folders: what would run, and whether it could.
int CheckImages(Session& session, const std::vector<std::string>& subjects);

// Unpacks into `cache`, without a daemon, with a bar on terminals.
Result<void> UnpackNow(Session& session, const runtime::Image& image, const std::string& cache);

}  // namespace tfemu::cli
