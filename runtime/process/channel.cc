#include "runtime/process/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "runtime/process/system_error.h"

namespace tfemu::process {
namespace {

constexpr size_t kMaxDescriptors = 8;
constexpr uint32_t kMaxBody = 256u << 20;

struct Header {
  uint32_t body_size = 0;
  uint32_t descriptors = 0;
};

union ControlBuffer {
  char bytes[CMSG_SPACE(sizeof(int) * kMaxDescriptors)];
  cmsghdr align;
};

void AttachDescriptors(msghdr& message, ControlBuffer& control, const Channel::Descriptors& descriptors) {
  if (descriptors.empty()) return;
  message.msg_control = control.bytes;
  message.msg_controllen = CMSG_SPACE(sizeof(int) * descriptors.size());
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int) * descriptors.size());
  for (size_t i = 0; i < descriptors.size(); ++i) {
    const int fd = descriptors[i].get();
    std::memcpy(CMSG_DATA(head) + i * sizeof(int), &fd, sizeof(int));
  }
}

void CollectDescriptors(msghdr& message, std::deque<UniqueFd>& into) {
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(head) + i * sizeof(int), sizeof(int));
      into.emplace_back(fd);
    }
  }
}

bool PollFor(int fd, short events, int timeout_ms) {
  pollfd wait{.fd = fd, .events = events, .revents = 0};
  int ready = 0;
  do ready = ::poll(&wait, 1, timeout_ms);
  while (ready < 0 && errno == EINTR);
  return ready > 0;
}

}  // namespace

Channel::Channel(boost::asio::io_context& context, UniqueFd socket) : context_(context) {
  ::fcntl(socket.get(), F_SETFL, O_NONBLOCK);
  watch_ = FdWatch(context, std::move(socket));
}

void Channel::Start(MessageHandler on_message, std::function<void()> on_closed) {
  on_message_ = std::move(on_message);
  on_closed_ = std::move(on_closed);
  watch_.WaitReadable([this] { OnReadable(); });
  Flush();
  if (incoming_.empty()) return;
  boost::asio::post(context_, [this, alive = std::weak_ptr<bool>(alive_)] {  // came with what was waited for
    if (!alive.expired()) Dispatch();
  });
}

void Channel::ReadRest() {
  const std::weak_ptr<bool> alive = alive_;
  for (bool more = watch_.valid(); more;) {
    const size_t before = incoming_.size();
    more = ReadSome() && incoming_.size() > before;
    if (!Dispatch() || alive.expired()) return;
  }
}

void Channel::Send(std::string body, Descriptors descriptors) {
  CHECK_THAT(descriptors.size() <= kMaxDescriptors);
  const Header header{static_cast<uint32_t>(body.size()), static_cast<uint32_t>(descriptors.size())};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += body;
  outgoing_.push_back({std::move(bytes), std::move(descriptors)});
  if (!waiting_to_write_) Flush();
}

void Channel::Flush() {
  waiting_to_write_ = false;
  while (!outgoing_.empty() && watch_.valid()) {
    Outgoing& next = outgoing_.front();
    iovec piece{next.bytes.data() + next.sent, next.bytes.size() - next.sent};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    ControlBuffer control{};
    AttachDescriptors(message, control, next.descriptors);
    const ssize_t sent = ::sendmsg(watch_.fd(), &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      waiting_to_write_ = true;
      watch_.WaitWritable([this] { Flush(); });
      return;
    }
    if (sent < 0) {  // the reading side will notice and tell
      outgoing_.clear();
      return;
    }
    next.descriptors.clear();
    next.sent += static_cast<size_t>(sent);
    if (next.sent == next.bytes.size()) outgoing_.pop_front();
  }
}

bool Channel::ReadSome() {
  static constexpr size_t kChunk = 64 << 10;
  const size_t had = incoming_.size();
  incoming_.resize(had + kChunk);
  iovec piece{incoming_.data() + had, kChunk};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  ControlBuffer control{};
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control;
  const ssize_t got = ::recvmsg(watch_.fd(), &message, MSG_CMSG_CLOEXEC);
  incoming_.resize(had + (got > 0 ? static_cast<size_t>(got) : 0));
  if (got > 0) CollectDescriptors(message, incoming_descriptors_);
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

bool Channel::TakeMessage(std::string& body, Descriptors& descriptors) {
  if (incoming_.size() < sizeof(Header)) return false;
  Header header;
  std::memcpy(&header, incoming_.data(), sizeof header);
  nonsense_ = header.body_size > kMaxBody || header.descriptors > kMaxDescriptors;
  const size_t size = sizeof header + header.body_size;
  if (nonsense_ || incoming_.size() < size || incoming_descriptors_.size() < header.descriptors) return false;
  body.assign(incoming_, sizeof header, header.body_size);
  incoming_.erase(0, size);
  for (uint32_t i = 0; i < header.descriptors; ++i) {
    descriptors.push_back(std::move(incoming_descriptors_.front()));
    incoming_descriptors_.pop_front();
  }
  return true;
}

bool Channel::Dispatch() {
  const std::weak_ptr<bool> alive = alive_;
  for (std::string body; !alive.expired();) {
    Descriptors descriptors;
    if (!TakeMessage(body, descriptors)) return !nonsense_;
    on_message_(body, std::move(descriptors));
  }
  return false;
}

void Channel::OnReadable() {
  const std::weak_ptr<bool> alive = alive_;
  const bool open = ReadSome();
  const bool sense = Dispatch();
  if (alive.expired()) return;
  if (open && sense) {
    watch_.WaitReadable([this] { OnReadable(); });
    return;
  }
  watch_.Close();
  const auto closed = std::move(on_closed_);
  if (closed) closed();
}

Result<std::string> Channel::ReceiveBlocking(int timeout_ms) {
  std::string body;
  for (Descriptors descriptors; !TakeMessage(body, descriptors);) {
    if (!PollFor(watch_.fd(), POLLIN, timeout_ms)) return Error{Reason::kTimeout, "no answer"};
    if (nonsense_ || !ReadSome()) return Error{Reason::kUnavailable, "the peer closed the connection"};
  }
  return body;
}

void Channel::FlushBlocking(int timeout_ms) {
  while (!outgoing_.empty() && watch_.valid() && PollFor(watch_.fd(), POLLOUT, timeout_ms)) Flush();
}

}  // namespace tfemu::process
