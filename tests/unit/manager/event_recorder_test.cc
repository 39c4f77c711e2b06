// How long events are kept.
#include "emulator/manager/event_recorder.h"

#include <doctest/doctest.h>

#include "tests/support/world.h"

namespace tfemu::test {
namespace {

constexpr const char* kPod =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: tensorflow, image: "
    "\"i:1\"}]}\n";

TEST_CASE("of objects that are gone only the newest events stay, over a restart too") {
  World world;
  world.Apply(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: living}\n"
      "spec: {containers: [{name: tensorflow, image: \"i:1\"}]}\n");
  const size_t of_living = world.EventsOf("living").size();
  REQUIRE(of_living > 0);
  const auto churn = [&] {
    world.Apply(kPod);
    world.Advance(std::chrono::milliseconds(100));
    REQUIRE(world.cluster->registry().Delete({"Pod", "default", "p"}, {.grace_period_seconds = 0}).ok());
    world.Advance(std::chrono::milliseconds(100));
  };
  for (int i = 0; i < 300; ++i) churn();
  CHECK(world.List("Event").size() == manager::EventRecorder::kKeptOfGone + of_living);
  world.Restart();
  churn();
  const size_t after = world.EventsOf("living").size();  // it was restarted: these pods end with the daemon
  CHECK(after >= of_living);
  CHECK(world.List("Event").size() == manager::EventRecorder::kKeptOfGone + after);
}

TEST_CASE("what a former daemon has told is not told again, but when it happens again") {
  World world;
  world.Apply(kPod);
  const api::ObjectReference pod{"v1", "Pod", "default", "p", world.Get("Pod", "p").uid(), 1};
  const api::Event event{pod, false, "Happened", "It happened", "kubelet", "node-1"};
  world.Advance(std::chrono::seconds(5));
  const Instant occurred = world.executor.Now();
  const auto last = [&] { return world.EventsOf("p").back(); };
  manager::EventRecorder(world.executor, world.cluster->registry()).RecordOnce(event, occurred);
  CHECK(last() == "Normal Happened It happened");
  world.Advance(std::chrono::seconds(5));
  manager::EventRecorder next(world.executor, world.cluster->registry());
  next.Adopt();
  next.RecordOnce(event, occurred);
  CHECK(last() == "Normal Happened It happened");
  next.RecordOnce(event, world.executor.Now());
  CHECK(last() == "Normal Happened It happened x2");
}

TEST_CASE("an hour later they are gone") {
  World world;
  world.Apply(kPod);
  REQUIRE_FALSE(world.EventsOf("p").empty());
  world.Advance(std::chrono::hours(2));
  world.Apply(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: other}\n"
      "spec: {containers: [{name: tensorflow, image: \"i:1\"}]}\n");
  CHECK(world.EventsOf("p").empty());
  CHECK_FALSE(world.EventsOf("other").empty());
}

}  // namespace
}  // namespace tfemu::test
