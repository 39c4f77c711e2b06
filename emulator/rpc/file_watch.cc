#include "emulator/rpc/file_watch.h"

#include <sys/inotify.h>

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <cstring>

namespace tfemu::rpc {

struct FileWatch::State : std::enable_shared_from_this<FileWatch::State> {
  State(boost::asio::io_context& context, std::function<void()> callback)
      : descriptor(context), grown(std::move(callback)) {}

  void Wait() {
    descriptor.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                          [self = shared_from_this()](const boost::system::error_code& error) {
                            if (error || !self->grown) return;
                            self->Drain();
                            self->grown();
                            if (self->grown) self->Wait();
                          });
  }
  // Which file it was does not matter: readers find out by reading.
  void Drain() {
    std::array<char, 4096> events;
    while (::read(descriptor.native_handle(), events.data(), events.size()) > 0) {
    }
  }

  boost::asio::posix::stream_descriptor descriptor;
  std::function<void()> grown;
};

FileWatch::FileWatch(boost::asio::io_context& context, std::function<void()> grown)
    : state_(std::make_shared<State>(context, std::move(grown))) {
  const int fd = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (fd < 0) return;
  state_->descriptor.assign(fd);
  state_->Wait();
}

FileWatch::~FileWatch() {
  state_->grown = nullptr;
  boost::system::error_code ignored;
  state_->descriptor.close(ignored);
}

Result<void> FileWatch::Add(const std::string& path) {
  if (!state_->descriptor.is_open())
    return Error{Reason::kUnavailable, "no inotify instance is left on this host",
                 "raise fs.inotify.max_user_instances: sysctl fs.inotify.max_user_instances=1024"};
  if (::inotify_add_watch(state_->descriptor.native_handle(), path.c_str(), IN_MODIFY) < 0)
    return Error{Reason::kUnavailable, "cannot watch " + path + ": " + std::strerror(errno)};
  return {};
}

}  // namespace tfemu::rpc
