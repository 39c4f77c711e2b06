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

// Immutable; copies share the document, its key, and the typed value that was decoded from it.
class Object {
 public:
  explicit Object(Json doc);

  const Json& doc() const;
  const ObjectKey& key() const;
  const std::string& uid() const;
  uint64_t resource_version() const;
  bool terminating() const;  // deletionTimestamp is set

  // A new object with one subtree merged (RFC 7386) with what a typed writer encoded: members of the subtree
  // that the writer does not know are kept, a null removes. `pointer` is a JSON pointer, "" for the whole.
  Object With(const std::string& pointer, const Json& patch) const;

  // What `decode` makes of this object, made once for all its copies. An object is always read by one
  // decoder.
  template <class T>
  const T& As(T (*decode)(const Object&)) const {
    Decoded& kept = decoded();
    const auto decoder = reinterpret_cast<void (*)()>(decode);
    if (!kept.value) kept = {std::make_shared<const T>(decode(*this)), decoder};
    CHECK_THAT(kept.decoder == decoder);
    return *static_cast<const T*>(kept.value.get());
  }

 private:
  struct Decoded {
    std::shared_ptr<const void> value;
    void (*decoder)() = nullptr;
  };
  struct Shared;
  Decoded& decoded() const;

  std::shared_ptr<Shared> shared_;
};

// `text` must be one JSON document; an object with a string kind and metadata.name.
Result<Object> ParseObject(const std::string& text);

}  // namespace tfemu::api
