// The whole way through gRPC: client, server, registry and a memory store.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <nlohmann/json.hpp>

#include "runtime/log_format.h"
#include "tests/unit/rpc/fixture.h"

namespace tfemu::rpc {
namespace {

using api::Json;

constexpr const char* kPod =
    R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "NAME", "labels": {"app": "x"}},
  "spec": {"containers": [{"name": "main", "image": "a:1"}], "restartPolicy": "Never"}})";

std::string Pod(const std::string& name) {
  std::string text = kPod;
  return text.replace(text.find("NAME"), 4, name);
}

std::string Status(const std::string& phase, const std::string& state, int restarts = 0) {
  return R"({"phase": ")" + phase + R"(", "containerStatuses": [{"name": "main", "restartCount": )" +
         std::to_string(restarts) + R"(, "state": {")" + state + R"(": {"exitCode": 0}}}]})";
}

v1::Key Key(const std::string& kind, const std::string& name) {
  v1::Key key;
  key.set_kind(kind);
  if (kind != "Namespace") key.set_ns("default");
  key.set_name(name);
  return key;
}

std::string UidOf(Fixture& fixture, const std::string& name) {
  v1::GetRequest request;
  *request.mutable_key() = Key("Pod", name);
  return Json::parse(fixture.client->Call(&Stub::Get, request).value().json())["metadata"]["uid"];
}

std::string Record(const std::string& line, bool partial = false) {
  std::string out;
  runtime::AppendLogRecord(out,
                           {Instant{1'800'000'000'000'000'000}, runtime::Stream::kStdout, partial, line});
  return out;
}

TEST_CASE("write, get, list, delete and their errors") {
  Fixture fixture;
  v1::WriteRequest write;
  write.set_json(Pod("a"));
  const auto created = fixture.client->Call(&Stub::Write, write);
  REQUIRE_MESSAGE(created.ok(), (created.ok() ? "" : created.error().message));
  CHECK(created.value().outcome() == v1::WriteReply::CREATED);
  const auto again = fixture.client->Call(&Stub::Write, write);
  REQUIRE_MESSAGE(again.ok(), (again.ok() ? "" : again.error().message));
  CHECK(again.value().outcome() == v1::WriteReply::UNCHANGED);
  write.set_create(true);
  CHECK(fixture.client->Call(&Stub::Write, write).error().reason == Reason::kAlreadyExists);

  write.set_create(false);
  write.set_json(
      R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "B_"}, "spec": {"containers": 5}})");
  const auto refused = fixture.client->Call(&Stub::Write, write);
  REQUIRE(!refused.ok());
  CHECK(refused.error().reason == Reason::kInvalid);
  CHECK(!refused.error().fields.empty());
  write.set_json("[]");
  CHECK(fixture.client->Call(&Stub::Write, write).error().reason == Reason::kBadRequest);

  v1::ListRequest list;
  list.set_kind("Pod");
  list.set_selector("app=x");
  CHECK(fixture.client->Call(&Stub::List, list).value().json_size() == 1);
  list.set_selector("app=y");
  CHECK(fixture.client->Call(&Stub::List, list).value().json_size() == 0);
  list.set_selector("((");
  CHECK(fixture.client->Call(&Stub::List, list).error().reason == Reason::kBadRequest);

  v1::DeleteRequest remove;
  *remove.mutable_key() = Key("Pod", "a");
  CHECK(fixture.client->Call(&Stub::Delete, remove).ok());
  CHECK(fixture.client->Call(&Stub::Delete, remove).error().reason == Reason::kNotFound);
}

