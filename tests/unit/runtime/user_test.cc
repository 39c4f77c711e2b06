// Users as container engines read them.
#include "runtime/user.h"

#include <doctest/doctest.h>

namespace tfemu::runtime {
namespace {

const std::string kPasswd =
    "root:x:0:0:root:/root:/bin/sh\napp:x:1000:1001:An App:/srv/app:/bin/sh\nbroken:x:abc\n"
    "homeless:x:5:5:::\n";
const std::string kGroup = "root:x:0:\napp:x:1001:\nwheel:x:10:root,app\naudio:x:29:other\nplain:x:30\n";

TEST_CASE("users and groups by name and number") {
  struct Row {
    const char* text;
    User user;
  };
  for (const Row& row :
       {Row{"app", {1000, 1001, {10}, "/srv/app"}}, Row{"1000", {1000, 1001, {10}, "/srv/app"}},
        Row{"0", {0, 0, {10}, "/root"}}, Row{"app:audio", {1000, 29, {}, "/srv/app"}},
        Row{"app:77", {1000, 77, {}, "/srv/app"}}, Row{"4242", {4242, 0, {}, "/"}},
        Row{"4242:7", {4242, 7, {}, "/"}}, Row{"homeless", {5, 5, {}, "/"}},
        Row{"4294967294", {4294967294u, 0, {}, "/"}}}) {
    CAPTURE(row.text);
    const auto user = LookUpUser(row.text, kPasswd, kGroup);
    REQUIRE(user.ok());
    CHECK(user.value().uid == row.user.uid);
    CHECK(user.value().gid == row.user.gid);
    CHECK(user.value().groups == row.user.groups);
    CHECK(user.value().home == row.user.home);
  }
}

TEST_CASE("who is nobody is refused") {
  for (const char* text : {"nobody", "broken", "app:nobody", "-1", "4294967295", "99999999999", "app:-1"}) {
    CAPTURE(text);
    const auto user = LookUpUser(text, kPasswd, kGroup);
    REQUIRE_FALSE(user.ok());
    CHECK(user.error().message.find("no matching entries") != std::string::npos);
  }
}

}  // namespace
}  // namespace tfemu::runtime
