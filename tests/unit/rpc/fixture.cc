#include "tests/unit/rpc/fixture.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/log_format.h"

namespace tfemu::rpc {

void FakeAccess::OpenSocket(const std::string&, std::function<void(Result<UniqueFd>)> done) {
  done(UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)));
}

Fixture::Fixture() {
  char name[] = "/tmp/tfemu-rpc-XXXXXX";
  state = ::mkdtemp(name);
  server_executor_ = std::make_unique<io::AsioExecutor>(server_context_);
  store_ = std::make_unique<store::MemoryStore>(*server_executor_);
  registry_ = std::make_unique<manager::Registry>(*server_executor_, *store_, Rng(1), nullptr);
  registry = registry_.get();
  const auto facts = [this] {
    return ClusterFacts{.name = "test",
                        .version = "0",
                        .state_folder = state,
                        .isolation = "root",
                        .settings = {{"gpus", "2"}}};
  };
  const auto stop = [this](std::function<void()> stopped) {
    shut_down = true;
    stopped();
  };
  server_ = std::make_unique<Server>(Backend{*server_executor_, *registry_, *store_, access, images, state,
                                             facts, [] { return ClusterUse(); }, stop});
  CHECK_THAT(server_->Start("").ok());
  thread_ = std::thread([this] { server_context_.run(); });
  client = std::make_unique<Client>(server_->InProcessChannel());
  Create(R"({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}})");
}

Fixture::~Fixture() {
  std::promise<void> stopped;
  server_executor_->Post([&] { server_->Stop([&] { stopped.set_value(); }); });
  stopped.get_future().wait();
  client.reset();
  guard_.reset();
  server_context_.stop();
  thread_.join();
  server_.reset();
  // Calls that the server ended still have a word for the client's loop.
  client_context.restart();
  client_context.run_for(std::chrono::milliseconds(100));
  std::filesystem::remove_all(state);
}

void Fixture::OnServer(const std::function<void()>& step) {
  std::promise<void> done;
  server_executor_->Post([&] {
    step();
    done.set_value();
  });
  done.get_future().wait();
}

void Fixture::Create(const std::string& json) {
  OnServer([&] {
    const auto written = registry_->Create(api::Json::parse(json), {.keep_status = true});
    CHECK_THAT(written.ok());
  });
}

void Fixture::SetStatus(const api::ObjectKey& key, const std::string& status_json) {
  OnServer([&] {
    const auto object = store_->Get(key);
    CHECK_THAT(object.ok());
    CHECK_THAT(store_->Update(object.value().With("/status", api::Json::parse(status_json))).ok());
  });
}

bool Fixture::RunUntil(const std::function<bool()>& done) {
  const auto guard = boost::asio::make_work_guard(client_context);
  const Instant deadline = executor.Now() + std::chrono::seconds(10);
  client_context.restart();
  while (!done() && executor.Now() < deadline) client_context.run_one_for(std::chrono::milliseconds(100));
  return done();
}

void Fixture::WriteLog(const std::string& pod, const std::string& uid, int attempt,
                       const std::string& records) {
  const std::filesystem::path path = runtime::LogPath(state, "default", pod, uid, "main", attempt);
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::app | std::ios::binary);
  file << records;
}

}  // namespace tfemu::rpc
