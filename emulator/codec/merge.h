// The merge behind `apply`.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace tfemu::codec {

// `live` with what `desired` says, and without what `last_applied` said and `desired` no longer does. Mappings are
// merged member by member, lists and scalars replaced whole; what only `live` has stays. Any of the three may be null.
nlohmann::json ThreeWayMerge(const nlohmann::json& last_applied, const nlohmann::json& desired,
                             const nlohmann::json& live);

}  // namespace tfemu::codec
