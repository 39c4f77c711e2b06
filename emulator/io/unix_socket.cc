#include "emulator/io/unix_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tfemu::io {
namespace {

Error Failed(const std::string& what, int error) {
  const bool absent = error == ENOENT || error == ECONNREFUSED || error == ENOTDIR;
  const Reason other = error == EACCES ? Reason::kForbidden : Reason::kUnavailable;
  return Error{absent ? Reason::kNotFound : other, what + ": " + std::strerror(error)};
}

// A name of any length fits in sun_path when its folder is named by a descriptor.
struct Address {
  UniqueFd folder;
  sockaddr_un name{};
};

Result<Address> AddressOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  Address address;
  address.name.sun_family = AF_UNIX;
  address.folder.Reset(::open(path.substr(0, slash + 1).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!address.folder.valid()) return Failed("open the folder of " + path, errno);
  const std::string text =
      "/proc/self/fd/" + std::to_string(address.folder.get()) + "/" + path.substr(slash + 1);
  if (text.size() >= sizeof address.name.sun_path) return Failed("use the socket " + path, ENAMETOOLONG);
  std::memcpy(address.name.sun_path, text.c_str(), text.size() + 1);
  return address;
}

}  // namespace

Result<UniqueFd> ConnectUnix(const std::string& path) {
  ASSIGN_OR_RETURN(const Address address, AddressOf(path));
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address.name), sizeof address.name))
    return Failed("connect to " + path, errno);
  return socket;
}

Result<UniqueFd> BindUnix(const std::string& path) {
  ASSIGN_OR_RETURN(const Address address, AddressOf(path));
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ::unlink(path.c_str());
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address.name), sizeof address.name) ||
      ::chmod(path.c_str(), 0600))
    return Failed("make the socket " + path, errno);
  return socket;
}

int PeerPid(const UniqueFd& socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) ? 0 : peer.pid;
}

}  // namespace tfemu::io
