#include "emulator/codec/line_tree.h"

#include "emulator/base/strings.h"

namespace tfemu::codec {
namespace {

bool EndsName(std::string_view rest) {
  return rest.empty() || rest.front() == '.' || rest.front() == '[' || rest.front() == ']';
}

// Names may hold dots themselves (annotations), so the longest field that begins the path wins. Replica types
// are written by the API server in its own case: letters are compared without it.
const std::pair<std::string, LineTree>* MatchField(const LineTree& tree, std::string_view path) {
  const std::pair<std::string, LineTree>* best = nullptr;
  for (const auto& field : tree.fields) {
    const size_t size = field.first.size();
    if (path.size() < size || !EndsName(path.substr(size))) continue;
    if (ToLower(path.substr(0, size)) != ToLower(field.first)) continue;
    const bool exact = path.substr(0, size) == field.first;
    if (best == nullptr || size > best->first.size() || (size == best->first.size() && exact)) best = &field;
  }
  return best;
}

}  // namespace

int LineTree::LineOf(std::string_view path) const {
  while (!path.empty() && (path.front() == '.' || path.front() == '[' || path.front() == ']'))
    path.remove_prefix(1);
  if (path.empty()) return line;
  if (!items.empty()) {
    const size_t end = std::min(path.find_first_of("].["), path.size());
    const auto index = ParseInt(path.substr(0, end));
    if (!index || *index < 0 || static_cast<size_t>(*index) >= items.size()) return line;
    return items[static_cast<size_t>(*index)].LineOf(path.substr(end));
  }
  const auto* field = MatchField(*this, path);
  return field == nullptr ? line : field->second.LineOf(path.substr(field->first.size()));
}

}  // namespace tfemu::codec
