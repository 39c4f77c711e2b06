// The kinds this program knows, one row each. Generic code asks this table and never names a kind.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/api/layout.h"
#include "emulator/api/object.h"

namespace tfemu::api {

struct Schema;  // schema.h

struct Kind {
  std::string_view kind;         // "TFJob"
  std::string_view api_version;  // "kubeflow.org/v1"
  std::string_view resource;     // "tfjobs"
  std::string_view singular;     // "tfjob"
  std::vector<std::string_view> short_names = {};
  bool namespaced = true;
  const Schema* schema = nullptr;             // the fields, their types, and what becomes of each
  void (*set_defaults)(Json& doc) = nullptr;  // as the API server fills them in; null when there are none
  // What the API server refuses, with its words; `previous` is null on create.
  std::vector<FieldMessage> (*validate)(const Json& doc, const Json* previous) = nullptr;
  // What the kind's admission webhook then refuses; null when it has none.
  std::optional<Error> (*admit)(const Json& doc, const Json* previous) = nullptr;
  // Versions that `modernize` makes into api_version, before anything else looks at the document. It is given
  // documents of api_version, too, and may change them.
  std::span<const std::string_view> older_versions = {};
  LayoutChange (*modernize)(Json& doc) = nullptr;
};

std::span<const Kind> Kinds();
const Kind* FindKind(std::string_view kind);
// As it is served, or to be modernized first.
bool Accepts(const Kind& kind, std::string_view api_version);
// A word a user types: plural, singular, short name or kind in any case, with or without ".group".
const Kind* FindResource(std::string_view word);
// "tfjobs.kubeflow.org" or "pods": how messages of the API name the resource.
std::string QualifiedResource(const Kind& kind);

}  // namespace tfemu::api
