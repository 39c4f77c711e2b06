// Where each field of a document stands in its file.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tfemu::codec {

// Shaped like the document it belongs to.
struct LineTree {
  int line = 0;  // of the key for a field, of the value for an item; counted from 1
  std::vector<std::pair<std::string, LineTree>> fields;
  std::vector<LineTree> items;

  // `path` as in FieldMessage: "spec.containers[0].image", "spec.tfReplicaSpecs[Worker]". A field that is not
  // in the file gives the line of the nearest parent that is.
  int LineOf(std::string_view path) const;
};

}  // namespace tfemu::codec
