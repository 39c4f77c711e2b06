#include "runtime/user.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "emulator/base/strings.h"

namespace tfemu::runtime {
namespace {

// The last number means "leave as it is" to the kernel.
std::optional<unsigned> Number(const std::string& text) {
  const auto number = ParseInt(text);
  if (!number || *number < 0 || *number >= std::numeric_limits<unsigned>::max()) return std::nullopt;
  return static_cast<unsigned>(*number);
}

// Lines of passwd and group, as fields; the first `least` are there.
std::vector<std::vector<std::string>> Rows(const std::string& text, size_t least) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& line : Split(text, '\n')) {
    auto fields = Split(line, ':');
    if (fields.size() >= least) rows.push_back(std::move(fields));
  }
  return rows;
}

Error Unknown(const std::string& what, const std::string& name, const std::string& file) {
  return {
      .reason = Reason::kInvalid,
      .message = "unable to find " + what + " " + name + ": no matching entries in the image's /etc/" + file};
}

Result<gid_t> LookUpGroup(const std::string& text, const std::string& group) {
  for (const auto& row : Rows(group, 3))
    if (row[0] == text)
      if (const auto gid = Number(row[2])) return *gid;
  if (const auto gid = Number(text)) return *gid;
  return Unknown("group", text, "group");
}

}  // namespace

Result<User> LookUpUser(const std::string& text, const std::string& passwd, const std::string& group) {
  const size_t colon = text.find(':');
  const std::string user_text = text.substr(0, colon);
  const std::string group_text = colon == text.npos ? "" : text.substr(colon + 1);
  const auto number = Number(user_text);
  User user;
  std::string name;
  bool known = false;
  for (const auto& row : Rows(passwd, 6)) {
    const auto uid = Number(row[2]), gid = Number(row[3]);
    if (!uid || !gid || (row[0] != user_text && uid != number)) continue;
    known = true;
    name = row[0];
    user.uid = *uid;
    user.gid = *gid;
    if (!row[5].empty()) user.home = row[5];
    break;
  }
  if (!known && !user_text.empty()) {
    if (!number) return Unknown("user", user_text, "passwd");
    user.uid = *number;
  }
  if (!group_text.empty()) {
    ASSIGN_OR_RETURN(user.gid, LookUpGroup(group_text, group));
    return user;
  }
  for (const auto& row : Rows(group, 4)) {
    const auto members = Split(row[3], ',');
    const auto gid = Number(row[2]);
    if (gid && !name.empty() && std::ranges::find(members, name) != members.end())
      user.groups.push_back(*gid);
  }
  return user;
}

}  // namespace tfemu::runtime
