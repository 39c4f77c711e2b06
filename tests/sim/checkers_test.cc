// The checkers themselves: each is shown a history that breaks its rule, and has to complain.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/sim/checker.h"
#include "tests/sim/manifests.h"
#include "tests/sim/scenarios.h"
#include "tests/sim/sim_host.h"

namespace tfemu::sim {
namespace {

using namespace std::chrono_literals;
using api::Json;
using runtime::PodEvent;

class Judged {
 public:
  Judged() { Write(MakeNodes(1, 2).front()); }

  // As the next revision; what it was before is remembered.
  void Write(Json doc) {
    const store::Revision revision = ++revision_;
    doc["metadata"]["resourceVersion"] = std::to_string(revision);
    if (!doc["metadata"].contains("uid"))
      doc["metadata"]["uid"] = "uid " + doc["metadata"]["name"].get<std::string>();
    const api::Object after(doc);
    const auto before = objects_.find(after.key());
    for (const auto& checker : checkers_)
      checker->OnWrite(before == objects_.end() ? nullptr : &before->second, after, revision);
    objects_.insert_or_assign(after.key(), after);
  }
  void Happen(const PodEvent& event) {
    for (const auto& checker : checkers_) checker->OnPodEvent(event);
  }
  void Skip() { ++revision_; }
  void Tell(store::WatchType type, store::Revision revision) {
    Json doc = MakePod("p", "Never", {"forever"});
    doc["metadata"]["resourceVersion"] = std::to_string(revision);
    for (const auto& checker : checkers_) checker->OnWatchEvent({type, api::Object(doc)});
  }
  bool Complains(const std::string& rule) const {
    for (const auto& complaint : complaints_.list())
      if (complaint.starts_with(rule + ": ")) return true;
    return false;
  }
  size_t count() const { return complaints_.list().size(); }

