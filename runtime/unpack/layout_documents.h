// JSON documents of an image, with errors that name them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/unpack/image_layout.h"

namespace tfemu::unpack {

using Json = nlohmann::json;

inline constexpr size_t kMaxDocument = 8 << 20;

Error Wrong(const std::string& document, const std::string& what, const std::string& hint = "");

// Bytes of a document; with `digest`, its SHA-256 must be that.
Result<std::string> ReadDocument(const ImageSource& source, const std::string& name,
                                 const std::string& digest);
Result<Json> ParseDocument(const std::string& name, const std::string& text);

// Members that may be absent or null, as Go writes them.
std::string Text(const Json& json, const char* key);
std::vector<std::string> Texts(const Json& json, const char* key);
std::map<std::string, std::string> TextMap(const Json& json, const char* key);

// The image's configuration into the record; gives the layers' diff ids.
Result<std::vector<std::string>> ReadConfig(const std::string& name, const std::string& text,
                                            image::ArchiveRecord& record);

Result<Layout> ReadDockerArchive(const ImageSource& source, const std::string& select);
Result<Layout> ReadOciLayout(const ImageSource& source, const std::string& select);

// What Debian and Go call this machine.
std::string HostArchitecture();

}  // namespace tfemu::unpack