TEST_CASE("info, images and shutdown") {
  Fixture fixture;
  const auto info = fixture.client->Call(&Stub::Info, v1::InfoRequest());
  REQUIRE(info.ok());
  CHECK(info.value().name() == "test");
  CHECK(info.value().pid() == ::getpid());
  CHECK(info.value().settings().at("gpus") == "2");
  CHECK(fixture.client->Call(&Stub::ListImages, v1::ListImagesRequest()).value().images_size() == 1);
  v1::FindImageRequest find;
  find.set_reference("other:1");
  CHECK(fixture.client->Call(&Stub::FindImage, find).error().hint == "paste this");
  find.set_reference("known:1");
  std::vector<std::string> steps;
  bool done = false;
  fixture.client->PrepareImage(fixture.executor, find,
                               {.message = [&](v1::PrepareReply& step) { steps.push_back(step.text()); },
                                .done = [&](const Result<void>& result) { done = result.ok(); }});
  CHECK(fixture.RunUntil([&] { return done; }));
  CHECK(steps == std::vector<std::string>{"first", "second"});
  CHECK(fixture.client->Call(&Stub::Shutdown, v1::ShutdownRequest()).ok());
  CHECK(fixture.shut_down);
}

struct Seen {
  std::vector<std::string> events;
  bool closed = false;
  WatchCall::Handlers Handlers() {
    return {.message =
                [this](v1::WatchReply& reply) {
                  const std::string name =
                      reply.json().empty() ? "" : Json::parse(reply.json())["metadata"]["name"];
                  events.push_back(v1::WatchReply::Type_Name(reply.type()) + " " + name);
                },
            .done = [this](const Result<void>&) { closed = true; }};
  }
};

TEST_CASE("watches list first, follow, filter, and resume") {
  Fixture fixture;
  fixture.Create(Pod("a"));
  v1::WatchRequest request;
  request.set_kind("Pod");
  request.set_list_first(true);
  Seen all, one, selected;
  const auto call = fixture.client->Watch(fixture.executor, request, all.Handlers());
  request.set_name("b");
  const auto second = fixture.client->Watch(fixture.executor, request, one.Handlers());
  request.set_name("");
  request.set_selector("app=x");
  const auto third = fixture.client->Watch(fixture.executor, request, selected.Handlers());
  REQUIRE(fixture.RunUntil(
      [&] { return !all.events.empty() && !one.events.empty() && selected.events.size() == 2; }));
  v1::ListRequest list;
  list.set_kind("Pod");
  const uint64_t revision = fixture.client->Call(&Stub::List, list).value().revision();
  fixture.Create(Pod("b"));
  fixture.SetStatus({"Pod", "default", "a"}, Status("Running", "running"));
  fixture.OnServer([&] { CHECK(fixture.registry->Remove({"Pod", "default", "b"}, "").ok()); });
  CHECK(fixture.RunUntil(
      [&] { return all.events.size() == 5 && one.events.size() == 3 && selected.events.size() == 5; }));
  CHECK(all.events == std::vector<std::string>{"ADDED a", "SYNCED ", "ADDED b", "MODIFIED a", "DELETED b"});
  CHECK(one.events == std::vector<std::string>{"SYNCED ", "ADDED b", "DELETED b"});

  Seen resumed;
  v1::WatchRequest again;
  again.set_kind("Pod");
  again.set_revision(revision);
  const auto fourth = fixture.client->Watch(fixture.executor, again, resumed.Handlers());
  CHECK(fixture.RunUntil([&] { return resumed.events.size() == 3; }));
  CHECK(resumed.events.front() == "ADDED b");
  call->Cancel();
  CHECK(fixture.RunUntil([&] { return all.closed; }));
  for (const auto& other : {second, third, fourth}) other->Cancel();
  CHECK(fixture.RunUntil([&] { return one.closed && selected.closed && resumed.closed; }));
}

struct LogReader {
  std::string text;
  std::vector<std::string> sources;
  std::optional<Result<void>> ended;
  LogsCall::Handlers Handlers() {
    return {.message =
                [this](v1::LogsReply& reply) {
                  if (reply.has_source())
                    sources.push_back(reply.source().pod() + "/" + std::to_string(reply.source().attempt()));
                  text += reply.data();
                },
            .done = [this](const Result<void>& result) { ended = result; }};
  }
};

