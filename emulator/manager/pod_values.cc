#include "emulator/manager/pod_values.h"

#include "emulator/base/strings.h"

namespace tfemu::manager {
namespace {

using api::EnvVar;
using api::FileSource;

std::string Quoted(const std::string& text) { return "\"" + text + "\""; }

// "metadata.labels['app']" -> "app".
std::optional<std::string> Subscript(const std::string& path, const std::string& head) {
  if (!path.starts_with(head + "['") || !path.ends_with("']")) return std::nullopt;
  return path.substr(head.size() + 2, path.size() - head.size() - 4);
}

// As Go's %q for printable text.
std::string Escaped(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += std::string("\\") + c;
    else if (c == '\n') out += "\\n";
    else if (c == '\t') out += "\\t";
    else if (c == '\r') out += "\\r";
    else out += c;
  }
  return out + "\"";
}

std::string Lines(const api::Labels& labels) {
  std::vector<std::string> lines;
  for (const auto& [key, value] : labels) lines.push_back(key + "=" + Escaped(value));
  return Join(lines, "\n");
}

std::string Get(const api::Labels& labels, const std::string& key) {
  const auto it = labels.find(key);
  return it == labels.end() ? "" : it->second;
}

Error MissingKey(const char* what, const api::KeyRef& ref) {
  return {Reason::kNotFound, "couldn't find key " + ref.key + " in " + what + " " + Quoted(ref.name)};
}

// nullopt: optional and absent, so the variable is not set.
Result<std::optional<std::string>> Referenced(const EnvVar& var, const Lookup& lookup) {
  const bool secret = var.source == EnvVar::Source::kSecret;
  const char* what = secret ? "Secret" : "ConfigMap";
  const auto data = (secret ? lookup.secret : lookup.config_map)(var.key_ref.name);
  if (!data) {
    if (var.key_ref.optional) return std::optional<std::string>();
    return Error{Reason::kNotFound,
                 std::string(secret ? "secret " : "configmap ") + Quoted(var.key_ref.name) + " not found"};
  }
  const auto it = data->find(var.key_ref.key);
  if (it != data->end()) return std::optional(it->second);
  if (var.key_ref.optional) return std::optional<std::string>();
  return MissingKey(what, var.key_ref);
}

Result<std::optional<std::string>> Value(const DownwardContext& context, const api::Container& container,
                                         const EnvVar& var, const Data& before, const Lookup& lookup) {
  switch (var.source) {
    case EnvVar::Source::kValue: return std::optional(Expand(var.value, before));
    case EnvVar::Source::kConfigMap:
    case EnvVar::Source::kSecret: return Referenced(var, lookup);
    case EnvVar::Source::kField: {
      auto value = FieldValue(context, var.value);
      if (!value)
        return Error{Reason::kInvalid, "env " + var.name + ": unsupported fieldPath " + Quoted(var.value)};
      return value;
    }
    case EnvVar::Source::kResource: {
      auto value = ResourceValue(context, var.resource, container.name);
      if (!value)
        return Error{Reason::kInvalid,
                     "env " + var.name + ": unsupported resource " + Quoted(var.resource.resource)};
      return value;
    }
  }
  return std::optional<std::string>();
}

class Variables {
 public:
  void Set(const std::string& name, const std::string& value) {
    if (!values_.contains(name)) order_.push_back(name);
    values_[name] = value;
  }
  const Data& values() const { return values_; }
  std::vector<std::string> Entries() const {
    std::vector<std::string> entries;
    for (const auto& name : order_) entries.push_back(name + "=" + values_.at(name));
    return entries;
  }

 private:
  Data values_;
  std::vector<std::string> order_;
};

Result<void> AddSource(const DownwardContext& context, const FileSource& source, int64_t default_mode,
                       const Lookup& lookup, std::vector<runtime::File>& files) {
  const auto mode = [&](const api::VolumeItem& item) {
    return static_cast<unsigned>(item.mode.value_or(default_mode));
  };
  if (source.type == FileSource::Type::kServiceAccountToken)
    return {};  // there is no API for a token to open yet
  if (source.type == FileSource::Type::kDownward) {
    for (const api::VolumeItem& item : source.items) {
      const auto value = item.resource.resource.empty()
                             ? FieldValue(context, item.key)
                             : ResourceValue(context, item.resource, item.resource.container);
      if (!value) return Error{Reason::kInvalid, "unsupported fieldPath " + Quoted(item.key)};
      files.push_back({item.path, *value, mode(item)});
    }
    return {};
  }
  const bool secret = source.type == FileSource::Type::kSecret;
  const auto data = (secret ? lookup.secret : lookup.config_map)(source.name);
  if (!data) {
    if (source.optional || source.name == "kube-root-ca.crt") return {};  // the CA comes with the REST API
    return Error{Reason::kNotFound,
                 std::string(secret ? "secret " : "configmap ") + Quoted(source.name) + " not found"};
  }
  if (source.items.empty())
    for (const auto& [key, value] : *data) files.push_back({key, value, static_cast<unsigned>(default_mode)});
  for (const api::VolumeItem& item : source.items) {
    const auto it = data->find(item.key);
    if (it != data->end()) files.push_back({item.path, it->second, mode(item)});
    else if (!source.optional) return Error{Reason::kNotFound, "references non-existent key: " + item.key};
  }
  return {};
}

}  // namespace

