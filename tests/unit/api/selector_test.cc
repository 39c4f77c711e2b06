// Label selectors in their text form.
#include "emulator/api/selector.h"

#include <doctest/doctest.h>

namespace tfemu::api {
namespace {

bool Matches(const char* text, const Labels& labels) {
  const auto selector = ParseSelector(text);
  REQUIRE(selector.ok());
  return selector.value().Matches(labels);
}

TEST_CASE("every operator of a selector") {
  const Labels labels = {{"app", "tensorboard"}, {"tier", "web"}};
  CHECK(Matches("", labels));
  CHECK(Matches("app=tensorboard", labels));
  CHECK(Matches("app==tensorboard,tier!=db", labels));
  CHECK_FALSE(Matches("app=tensorboard,tier=db", labels));
  CHECK(Matches("tier in (web, db)", labels));
  CHECK_FALSE(Matches("tier notin (web,db)", labels));
  CHECK(Matches("zone notin (a)", labels));
  CHECK(Matches("app,!zone", labels));
  CHECK_FALSE(Matches("zone", labels));
}

TEST_CASE("a text that is no selector is refused with an example") {
  for (const char* text : {"app=", "=x", "a b", "app in", "app in web", ","}) {
    INFO(text);
    const auto selector = ParseSelector(text);
    if (std::string(text) == "app=") {
      CHECK(selector.ok());  // an empty value is a value
      continue;
    }
    REQUIRE_FALSE(selector.ok());
    CHECK(selector.error().reason == Reason::kBadRequest);
    CHECK_FALSE(selector.error().hint.empty());
  }
}

}  // namespace
}  // namespace tfemu::api