 private:
  Complaints complaints_;
  Checkers checkers_ = AllCheckers(complaints_);
  std::map<api::ObjectKey, api::Object> objects_;
  store::Revision revision_ = 0;
};

Json PodOn(const std::string& name, const std::string& node, const std::string& phase = "Running") {
  Json pod = MakePod(name, "Never", {"forever"});
  pod["spec"]["nodeName"] = node;
  pod["status"]["phase"] = phase;
  return pod;
}

PodEvent Started(int attempt) {
  return {.type = PodEvent::Type::kContainerStarted, .uid = "u", .container = "main", .attempt = attempt};
}
PodEvent Exited(int attempt) {
  return {.type = PodEvent::Type::kContainerExited, .uid = "u", .container = "main", .attempt = attempt};
}

TEST_CASE("a good history pleases them all") {
  Judged judged;
  judged.Write(PodOn("p", "", "Pending"));
  judged.Write(PodOn("p", "node-1", "Pending"));
  judged.Happen(Started(0));
  judged.Happen(Exited(0));
  judged.Happen(Started(1));
  judged.Write(PodOn("p", "node-1", "Succeeded"));
  CHECK(judged.count() == 0);
}

TEST_CASE("a pod that moves, or lives again") {
  Judged judged;
  judged.Write(PodOn("p", "node-1"));
  judged.Write(PodOn("p", "node-2"));
  CHECK(judged.Complains("a pod stays on its node"));
  judged.Write(PodOn("q", "node-1", "Failed"));
  judged.Write(PodOn("q", "node-1", "Running"));
  CHECK(judged.Complains("a pod that has ended stays so"));
}

TEST_CASE("an attempt that is started twice, and one beside another") {
  Judged twice, beside;
  twice.Happen(Started(0));
  twice.Happen(Exited(0));
  twice.Happen(Started(0));
  CHECK(twice.Complains("an attempt of a container is started once, after the one before"));
  beside.Happen(Started(0));
  beside.Happen(Started(1));
  CHECK(beside.Complains("an attempt of a container is started once, after the one before"));
}

TEST_CASE("a node that gives what it does not have") {
  Judged judged;
  for (int i = 0; i < 17; ++i) {
    CHECK_FALSE(judged.Complains("a node gives no more than it has"));
    judged.Write(PodOn("p" + std::to_string(i), "node-1"));  // half a CPU of eight, each
  }
  CHECK(judged.Complains("a node gives no more than it has"));
}

TEST_CASE("a GPU with two holders, and one that was not asked for") {
  const auto holding = [](const std::string& name) {
    Json pod = PodOn(name, "node-1");
    Json& resources = pod["spec"]["containers"][0]["resources"];
    resources["requests"]["nvidia.com/gpu"] = resources["limits"]["nvidia.com/gpu"] = 1;
    pod["metadata"]["annotations"][api::kGpuAnnotation] =
        api::EncodeGpuShares({{"main", {{MakeGpus(0, 1).front().uuid}}}});
    return pod;
  };
  Judged judged;
  judged.Write(holding("p"));
  CHECK(judged.count() == 0);
  judged.Write(holding("q"));
  CHECK(judged.Complains("a GPU has one holder, and was healthy"));
  Judged unasked;
  Json pod = holding("p");
  pod["spec"]["containers"][0]["resources"] = Json::object();
  unasked.Write(pod);
  CHECK(unasked.Complains("a GPU has one holder, and was healthy"));
}

TEST_CASE("a revision that is left out, and a watch that skips, repeats or invents") {
  Judged skipped;
  skipped.Skip();
  skipped.Write(PodOn("p", "node-1"));
  CHECK(skipped.Complains("revisions count the writes"));
  const std::string rule = "a watch tells every write once, in order";
  Judged gap, repeated, invented;
  gap.Tell(store::WatchType::kAdded, 1);
  CHECK(gap.count() == 0);
  gap.Tell(store::WatchType::kModified, 3);
  CHECK(gap.Complains(rule));
  repeated.Tell(store::WatchType::kAdded, 1);
  repeated.Tell(store::WatchType::kModified, 1);
  CHECK(repeated.Complains(rule));
  invented.Tell(store::WatchType::kModified, 1);
  CHECK(invented.Complains(rule));
}

Json JobWith(const std::vector<std::string>& conditions) {
  Json job = MakeTFJob("j", {{"Worker", 1, "Never", {"forever"}}});
  for (const auto& type : conditions)
    job["status"]["conditions"].push_back({{"type", type}, {"status", "True"}});
  return job;
}

TEST_CASE("a TFJob in two states, and one that comes back") {
  const std::string rule = "a TFJob is in one state, and its end is final";
  const std::vector<std::vector<std::string>> bad = {
      {"Running", "Restarting"}, {"Succeeded", "Failed"}, {"Failed", "Running"}};
  for (const auto& conditions : bad) {
    Judged judged;
    judged.Write(JobWith(conditions));
    CHECK(judged.Complains(rule));
  }
  Judged back;
  back.Write(JobWith({"Failed"}));
  CHECK(back.count() == 0);
  back.Write(JobWith({"Running"}));
  CHECK(back.Complains(rule));
}

// A daemon whose agent is deaf: what its pods do is not told.
TEST_CASE("a status that is not so, a pod that is forgotten, a dependent without an owner") {
  Complaints complaints;
  const Checkers checkers = AllCheckers(complaints);
  std::vector<Observer*> observers;
  for (const auto& checker : checkers) observers.push_back(checker.get());
  SimHost host({.nodes = MakeNodes(1, 0), .observers = observers});
  host.DoAt(0s, Create(MakePod("p", "Always", {"forever"})));
  host.Boot();
  host.RunUntil(5s);
  CheckQuiet(host, complaints);
  REQUIRE(complaints.list().empty());
  host.runtime().SetSink([](const PodEvent&) {});
  const std::string uid = host.disk().objects().at({"Pod", "default", "p"}).uid();
  host.runtime().Exit(uid, "main", 1);
  host.RunUntil(10s);
  REQUIRE_FALSE(complaints.list().empty());
  CHECK(complaints.list().front().find("p/main says Running and is not") != std::string::npos);

  host.runtime().StartPod({.uid = "stranger", .ns = "default", .name = "stranger"});
  Complaints at_the_end;
  CheckQuiet(host, at_the_end);
  REQUIRE(at_the_end.list().size() == 1);
  CHECK(at_the_end.list().front() == "no pod is forgotten: stranger still has a sandbox, and no object");
}

}  // namespace
}  // namespace tfemu::sim
