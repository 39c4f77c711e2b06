#include "runtime/process/fd_watch.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <utility>

namespace tfemu::process {

using boost::asio::posix::stream_descriptor;

struct FdWatch::State {
  State(boost::asio::io_context& context, int fd) : descriptor(context, fd) {}
  stream_descriptor descriptor;
};

namespace {

// An operation that completed before the watch died still runs its handler with success: hence the weak
// pointer.
template <class State>
void Wait(const std::shared_ptr<State>& state, stream_descriptor::wait_type type,
          std::function<void()> ready) {
  state->descriptor.async_wait(type, [alive = std::weak_ptr<State>(state),
                                      ready = std::move(ready)](const boost::system::error_code& error) {
    if (!error && !alive.expired()) ready();
  });
}

}  // namespace

FdWatch::FdWatch(boost::asio::io_context& context, UniqueFd fd)
    : state_(std::make_shared<State>(context, fd.Release())) {}

int FdWatch::fd() const { return state_->descriptor.native_handle(); }

void FdWatch::WaitReadable(std::function<void()> ready) {
  Wait(state_, stream_descriptor::wait_read, std::move(ready));
}

void FdWatch::WaitWritable(std::function<void()> ready) {
  Wait(state_, stream_descriptor::wait_write, std::move(ready));
}

}  // namespace tfemu::process
