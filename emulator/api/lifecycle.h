// What the API server does to any document on its way into the store, whatever its kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emulator/api/object.h"
#include "emulator/api/scheme.h"
#include "emulator/base/executor.h"

namespace tfemu::api {

// apiVersion and kind of a document; empty strings where they are missing.
struct TypeMeta {
  std::string api_version, kind;
};
TypeMeta DecodeType(const Json& doc);

// A namespaced document without a namespace gets `default_ns`; a generateName without a name gets `suffix`.
void CompleteName(Json& doc, const Kind& kind, const std::string& default_ns, const std::string& suffix);

// Server-side metadata of a new object; what a client put there is dropped, and so is its status unless kept.
void StampNew(Json& doc, const std::string& uid, Instant now, bool keep_status);
// `doc` becomes the next version of `live`: server-side metadata and status are carried over, and the
// generation goes up when the spec differs.
void StampUpdate(Json& doc, const Object& live);
// Sets deletionTimestamp (now + grace) and the grace; keeps an earlier one.
Json TerminatingPatch(const Object& live, Instant now, int64_t grace_period_seconds);
bool HasFinalizers(const Object& object);
// Foreground deletion is a finalizer that the garbage collector takes off when all dependents are gone. The
// first adds it to a patch of the metadata.
void AwaitDependents(Json& patch, const Object& live);
bool AwaitsDependents(const Object& object);  // and is terminating
Json DependentsGonePatch(const Object& object);
// A pod that a node agent holds and that has not ended: the agent ends it before the object goes.
bool EndsGracefully(const Object& object);
// Seconds a pod has to end: what was asked for, else its own; 0 for other kinds.
int64_t GracePeriod(const Object& object, const std::optional<int64_t>& asked);
// For a patched document: the generation goes up when its spec differs from the live one's.
void RaiseGeneration(Json& doc, const Object& live);

// The configuration that `apply` was last given, or null.
Json LastApplied(const Object& live);
void SetLastApplied(Json& doc, const Json& applied);

// Every pod spec inside a document of this program's kinds, with the path to it.
struct PodSpecPlace {
  std::string path;  // "spec.tfReplicaSpecs.Worker.template.spec"
  const Json* spec;
  std::string metadata_path;  // of the pod's, or the template's
  const Json* metadata;
};
std::vector<PodSpecPlace> PodSpecs(const Json& doc);
struct ImageUse {
  std::string path, image;
};
std::vector<ImageUse> ImagesUsed(const Json& doc);

// A merge patch that sets the replicas: spec.replicas, or those of a TFJob's replica type. An error names
// what can be scaled.
Result<Json> ScalePatch(const Object& object, const std::string& replica_type, int replicas);

// What admission adds by kind: a pod's service account, status and QoS class; finalizers of volumes and
// claims.
void AdmitNew(Json& doc, const std::string& suffix);

}  // namespace tfemu::api
