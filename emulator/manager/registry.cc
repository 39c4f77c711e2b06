#include "emulator/manager/registry.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "emulator/api/eci_settings.h"
#include "emulator/api/gpu_request.h"
#include "emulator/api/lifecycle.h"
#include "emulator/api/node.h"
#include "emulator/api/resource_quota.h"
#include "emulator/api/schema.h"
#include "emulator/api/service.h"
#include "emulator/api/storage_class.h"
#include "emulator/api/tfjob_warnings.h"
#include "emulator/api/volume_source.h"
#include "emulator/base/strings.h"
#include "emulator/codec/merge.h"

namespace tfemu::manager {
namespace {

using api::Json;
using api::Kind;
using api::Object;
using api::ObjectKey;

std::string KnownKinds() {
  std::string list;
  for (const Kind& kind : api::Kinds())
    list += (list.empty() ? "" : ", ") + std::string(kind.kind) + " (" + std::string(kind.api_version) + ")";
  return list;
}

Result<const Kind*> KindOf(const Json& doc) {
  const api::TypeMeta type = api::DecodeType(doc);
  if (type.kind.empty())
    return Error{Reason::kInvalid, "the document has no kind", "", {{"kind", "Required value"}}};
  if (type.api_version.empty())
    return Error{Reason::kInvalid, "the document has no apiVersion", "", {{"apiVersion", "Required value"}}};
  const Kind* kind = api::FindKind(type.kind);
  if (kind != nullptr && api::Accepts(*kind, type.api_version)) return kind;
  const std::string message =
      "no matches for kind \"" + type.kind + "\" in version \"" + type.api_version + "\"";
  std::string hint = "known kinds: " + KnownKinds();
  for (const Kind& near : api::Kinds())
    if (EditDistance(ToLower(near.kind), ToLower(type.kind)) <= 2)
      hint = "did you mean kind: " + std::string(near.kind) +
             ", apiVersion: " + std::string(near.api_version) + "?";
  return Error{Reason::kInvalid, message, hint, {{kind == nullptr ? "kind" : "apiVersion", message}}};
}

Error Invalid(const Json& doc, std::vector<FieldMessage> fields) {
  const Object object(doc);
  return Error{Reason::kInvalid, "The " + object.key().kind + " \"" + object.key().name + "\" is invalid", "",
               std::move(fields)};
}

// What the API server or the kind's webhook says against `doc`.
Result<void> Admit(const Kind& kind, const Json& doc, const Json* previous) {
  if (kind.validate != nullptr)
    if (auto problems = kind.validate(doc, previous); !problems.empty())
      return Invalid(doc, std::move(problems));
  if (kind.admit != nullptr)
    if (auto denied = kind.admit(doc, previous)) return *std::move(denied);
  return {};
}

}  // namespace

Registry::Registry(Executor& executor, store::Store& store, Rng rng, const runtime::ImageCatalog* images)
    : executor_(executor), store_(store), rng_(rng), images_(images) {}

Result<std::vector<FieldMessage>> Registry::Check(const Json& doc, const Json* previous,
                                                  const WriteOptions& options) {
  ASSIGN_OR_RETURN(const Kind* kind, KindOf(doc));
  api::FieldFindings findings = api::CheckFields(doc, *kind->schema);
  for (const api::PodSpecPlace& place : api::PodSpecs(doc)) {
    api::EciFindings eci =
        api::CheckEciAnnotations(*place.metadata, place.metadata_path, previous == nullptr);
    std::ranges::move(eci.errors, std::back_inserter(findings.errors));
    std::ranges::move(eci.warnings, std::back_inserter(findings.warnings));
    const auto asked = api::ExtendedResources(*place.spec, place.path);
    const bool gpus =
        std::ranges::any_of(asked, [](const auto& one) { return api::IsGpuResource(one.name); });
    if (!gpus && api::NamesGpuInstance(*place.metadata))
      findings.warnings.push_back(
          {place.metadata_path + ".annotations." + std::string(api::kEciPrefix) + "eci-use-specs",
           "the instance has GPUs, but no container asks for nvidia.com/gpu: they see none"});
  }
  for (auto& warning : api::VolumeWarnings(doc)) findings.warnings.push_back(std::move(warning));
  if (kind->kind == "TFJob")
    for (auto& warning : api::TFJobWarnings(doc)) findings.warnings.push_back(std::move(warning));
  if (!findings.errors.empty()) return Invalid(doc, std::move(findings.errors));
  if (options.strict && !findings.warnings.empty()) return Invalid(doc, std::move(findings.warnings));
  RETURN_IF_ERROR(Admit(*kind, doc, previous));
  WarnOfResources(doc, findings.warnings);
  return std::move(findings.warnings);
}

void Registry::WarnOfResources(const Json& doc, std::vector<FieldMessage>& warnings) const {
  const auto places = api::PodSpecs(doc);
  if (places.empty()) return;
  std::set<std::string> offered;
  for (const Object& object : store_.List({"Node", ""}).objects) {
    const api::Node& node = object.As(api::DecodeNode);
    for (const auto& [name, amount] : node.allocatable) offered.insert(name);
    if (api::IsEciNode(node.meta)) offered.insert("nvidia.com/gpu");  // an instance's type brings them
    if (node.gpus.sharing.mode == api::GpuSharing::Mode::kMemory)
      for (const char* name : api::GpuQualifiers()) offered.insert(name);
  }
  if (offered.empty()) return;
  for (const auto& place : places)
    for (const api::AskedResource& asked : api::ExtendedResources(*place.spec, place.path)) {
      if (offered.contains(asked.name)) continue;
      std::vector<std::string> extended;
      for (const auto& name : offered)
        if (name.find('/') != std::string::npos) extended.push_back(name);
      warnings.push_back({asked.path, "no node of this cluster offers " + asked.name + "; they offer " +
                                          (extended.empty() ? "no such resources" : Join(extended, ", "))});
    }
}

Result<void> Registry::CheckPlace(const Kind& kind, const Json& doc) const {
  const ObjectKey key = Object(doc).key();
  if (!kind.namespaced) {
    if (key.ns.empty()) return {};
    return Invalid(doc,
                   {{"metadata.namespace", "Forbidden: a " + key.kind + " does not belong to a namespace"}});
  }
  const auto ns = store_.Get({"Namespace", "", key.ns});
  if (!ns.ok())
    return Error{Reason::kNotFound, "namespaces \"" + key.ns + "\" not found",
                 "create it first: tfemu create namespace " + key.ns};
  if (ns.value().terminating())
    return Error{Reason::kForbidden, ToString(key) +
                                         " is forbidden: unable to create new content in namespace " +
                                         key.ns + " because it is being terminated"};
  return {};
}

Result<void> Registry::CheckImages(const Json& doc) const {
  if (images_ == nullptr) return {};
  for (const api::ImageUse& use : api::ImagesUsed(doc)) {
    if (use.image.empty()) continue;
    auto image = images_->Find(use.image);
    if (image.ok()) continue;
    Error error = image.error();
    error.fields = {{use.path, error.message}};
    return error;
  }
  return {};
}

// A service that names no address gets one of 10.96.0.0/16; .0.1 and .0.10 are the cluster's own.
Result<void> Registry::GiveClusterIp(Json& doc) {
  const api::Service service = api::DecodeService(Object(doc));
  if (!service.cluster_ip.empty() || service.type == "ExternalName") return {};
  std::vector<std::string> taken = {"10.96.0.1", "10.96.0.10"};
  for (const Object& other : store_.List({"Service", ""}).objects)
    taken.push_back(api::DecodeService(other).cluster_ip);
  for (int attempt = 0; attempt < 10'000; ++attempt) {
    const std::string ip =
        "10.96." + std::to_string(1 + rng_.Below(254)) + "." + std::to_string(1 + rng_.Below(254));
    if (std::find(taken.begin(), taken.end(), ip) != taken.end()) continue;
    api::SetClusterIp(doc, ip);
    return {};
  }
  return Error{Reason::kUnavailable, "no cluster address is left for " + ToString(Object(doc).key())};
}

Result<void> Registry::CheckQuotas(const Object& object) const {
  const ObjectKey& key = object.key();
  if (key.ns.empty() || key.kind == "Event") return {};
  for (const Object& quota_object : store_.List({"ResourceQuota", key.ns}).objects) {
    const api::ResourceQuota quota = api::DecodeResourceQuota(quota_object);
    const auto used = api::QuotaUsed(quota.hard, store_.List({"", key.ns}).objects);
    if (const std::string problem = api::QuotaProblem(quota, object, used); !problem.empty())
      return Error{Reason::kForbidden, api::QualifiedResource(*api::FindKind(key.kind)) + " \"" + key.name +
                                           "\" is forbidden: " + problem};
  }
  return {};
}

// As the DefaultStorageClass admission plug-in: "" is a class, too, so only a claim that says nothing gets
// it.
void Registry::GiveDefaultClass(Json& claim) const {
  if (api::NamesClass(claim)) return;
  std::vector<api::StorageClass> classes;
  for (const Object& object : store_.List({"StorageClass", ""}).objects)
    classes.push_back(api::DecodeStorageClass(object));
  if (const auto* found = api::DefaultClass(classes)) api::SetClass(claim, found->name);
}

Result<Written> Registry::Modernized(const Json& original, const WriteOptions& options,
                                     const std::function<Result<Written>(const Json&)>& write) {
  ASSIGN_OR_RETURN(const Kind* kind, KindOf(original));
  if (kind->modernize == nullptr) return write(original);
  Json doc = original;
  api::LayoutChange change = kind->modernize(doc);
  if (!change.errors.empty()) return Invalid(original, std::move(change.errors));
  if (options.strict && !change.warnings.empty()) return Invalid(original, std::move(change.warnings));
  auto written = write(doc);
  if (!written.ok()) {
    Error error = written.error();
    for (FieldMessage& field : error.fields) field.field = api::PathAsWritten(change, field.field);
    return error;
  }
  for (FieldMessage& warning : written.value().warnings) {
    warning.field = api::PathAsWritten(change, warning.field);
    change.warnings.push_back(std::move(warning));
  }
  written.value().warnings = std::move(change.warnings);
  return written;
}

Result<Written> Registry::Create(const Json& original, const WriteOptions& options) {
  return Modernized(original, options, [&](const Json& doc) { return CreateServed(doc, options); });
}

Result<Written> Registry::Apply(const Json& original, const WriteOptions& options) {
  return Modernized(original, options, [&](const Json& doc) { return ApplyServed(doc, options); });
}

Result<Written> Registry::CreateServed(const Json& original, const WriteOptions& options) {
  ASSIGN_OR_RETURN(const Kind* kind, KindOf(original));
  Json doc = original;
  api::CompleteName(doc, *kind, "default", rng_.Suffix(5));
  ASSIGN_OR_RETURN(std::vector<FieldMessage> warnings, Check(doc, nullptr, options));
  if (kind->kind == "Pod") api::RemoveSystemAnnotations(doc);
  RETURN_IF_ERROR(CheckPlace(*kind, doc));
  RETURN_IF_ERROR(CheckImages(doc));
  api::StampNew(doc, rng_.Uuid(), executor_.Now(), options.keep_status);
  api::AdmitNew(doc, rng_.Suffix(5));
  if (kind->kind == "Service") RETURN_IF_ERROR(GiveClusterIp(doc));
  if (kind->kind == "PersistentVolumeClaim") GiveDefaultClass(doc);
  if (kind->set_defaults != nullptr) kind->set_defaults(doc);
  const Object object(std::move(doc));
  RETURN_IF_ERROR(CheckQuotas(object));
  if (options.dry_run) {
    if (store_.Get(object.key()).ok())
      return Error{Reason::kAlreadyExists, ToString(object.key()) + " already exists"};
    return Written{object, Written::Outcome::kCreated, std::move(warnings)};
  }
  ASSIGN_OR_RETURN(Object stored, store_.Create(object));
  return Written{std::move(stored), Written::Outcome::kCreated, std::move(warnings)};
}

Result<Written> Registry::ApplyServed(const Json& original, const WriteOptions& options) {
  ASSIGN_OR_RETURN(const Kind* kind, KindOf(original));
  Json applied = original;
  api::CompleteName(applied, *kind, "default", rng_.Suffix(5));
  const auto live = store_.Get(Object(applied).key());
  // What the system writes is no wish of the manifest: else the next apply without it would take it away.
  Json wished = applied;
  if (kind->kind == "Pod") api::RemoveSystemAnnotations(wished);
  Json desired = live.ok() ? wished : applied;
  api::SetLastApplied(desired, wished);
  if (!live.ok()) return CreateServed(desired, options);
  // The findings are about what the user wrote; the refusals about what would be stored.
  ASSIGN_OR_RETURN(std::vector<FieldMessage> warnings, Check(applied, nullptr, options));
  RETURN_IF_ERROR(CheckImages(applied));
  Json next = codec::ThreeWayMerge(api::LastApplied(live.value()), desired, live.value().doc());
  api::StampUpdate(next, live.value());
  if (kind->set_defaults != nullptr) kind->set_defaults(next);
  RETURN_IF_ERROR(Admit(*kind, next, &live.value().doc()));
  const bool same = next == live.value().doc();
  const auto outcome = same ? Written::Outcome::kUnchanged : Written::Outcome::kConfigured;
  if (options.dry_run) return Written{Object(std::move(next)), outcome, std::move(warnings)};
  ASSIGN_OR_RETURN(Object stored, store_.Update(Object(std::move(next))));
  return Written{std::move(stored), outcome, std::move(warnings)};
}

Result<Object> Registry::Get(const ObjectKey& key) const { return store_.Get(key); }

store::Listing Registry::List(const store::Query& query, const api::Selector& selector) const {
  store::Listing listing = store_.List(query);
  if (!selector.empty())
    std::erase_if(listing.objects,
                  [&](const Object& object) { return !selector.Matches(api::DecodeMeta(object).labels); });
  return listing;
}

Result<Object> Registry::Patch(const ObjectKey& key, const std::string& uid, const std::string& pointer,
                               const Json& patch) {
  ASSIGN_OR_RETURN(const Object live, store_.Get(key));
  if (live.uid() != uid) return Error{Reason::kNotFound, ToString(key) + " is another object by now"};
  Object next = live.With(pointer, patch);
  if (pointer.empty() && next.doc() != live.doc()) {
    Json doc = next.doc();
    api::RaiseGeneration(doc, live);
    next = Object(std::move(doc));
  }
  if (next.terminating() && !api::HasFinalizers(next) && api::HasFinalizers(live) &&
      !api::EndsGracefully(next)) {
    RETURN_IF_ERROR(store_.Delete(key, uid));
    return next;
  }
  return store_.Update(next);
}

void Registry::Orphan(const std::string& owner_uid) {
  for (const Object& object : store_.List({}).objects) {
    const auto owners = api::DecodeMeta(object).owner_references;
    auto others = owners;
    std::erase_if(others, [&](const api::OwnerReference& owner) { return owner.uid == owner_uid; });
    if (others.size() != owners.size()) (void)store_.Update(object.With("", api::OwnersPatch(others))).ok();
  }
}

Result<Object> Registry::Delete(const ObjectKey& key, const DeleteOptions& options) {
  ASSIGN_OR_RETURN(const Object live, store_.Get(key));
  if (options.propagation == Propagation::kOrphan) Orphan(live.uid());
  const int64_t grace = api::GracePeriod(live, options.grace_period_seconds);
  Json patch = api::TerminatingPatch(live, executor_.Now(), grace);
  if (options.propagation == Propagation::kForeground) api::AwaitDependents(patch, live);
  const bool waits = options.propagation == Propagation::kForeground || api::HasFinalizers(live) ||
                     key.kind == "Namespace" || (grace > 0 && api::EndsGracefully(live));
  if (!waits) {
    RETURN_IF_ERROR(store_.Delete(key, live.uid()));
    return live;
  }
  return store_.Update(live.With("/metadata", patch));
}

Result<Object> Registry::Scale(const ObjectKey& key, const std::string& replica_type, int replicas) {
  if (replicas < 0)
    return Error{Reason::kInvalid, "replicas must be >= 0 (got " + std::to_string(replicas) + ")"};
  ASSIGN_OR_RETURN(const Object live, store_.Get(key));
  ASSIGN_OR_RETURN(const Json patch, api::ScalePatch(live, replica_type, replicas));
  return Patch(key, live.uid(), "", patch);
}

}  // namespace tfemu::manager
