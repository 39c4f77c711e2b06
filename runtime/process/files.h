// Small files and folders: read, write, make, remove.
#pragma once

#include <string>
#include <string_view>

#include "emulator/base/result.h"

namespace tfemu::process {

Result<std::string> ReadFile(const std::string& path);
// One write(2), as kernel files want it; the file must exist.
Result<void> WriteFile(const std::string& path, std::string_view text);
// Makes or replaces.
Result<void> CreateFile(const std::string& path, std::string_view text, unsigned mode);
// Like mkdir -p.
Result<void> MakeFolders(const std::string& path, unsigned mode = 0755);
std::string ParentFolder(const std::string& path);
// Like rm -rf, without crossing into another file system; what cannot go stays.
void RemoveTree(const std::string& path);

}  // namespace tfemu::process
