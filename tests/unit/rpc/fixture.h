// A server over a memory store, on a thread of its own, and a client beside it.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "emulator/manager/registry.h"
#include "emulator/rpc/client.h"
#include "emulator/rpc/server.h"
#include "emulator/store/memory_store.h"

namespace tfemu::rpc {

// Runs commands as plain children-free functions: `exec` writes what the test wants and says its code.
struct FakeAccess final : runtime::PodAccess {
  std::function<void(runtime::ExecLaunch, std::function<void(Result<int>)>)> on_exec;
  void Exec(const std::string&, runtime::ExecLaunch launch, std::function<void(Result<int>)> done) override {
    on_exec(std::move(launch), std::move(done));
  }
  void OpenSocket(const std::string&, std::function<void(Result<UniqueFd>)> done) override;
};

struct FakeImages final : runtime::ImageCatalog {
  Result<runtime::Image> Find(const std::string& reference) const override {
    if (reference == "known:1") return runtime::Image{.folder = "/images/known", .references = {"known:*"}};
    return Error{Reason::kNotFound, "image \"" + reference + "\" is not known here", "paste this"};
  }
  std::vector<runtime::Image> List() const override { return {Find("known:1").value()}; }
  bool Ready(const runtime::Image&) const override { return false; }
  void Prepare(const runtime::Image&, std::function<void(const runtime::PrepareProgress&)> progress,
               std::function<void(Result<void>)> done) override {
    progress({1, 2, "first"});
    progress({2, 2, "second"});
    done({});
  }
};

class Fixture {
 public:
  Fixture();
  ~Fixture();

  // Runs `step` on the server's thread and waits for it.
  void OnServer(const std::function<void()>& step);
  // Creates it there; metadata and status as given.
  void Create(const std::string& json);
  void SetStatus(const api::ObjectKey& key, const std::string& status_json);
  // Runs the client's loop until `done` says so; false after 10 s.
  bool RunUntil(const std::function<bool()>& done);
  void WriteLog(const std::string& pod, const std::string& uid, int attempt, const std::string& records);

  std::string state;
  FakeAccess access;
  FakeImages images;
  boost::asio::io_context client_context;
  io::AsioExecutor executor{client_context};
  std::unique_ptr<Client> client;
  manager::Registry* registry = nullptr;
  bool shut_down = false;

 private:
  boost::asio::io_context server_context_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_{
      server_context_.get_executor()};
  std::unique_ptr<io::AsioExecutor> server_executor_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<manager::Registry> registry_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

}  // namespace tfemu::rpc
