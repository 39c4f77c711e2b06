// An API object as it is stored and served: the whole document, fields we do not know included.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "emulator/base/result.h"

namespace tfemu::api {

using Json = nlohmann::json;

// `ns` is empty for cluster-scoped kinds.
struct ObjectKey {
  std::string kind, ns, name;
  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};

std::string ToString(const ObjectKey& key);  // "Pod default/tf-mnist-gpu-ps-0"

// Immutable; copies share the document.
class Object {
 public:
  explicit Object(Json doc);

  const Json& doc() const { return *doc_; }
  const ObjectKey& key() const { return *key_; }
  const std::string& uid() const;
  uint64_t resource_version() const;
  bool terminating() const;  // deletionTimestamp is set

  // A new object with one subtree merged (RFC 7386) with what a typed writer encoded: members of the subtree
  // that the writer does not know are kept, a null removes. `pointer` is a JSON pointer, "" for the whole.
  Object With(const std::string& pointer, const Json& patch) const;

 private:
  std::shared_ptr<const Json> doc_;
  std::shared_ptr<const ObjectKey> key_;
};

// `text` must be one JSON document; an object with a string kind and metadata.name.
Result<Object> ParseObject(const std::string& text);

}  // namespace tfemu::api