std::optional<std::string> FieldValue(const DownwardContext& context, const std::string& path) {
  const api::Pod& pod = context.pod;
  if (path == "metadata.name") return pod.meta.name;
  if (path == "metadata.namespace") return pod.meta.ns;
  if (path == "metadata.uid") return pod.meta.uid;
  if (path == "metadata.labels") return Lines(pod.meta.labels);
  if (path == "metadata.annotations") return Lines(pod.meta.annotations);
  if (path == "spec.nodeName") return pod.spec.node_name;
  if (path == "spec.serviceAccountName") return pod.spec.service_account_name;
  if (path == "status.hostIP" || path == "status.hostIPs") return context.host_ip;
  if (path == "status.podIP" || path == "status.podIPs") return context.pod_ip;
  if (const auto key = Subscript(path, "metadata.labels")) return Get(pod.meta.labels, *key);
  if (const auto key = Subscript(path, "metadata.annotations")) return Get(pod.meta.annotations, *key);
  return std::nullopt;
}

std::optional<std::string> ResourceValue(const DownwardContext& context, const api::ResourceFieldRef& ref,
                                         const std::string& container) {
  const size_t dot = ref.resource.find('.');
  if (dot == std::string::npos) return std::nullopt;
  const std::string list = ref.resource.substr(0, dot), name = ref.resource.substr(dot + 1);
  if ((list != "limits" && list != "requests") ||
      (name != "cpu" && name != "memory" && name != "ephemeral-storage" && !name.starts_with("hugepages-")))
    return std::nullopt;
  const api::Container* found =
      FindContainer(context.pod.spec, ref.container.empty() ? container : ref.container);
  if (found == nullptr) return std::nullopt;
  const api::Resources& own = list == "limits" ? found->limits : found->requests;
  api::Quantity amount;
  if (const auto it = own.find(name); it != own.end()) amount = it->second;
  else if (const auto node = context.node_allocatable.find(name);
           list == "limits" && node != context.node_allocatable.end())
    amount = node->second;
  return std::to_string((amount.milli + ref.divisor.milli - 1) / ref.divisor.milli);
}

std::string Expand(const std::string& text, const Data& variables) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$' || i + 1 == text.size()) {
      out += text[i];
    } else if (text[i + 1] == '$') {
      out += text[++i];
    } else if (const size_t close = text.find(')', i); text[i + 1] == '(' && close != std::string::npos) {
      const std::string name = text.substr(i + 2, close - i - 2);
      const auto it = variables.find(name);
      out += it == variables.end() ? "$(" + name + ")" : it->second;
      i = close;
    } else {
      out += text[i];
    }
  }
  return out;
}

Result<std::string> ExpandSubPath(const std::string& text, const Data& variables) {
  for (size_t i = text.find('$'); i != std::string::npos && i + 1 < text.size(); i = text.find('$', i + 2)) {
    const size_t close = text.find(')', i);
    if (text[i + 1] != '(' || close == std::string::npos) continue;
    const std::string name = text.substr(i + 2, close - i - 2);
    if (!variables.contains(name)) return Error{Reason::kNotFound, "missing value for " + Quoted(name)};
  }
  return Expand(text, variables);
}

Result<std::vector<std::string>> Environment(const DownwardContext& context, const api::Container& container,
                                             const Data& image_env, const Lookup& lookup) {
  Variables variables;
  for (const auto& [name, value] : image_env) variables.Set(name, value);
  for (const api::EnvFrom& from : container.env_from) {
    const auto data = (from.secret ? lookup.secret : lookup.config_map)(from.name);
    if (!data && !from.optional)
      return Error{Reason::kNotFound,
                   std::string(from.secret ? "secret " : "configmap ") + Quoted(from.name) + " not found"};
    if (!data) continue;
    for (const auto& [key, value] : *data) variables.Set(from.prefix + key, value);
  }
  for (const EnvVar& var : container.env) {
    ASSIGN_OR_RETURN(const auto value, Value(context, container, var, variables.values(), lookup));
    if (value) variables.Set(var.name, *value);
  }
  return variables.Entries();
}

Result<std::vector<runtime::File>> VolumeFiles(const DownwardContext& context, const api::PodVolume& volume,
                                               const Lookup& lookup) {
  std::vector<runtime::File> files;
  for (const FileSource& source : volume.sources)
    RETURN_IF_ERROR(AddSource(context, source, volume.default_mode, lookup, files));
  return files;
}

}  // namespace tfemu::manager
