// Progress and reasons out of pip's lines.
#include "runtime/image/pip_output.h"

#include <doctest/doctest.h>

namespace tfemu::image {
namespace {

TEST_CASE("progress follows pip's lines") {
  PipOutput pip("r.txt", 2);
  CHECK(pip.packages() == 2);
  pip.AddLine("Collecting numpy==1.26.4");
  CHECK(pip.doing() == "fetching numpy");
  CHECK(pip.collected() == 1);
  pip.AddLine("  Downloading numpy-1.26.4.whl (18.3 MB)");
  pip.AddLine("Requirement already satisfied: setuptools==66.1.1 in ./lib (66.1.1)");
  pip.AddLine("Collecting six>=1.5");
  CHECK(pip.doing() == "fetching six");
  CHECK(pip.packages() == 3);
  CHECK_FALSE(pip.installing());
  pip.AddLine("Installing collected packages: numpy, six");
  CHECK(pip.installing());
}

TEST_CASE("a failure is told in pip's words, with a remedy") {
  struct Row {
    const char *line, *hint;
  };
  for (const Row& row : {
           Row{"ERROR: Could not find a version that satisfies the requirement nope==9 (from versions: none)",
               "index"},
           Row{"ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
               "TFEMU_HOME"},
           Row{"ERROR: Invalid requirement: 'a b' (from line 1 of r.txt)", "correct that line"},
       }) {
    PipOutput pip("r.txt", 1);
    pip.AddLine("Collecting nope==9");
    pip.AddLine(row.line);
    pip.AddLine("ERROR: something that follows from it");
    const Error error = pip.Failure(1);
    CHECK(error.message == std::string("cannot install r.txt: ") + (row.line + 7));
    CHECK(error.hint.find(row.hint) != std::string::npos);
  }
}

TEST_CASE("a killed pip says so") {
  PipOutput pip("r.txt", 1);
  CHECK(pip.Failure(137).message == "cannot install r.txt: pip ended with 137 (killed by signal 9)");
}

TEST_CASE("requirements are counted without comments and options") {
  CHECK(CountRequirements("# two\na==1\n\n--no-index\n  b  \n") == 2);
  CHECK(CountRequirements("") == 0);
}

}  // namespace
}  // namespace tfemu::image
