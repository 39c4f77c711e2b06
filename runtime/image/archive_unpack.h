// Unpacks an image's archive into the store of layers, once, in a process of its own.
#pragma once

#include <functional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "emulator/base/result.h"
#include "runtime/image.h"
#include "runtime/image/archive_record.h"

namespace tfemu::image {

struct ArchiveUnpack {
  std::string source, select;  // as in runtime::Image
  runtime::UnpackLimits limits;
  std::string cache_folder;
  std::string program;  // tfemu-unpack
};

// Two processes may ask at once: one unpacks, the other waits. The record is there afterwards.
boost::asio::awaitable<Result<void>> UnpackArchive(
    ArchiveUnpack unpack, std::function<void(const runtime::PrepareProgress&)> progress);

// tfemu-unpack beside the program that runs, in ../libexec, or where a build tree has it.
Result<std::string> FindUnpackProgram();

}  // namespace tfemu::image
