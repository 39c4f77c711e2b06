// SHA-256, for names of things that are equal when their contents are.
#pragma once

#include <string>
#include <string_view>

namespace tfemu::image {

std::string Sha256(std::string_view text);  // lower-case hexadecimal

}  // namespace tfemu::image
