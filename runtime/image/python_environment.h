// Virtual environments for pods: made once for each set of requirements, shared by all clusters of a user.
#pragma once

#include <functional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "emulator/base/result.h"
#include "runtime/image.h"

namespace tfemu::image {

struct PythonEnvironment {
  std::string folder;        // where it stands when it is ready; its parent holds the lock and the log
  std::string requirements;  // the pip file it is made from
  std::string python;        // the host's interpreter, which pods see under the same path
};

// CACHE/python/DIGEST, over the requirements' text and the interpreter's version.
Result<PythonEnvironment> PlanEnvironment(const std::string& requirements, const std::string& cache_folder,
                                          const std::string& python);

// A folder under its final name is whole: it got the name last.
bool IsReady(const PythonEnvironment& environment);

// Makes it unless it is ready. Two processes may ask at once: one makes it, the other waits. What a killed
// run left behind is removed. Its programs work only where the folder is bound at runtime::kPythonPrefix.
boost::asio::awaitable<Result<void>> MakeEnvironment(
    PythonEnvironment environment, std::function<void(const runtime::PrepareProgress&)> progress);

}  // namespace tfemu::image
