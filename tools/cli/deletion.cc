#include "tools/cli/deletion.h"

#include "emulator/api/scheme.h"
#include "emulator/rpc/client.h"
#include "tools/cli/objects.h"

namespace tfemu::cli {
namespace {

// `tfjob.kubeflow.org "mnist"`
std::string Quoted(const api::ObjectKey& key) {
  const auto* kind = api::FindKind(key.kind);
  std::string word(kind == nullptr ? key.kind : std::string(kind->singular));
  if (kind != nullptr)
    if (const size_t slash = kind->api_version.find('/'); slash != std::string_view::npos)
      word += "." + std::string(kind->api_version.substr(0, slash));
  return word + " \"" + key.name + "\"";
}

}  // namespace

int DeleteObjects(Session& session, const std::vector<api::ObjectKey>& keys, const DeletionOptions& options) {
  const auto client = session.Connect();
  if (!client.ok()) return session.Fail(client.error());
  int code = kOk;
  std::vector<Awaited> awaited;
  for (const auto& key : keys) {
    rpc::v1::DeleteRequest request;
    *request.mutable_key() = ToMessage(key);
    request.set_propagation(options.propagation);
    if (options.grace_period_seconds) request.set_grace_period_seconds(*options.grace_period_seconds);
    const auto reply = client.value()->Call(&rpc::Stub::Delete, request);
    if (!reply.ok()) {
      if (reply.error().reason != Reason::kNotFound || !options.ignore_missing)
        code = session.Fail(reply.error());
      continue;
    }
    if (!options.silent)
      session.terminal.Print(Quoted(key) +
                             (options.grace_period_seconds == 0 ? " force deleted\n" : " deleted\n"));
    const auto object = Decode(reply.value().json());
    if (!object.ok()) continue;
    // A successor of the same name is another object.
    awaited.push_back({key, [uid = object.value().uid()](const api::Object* now) {
                         return now == nullptr || now->uid() != uid ? Verdict::kMet : Verdict::kPending;
                       }});
  }
  if (!options.wait) return code;
  const auto verdicts = Await(session, awaited, options.timeout);
  if (!verdicts.ok()) return session.Fail(verdicts.error());
  for (size_t i = 0; i < awaited.size(); ++i)
    if (verdicts.value()[i] != Verdict::kMet)
      code = session.Fail(Error{Reason::kTimeout, Quoted(awaited[i].key) + " is still there"});
  return code;
}

}  // namespace tfemu::cli