TEST_CASE("logs: tail, follow, restarts, the end, and pods that are gone") {
  Fixture fixture;
  fixture.Create(Pod("a"));
  v1::LogsRequest request;
  request.set_ns("default");
  *request.add_targets() = Key("Pod", "a");
  LogReader early;
  fixture.client->Logs(fixture.executor, request, early.Handlers());
  REQUIRE(fixture.RunUntil([&] { return early.ended.has_value(); }));
  CHECK(early.ended->error().message.find("waiting to start") != std::string::npos);

  const std::string uid = UidOf(fixture, "a");
  request.set_follow(true);
  LogReader follower;
  fixture.client->Logs(fixture.executor, request, follower.Handlers());
  fixture.WriteLog("a", uid, 0, Record("one") + Record("tw", true));
  fixture.SetStatus({"Pod", "default", "a"}, Status("Running", "running"));
  REQUIRE(fixture.RunUntil([&] { return follower.text == "one\n"; }));
  fixture.WriteLog("a", uid, 0, Record("o") + Record("three"));
  REQUIRE(fixture.RunUntil([&] { return follower.text == "one\ntwo\nthree\n"; }));
  fixture.WriteLog("a", uid, 1, Record("again") + Record("open", true));
  fixture.SetStatus({"Pod", "default", "a"}, Status("Running", "running", 1));
  REQUIRE(fixture.RunUntil([&] { return follower.text.ends_with("again\n"); }));
  fixture.SetStatus({"Pod", "default", "a"}, Status("Succeeded", "terminated", 1));
  REQUIRE(fixture.RunUntil([&] { return follower.ended.has_value(); }));
  CHECK(follower.ended->ok());
  CHECK(follower.text == "one\ntwo\nthree\nagain\nopen");
  CHECK(follower.sources == std::vector<std::string>{"a/0", "a/1"});

  request.set_follow(false);
  const auto read = [&] {
    LogReader reader;
    fixture.client->Logs(fixture.executor, request, reader.Handlers());
    CHECK(fixture.RunUntil([&] { return reader.ended.has_value(); }));
    return reader.ended->ok() ? reader.text : "error: " + reader.ended->error().message;
  };
  CHECK(read() == "again\nopen");
  request.set_tail(1);
  CHECK(read() == "open");
  request.set_previous(true);
  CHECK(read() == "three\n");
  request.clear_previous();
  request.clear_tail();
  fixture.OnServer([&] { CHECK(fixture.registry->Remove({"Pod", "default", "a"}, "").ok()); });
  CHECK(read() == "again\nopen");
  request.mutable_targets(0)->set_name("never");
  CHECK(read() == "error: pods \"never\" not found");
}

TEST_CASE("a flood of logs arrives whole") {
  Fixture fixture;
  fixture.Create(Pod("a"));
  std::string records, expected;
  for (int i = 0; i < 200'000; ++i) {
    const std::string line = "line " + std::to_string(i) + std::string(80, '.');
    records += Record(line);
    expected += line + "\n";
  }
  fixture.WriteLog("a", UidOf(fixture, "a"), 0, records);
  fixture.SetStatus({"Pod", "default", "a"}, Status("Succeeded", "terminated"));
  v1::LogsRequest request;
  request.set_ns("default");
  request.set_selector("app=x");
  LogReader reader;
  const Instant begin = fixture.executor.Now();
  fixture.client->Logs(fixture.executor, request, reader.Handlers());
  REQUIRE(fixture.RunUntil([&] { return reader.ended.has_value(); }));
  MESSAGE("MB/s: ", static_cast<double>(expected.size()) * 1e3 /
                        static_cast<double>((fixture.executor.Now() - begin).count()));
  CHECK(reader.text == expected);
}

