// flock has no way to wait without a thread, so a busy lock is asked again ten times a second.
#include "runtime/image/file_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace tfemu::image {

namespace asio = boost::asio;

asio::awaitable<Result<UniqueFd>> LockFile(std::string path, std::function<void()> on_wait) {
  UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.valid()) {
    co_return Error{.reason = errno == EACCES || errno == EROFS ? Reason::kForbidden : Reason::kInternal,
                    .message = "cannot open " + path + ": " + strerror(errno)};
  }
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer timer(executor);
  while (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      co_return Error{.reason = Reason::kInternal, .message = "cannot lock " + path + ": " + strerror(errno)};
    }
    if (on_wait) std::exchange(on_wait, nullptr)();
    timer.expires_after(std::chrono::milliseconds(100));
    co_await timer.async_wait(asio::use_awaitable);
  }
  co_return file;
}

}  // namespace tfemu::image
