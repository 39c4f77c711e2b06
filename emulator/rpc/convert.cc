#include "emulator/rpc/convert.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

namespace tfemu::rpc {

api::ObjectKey FromMessage(const v1::Key& key) { return {key.kind(), key.ns(), key.name()}; }

v1::Key ToMessage(const api::ObjectKey& key) {
  v1::Key message;
  message.set_kind(key.kind);
  message.set_ns(key.ns);
  message.set_name(key.name);
  return message;
}

std::string ToText(const api::Object& object) {
  return object.doc().dump(-1, ' ', false, api::Json::error_handler_t::replace);
}

void Fill(const ClusterFacts& facts, v1::InfoReply& reply) {
  reply.set_name(facts.name);
  reply.set_version(facts.version);
  reply.set_pid(::getpid());
  reply.set_state_folder(facts.state_folder);
  reply.set_isolation(facts.isolation);
  reply.set_cgroup_driver(facts.cgroup_driver);
  reply.set_pod_range(facts.pod_range);
  reply.set_dns_address(facts.dns_address);
  reply.set_ephemeral(facts.ephemeral);
  reply.set_started_ns(facts.started.ns);
  for (const auto& folder : facts.image_folders) reply.add_image_folders(folder);
  reply.set_tfjob(facts.tfjob);
  for (const auto& note : facts.notes) reply.add_notes(note);
  for (const auto& [name, value] : facts.settings) (*reply.mutable_settings())[name] = value;
}

void Fill(const ClusterUse& use, v1::TopReply& reply) {
  for (const auto& pod : use.pods) {
    auto& out = *reply.add_pods();
    out.set_ns(pod.ns);
    out.set_name(pod.name);
    out.set_node(pod.node);
    out.set_cpu_ns(pod.cpu_ns);
    out.set_memory_bytes(pod.memory_bytes);
  }
  for (const auto& node : use.nodes) reply.add_nodes(node);
  for (const auto& usage : use.gpus) {
    auto& out = *reply.add_gpus();
    out.set_node(usage.node);
    out.set_index(usage.gpu.index);
    out.set_uuid(usage.gpu.uuid);
    out.set_model(usage.gpu.model);
    out.set_is_virtual(usage.gpu.is_virtual());
    out.set_memory_bytes(usage.gpu.memory_bytes);
    // What a real GPU does is nvidia-smi's to say.
    out.set_known(usage.gpu.is_virtual());
    out.set_utilization(usage.utilization);
    out.set_used_bytes(usage.used_bytes);
    for (const auto* holder : usage.holders) out.add_holders(holder->ns + "/" + holder->pod);
  }
}

void Fill(const runtime::Image& image, bool ready, v1::Image& reply) {
  reply.set_folder(image.folder);
  for (const auto& pattern : image.references) reply.add_references(pattern);
  reply.set_id(image.id);
  reply.set_ready(ready);
  reply.set_requirements(image.requirements);
  reply.set_size_bytes(image.size_bytes);
  reply.set_root_host(image.root.host);
  for (const auto& layer : image.root.layers) reply.add_layers(layer);
  for (const auto& word : image.entrypoint) reply.add_entrypoint(word);
  for (const auto& word : image.cmd) reply.add_cmd(word);
  for (const auto& [name, value] : image.env) reply.add_env(name + "=" + value);
  reply.set_working_dir(image.working_dir);
  reply.set_root_kind(runtime::ToString(image.root_kind));
  reply.set_archive(image.archive);
  reply.set_user(image.user);
  reply.set_architecture(image.architecture);
  reply.mutable_labels()->insert(image.labels.begin(), image.labels.end());
  for (const auto& reference : image.archive_references) reply.add_archive_references(reference);
  for (const auto& note : image.notes) reply.add_notes(note);
  for (const auto& layer : image.archive_layers) {
    auto& to = *reply.add_archive_layers();
    to.set_diff_id(layer.diff_id);
    to.set_digest(layer.digest);
    to.set_packed_bytes(layer.packed_bytes);
    to.set_unpacked_bytes(layer.unpacked_bytes);
    to.set_entries(layer.entries);
  }
}

}  // namespace tfemu::rpc