TEST_CASE("exec passes bytes and the exit code") {
  Fixture fixture;
  fixture.Create(Pod("a"));
  fixture.access.on_exec = [](runtime::ExecLaunch launch, const std::function<void(Result<int>)>& done) {
    CHECK(launch.argv == std::vector<std::string>{"cat"});
    std::thread([launch = std::make_shared<runtime::ExecLaunch>(std::move(launch)), done] {
      char block[64];
      std::string all;
      for (ssize_t got; (got = ::read(launch->stdio[0].get(), block, sizeof block)) > 0;)
        all.append(block, got);
      CHECK(::write(launch->stdio[1].get(), all.data(), all.size()) == static_cast<ssize_t>(all.size()));
      CHECK(::write(launch->stdio[2].get(), "err", 3) == 3);
      done(7);
    }).detach();
  };
  struct Outcome {
    std::string out, err;
    int code = -1;
    std::optional<Result<void>> ended;
  } outcome;
  const auto start = [&] {
    outcome = {};
    auto call = fixture.client->Exec(fixture.executor,
                                     {.message =
                                          [&](v1::ExecOutput& output) {
                                            outcome.out += output.stdout();
                                            outcome.err += output.stderr();
                                            if (output.has_exit_code()) outcome.code = output.exit_code();
                                          },
                                      .done = [&](const Result<void>& result) { outcome.ended = result; }});
    v1::ExecInput input;
    *input.mutable_start()->mutable_pod() = Key("Pod", "a");
    input.mutable_start()->add_command("cat");
    input.mutable_start()->set_stdin(true);
    call->Write(input);
    input.set_stdin("hello");
    call->Write(input);
    input.set_stdin_closed(true);
    call->Write(input);
    return call;
  };
  start();
  REQUIRE(fixture.RunUntil([&] { return outcome.ended.has_value(); }));
  CHECK(outcome.ended->error().message.find("not running yet") != std::string::npos);
  fixture.SetStatus({"Pod", "default", "a"}, Status("Running", "running"));
  start();
  REQUIRE(fixture.RunUntil([&] { return outcome.ended.has_value(); }));
  CHECK(outcome.ended->ok());
  CHECK(outcome.out == "hello");
  CHECK(outcome.err == "err");
  CHECK(outcome.code == 7);
}

TEST_CASE("a forwarded connection carries bytes both ways; a closed port says so") {
  Fixture fixture;
  fixture.Create(Pod("a"));
  fixture.SetStatus({"Pod", "default", "a"}, Status("Running", "running"));
  using boost::asio::ip::tcp;
  boost::asio::io_context context;
  tcp::acceptor acceptor(context, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
  std::thread echo([&] {
    tcp::socket socket = acceptor.accept();
    std::string text(5, '\0');
    boost::asio::read(socket, boost::asio::buffer(text));
    std::ranges::reverse(text);
    boost::asio::write(socket, boost::asio::buffer(text));
  });
  std::string text;
  std::optional<Result<void>> ended;
  const auto start = [&](int port) {
    auto call = fixture.client->PortForward(
        fixture.executor, {.message = [&](v1::PortOutput& output) { text += output.data(); },
                           .done = [&](const Result<void>& result) { ended = result; }});
    v1::PortInput input;
    *input.mutable_start()->mutable_pod() = Key("Pod", "a");
    input.mutable_start()->set_port(port);
    call->Write(input);
    return call;
  };
  const auto call = start(acceptor.local_endpoint().port());
  v1::PortInput data;
  data.set_data("hello");
  call->Write(data);
  REQUIRE(fixture.RunUntil([&] { return ended.has_value(); }));
  echo.join();
  CHECK(ended->ok());
  CHECK(text == "olleh");
  ended.reset();
  acceptor.close();
  start(1);
  REQUIRE(fixture.RunUntil([&] { return ended.has_value(); }));
  CHECK(ended->error().message.find("port 1 of pod \"a\"") != std::string::npos);
}

}  // namespace
}  // namespace tfemu::rpc
