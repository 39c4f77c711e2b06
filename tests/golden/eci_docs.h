// docs/fidelity-eci.md, made from the tables that the program itself uses.
#pragma once

#include <string>

namespace tfemu::test {

std::string EciFidelityPage();

}  // namespace tfemu::test
