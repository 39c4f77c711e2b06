#include "emulator/api/object.h"

#include <nlohmann/json.hpp>

#include "emulator/base/strings.h"

namespace tfemu::api {
namespace {

const std::string kEmpty;

const std::string& Text(const Json& doc, const char* member) {
  const auto meta = doc.find("metadata");
  if (meta == doc.end() || !meta->is_object()) return kEmpty;
  const auto value = meta->find(member);
  return value != meta->end() && value->is_string() ? value->get_ref<const std::string&>() : kEmpty;
}

}  // namespace

std::string ToString(const ObjectKey& key) {
  return key.kind + " " + (key.ns.empty() ? key.name : key.ns + "/" + key.name);
}

struct Object::Shared {
  Json doc;
  ObjectKey key;
  Decoded decoded;
};

Object::Object(Json doc) : shared_(std::make_shared<Shared>()) {
  shared_->key = {doc.value("kind", std::string()), Text(doc, "namespace"), Text(doc, "name")};
  shared_->doc = std::move(doc);
}

const Json& Object::doc() const { return shared_->doc; }
const ObjectKey& Object::key() const { return shared_->key; }
Object::Decoded& Object::decoded() const { return shared_->decoded; }

const std::string& Object::uid() const { return Text(doc(), "uid"); }

uint64_t Object::resource_version() const {
  return static_cast<uint64_t>(ParseInt(Text(doc(), "resourceVersion")).value_or(0));
}

bool Object::terminating() const { return !Text(doc(), "deletionTimestamp").empty(); }

Object Object::With(const std::string& pointer, const Json& patch) const {
  Json next = doc();
  next[Json::json_pointer(pointer)].merge_patch(patch);
  return Object(std::move(next));
}

Result<Object> ParseObject(const std::string& text) {
  Json doc = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!doc.is_object()) return Error{Reason::kBadRequest, "not a JSON object"};
  return Object(std::move(doc));
}

}  // namespace tfemu::api
