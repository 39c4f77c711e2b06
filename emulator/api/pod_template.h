// What the kinds share that make pods of a template and select them by label.
#pragma once

#include "emulator/api/meta.h"
#include "emulator/api/workload.h"

namespace tfemu::api {

// replicas, selector and template, which must fit each other; a pod that ends is restarted for ever.
std::vector<FieldMessage> ValidateWorkload(const Json& doc, const Json* previous);
Object TemplateOf(const Json& spec);
IntOrPercent DecodeIntOrPercent(const Json& value);
// A pod as the template of `owner` has it; the name is up to the caller.
Json PodOfTemplate(const Object& pod_template, const std::string& ns, const OwnerReference& owner);

}  // namespace tfemu::api
