// v1.ConfigMap, v1.Secret and v1.Namespace.
#pragma once

#include <map>
#include <string>

#include "emulator/api/meta.h"

namespace tfemu::api {

// The bytes of each key; binaryData and a Secret's data are decoded from base64.
std::map<std::string, std::string> DecodeConfigMap(const Object& object);
std::map<std::string, std::string> DecodeSecret(const Object& object);

void SetSecretDefaults(Json& secret);  // stringData is folded into data, type Opaque
std::vector<FieldMessage> ValidateConfigMap(const Json& config, const Json* previous);
std::vector<FieldMessage> ValidateSecret(const Json& secret, const Json* previous);

Json MakeNamespace(const std::string& name);
void SetNamespaceDefaults(Json& ns);
std::vector<FieldMessage> ValidateNamespace(const Json& ns, const Json* previous);
std::vector<FieldMessage> ValidateNothingButName(const Json& doc, const Json* previous);

std::string EncodeBase64(const std::string& bytes);
// False when `text` is no base64.
bool DecodeBase64(const std::string& text, std::string& bytes);

}  // namespace tfemu::api
