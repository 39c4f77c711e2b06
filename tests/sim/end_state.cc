#include "tests/sim/end_state.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "emulator/api/batch_job.h"
#include "emulator/api/event.h"
#include "emulator/api/pod.h"
#include "emulator/api/tfjob.h"
#include "emulator/api/workload.h"

namespace tfemu::sim {
namespace {

constexpr size_t kSuffix = 6;  // "-x7k2p"

// Pods of a ReplicaSet or a Job have names of which the end is drawn.
std::string NameOf(const api::Object& object) {
  const std::string& name = object.key().name;
  for (const auto& owner : api::DecodeMeta(object).owner_references)
    if ((owner.kind == "ReplicaSet" || owner.kind == "Job") && name.size() > kSuffix)
      return name.substr(0, name.size() - kSuffix) + "-*";
  return name;
}

std::string Text(const api::ContainerStatus& status) {
  static const char* const kStates[] = {"waiting", "running", "terminated"};
  return " " + status.name + "#" + std::to_string(status.restart_count) + " " +
         kStates[static_cast<int>(status.state.type)] + " " + status.state.reason + " " +
         std::to_string(status.state.exit_code);
}

std::string Text(const api::Pod& pod) {
  std::string text = std::string(ToString(pod.status.phase)) + " " + pod.status.reason;
  for (const auto* list : {&pod.status.init_containers, &pod.status.containers})
    for (const api::ContainerStatus& status : *list) text += Text(status);
  return text + (pod.ready() ? " ready" : "");
}

template <class Conditions>
std::string ConditionsText(const Conditions& conditions) {
  std::string text;
  for (const auto& one : conditions)
    text += " " + one.type + "=" + (one.status ? "True " : "False ") + one.reason;
  return text;
}

std::string Text(const api::TFJob& job) {
  std::string text = ConditionsText(job.status.conditions);
  for (const auto& [type, status] : job.status.replica_statuses)
    text += " " + type + ":" + std::to_string(status.active) + "/" + std::to_string(status.succeeded) + "/" +
            std::to_string(status.failed);
  return text + (job.status.completion_time ? " completed" : "");
}

std::string Text(const api::BatchJob& job) {
  return ConditionsText(job.status.conditions) + " " + std::to_string(job.status.active) + "/" +
         std::to_string(job.status.succeeded) + "/" + std::to_string(job.status.failed);
}

std::string Text(const api::Deployment& deployment) {
  const api::DeploymentStatus& status = deployment.status;
  return std::to_string(status.replicas) + "/" + std::to_string(status.updated_replicas) + "/" +
         std::to_string(status.available_replicas);
}

std::string Text(const api::Object& object) {
  const std::string& kind = object.key().kind;
  if (kind == "Pod") return Text(object.As(api::DecodePod));
  if (kind == "TFJob") return Text(object.As(api::DecodeTFJob));
  if (kind == "Job") return Text(object.As(api::DecodeBatchJob));
  if (kind == "Deployment") return Text(object.As(api::DecodeDeployment));
  if (kind == "ReplicaSet") return std::to_string(object.As(api::DecodeReplicaSet).status_replicas);
  return "";
}

}  // namespace

void EndStateWriter::OnWrite(const api::Object* before, const api::Object& after, store::Revision) {
  if (before != nullptr || after.key().kind != "Pod") return;
  const std::string name = NameOf(after);
  pods_[after.uid()] = name;
  if (name != after.key().name) drawn_[after.key().name] = name;
}

void EndStateWriter::OnPodEvent(const runtime::PodEvent& event) {
  if (event.type != runtime::PodEvent::Type::kContainerStarted) return;
  const auto pod = pods_.find(event.uid);
  ++starts_[(pod == pods_.end() ? event.uid : pod->second) + "/" + event.container];
}

// Uids and drawn names are another daemon's.
std::string EndStateWriter::Plain(std::string text) const {
  const auto replace = [&text](const std::string& from, const std::string& to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  };
  if (const size_t node = text.find(" to node-"); node != std::string::npos) text.resize(node);
  for (const auto& [name, plain] : drawn_) replace(name, plain);
  for (const auto& [uid, plain] : pods_) replace(uid, "UID");
  return text;
}

EndState EndStateWriter::Write(const SimHost& host) const {
  EndState end;
  end.starts = starts_;
  std::vector<std::string> lines;
  for (const auto& [key, object] : host.disk().objects()) {
    if (key.kind == "Node" || key.kind == "Namespace") continue;
    if (key.kind == "Event") {
      const api::Json& doc = object.doc();
      const api::Json& involved = doc.at("involvedObject");
      const std::string text =
          involved.at("kind").get<std::string>() + " " + involved.at("name").get<std::string>() + " " +
          doc.at("reason").get<std::string>() + ": " +
          (doc.contains("message") ? doc.at("message") : doc.at("note")).get<std::string>();
      end.events[Plain(text)] += doc.value("count", 1);
      continue;
    }
    lines.push_back(key.kind + " " + NameOf(object) + (object.terminating() ? " terminating" : "") + " " +
                    Text(object) + "\n");
  }
  std::ranges::sort(lines);
  for (const std::string& line : lines) end.objects += line;
  return end;
}

}  // namespace tfemu::sim
