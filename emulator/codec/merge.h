// The merge behind `apply`.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace tfemu::codec {

// `live` with what `desired` says, and without what `last_applied` said and `desired` no longer does; what
// only `live` has stays. Mappings are merged member by member, and so are lists whose items all have names of
// their own (containers, volumes, env), as the API server's merge keys do; other lists and scalars are
// replaced whole. Any of the three may be null.
nlohmann::json ThreeWayMerge(const nlohmann::json& last_applied, const nlohmann::json& desired,
                             const nlohmann::json& live);

}  // namespace tfemu::codec
