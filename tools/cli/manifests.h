// The manifests of -f: files, folders and standard input, each document with its place.
#pragma once

#include <string>
#include <vector>

#include "emulator/codec/yaml.h"
#include "tfemu.pb.h"

namespace tfemu::rpc {
class Client;
}

namespace tfemu::cli {

struct Manifest {
  std::string file;  // "" when it comes from no file
  codec::Document document;
  api::ObjectKey key;
};

// Everything is parsed before anything is returned, and sorted: what others need (namespaces, volumes,
// claims, configuration, services) comes first, else files by name and documents in their order. `ns` "" is
// "default".
Result<std::vector<Manifest>> ReadManifests(const std::vector<std::string>& paths, const std::string& ns);

// The daemon's answer in terms of the file: an error for each field at fault, "file.yaml:12: spec.x: must be
// ...".
std::vector<Error> Locate(const Manifest& manifest, const Error& error);
std::string LocateField(const Manifest& manifest, const std::string& field, const std::string& message);

struct Applied {
  rpc::v1::WriteReply::Outcome outcome;
  api::Object object;
  std::vector<std::string> warnings;  // located
};
struct ApplyOptions {
  bool create = false, strict = false, dry_run = false;
  bool new_runs = false;  // TFJobs and Pods must not exist yet, whatever the rest
};
Result<Applied> WriteManifest(rpc::Client& client, const Manifest& manifest, const ApplyOptions& options);
// What would be refused, without writing anything: all errors of all manifests.
std::vector<Error> CheckManifests(rpc::Client& client, const std::vector<Manifest>& manifests,
                                  const ApplyOptions& options);

}  // namespace tfemu::cli
