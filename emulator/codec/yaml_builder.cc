#include "emulator/codec/yaml_builder.h"

#include <utility>

#include "emulator/codec/blanks.h"
#include "emulator/codec/yaml_scalar.h"

namespace tfemu::codec {
namespace {

using nlohmann::json;

// Aliases may blow up a small file; past this a manifest is no manifest.
constexpr size_t kMaxWeight = 1'000'000;

int LineOf(const YAML::Mark& mark) { return mark.line + 1; }

void RefuseOddBlanks(const std::string& text, int line) {
  const auto blank = MisplacedOddBlank(text);
  if (!blank) return;
  std::string escaped;
  for (const unsigned char byte : blank->bytes) {
    constexpr char kHex[] = "0123456789abcdef";
    escaped += std::string("\\x") + kHex[byte >> 4] + kHex[byte & 15];
  }
  throw YamlProblem{
      line, "a " + blank->name + " stands where YAML needs an ordinary blank",
      "text copied from a web page often brings it; replace it with: sed -i 's/" + escaped + "/ /g' FILE"};
}

json Typed(const std::string& tag, const std::string& value, int line) {
  if (tag == "?") {
    auto resolved = ResolvePlainScalar(value);
    if (!resolved.ok()) throw YamlProblem{line, resolved.error().message};
    return std::move(resolved).value();
  }
  if (tag == "!" || tag == "tag:yaml.org,2002:str" || tag == "tag:yaml.org,2002:binary") return value;
  if (tag.starts_with("tag:yaml.org,2002:")) {
    auto resolved = ResolvePlainScalar(value);
    if (!resolved.ok()) throw YamlProblem{line, resolved.error().message};
    if (tag.ends_with(":float") && resolved.value().is_number()) return resolved.value().get<double>();
    return std::move(resolved).value();
  }
  throw YamlProblem{line, "the tag " + tag + " is not known here"};
}

std::string KeyText(const json& key, int line) {
  if (key.is_string()) return key.get<std::string>();
  if (key.is_number() || key.is_boolean()) return key.dump();
  throw YamlProblem{line, key.is_null() ? "a key is empty" : "a key must be a text, not a list or a mapping"};
}

}  // namespace

void YamlBuilder::Spend(size_t weight, int line) {
  spent_ += weight;
  if (spent_ > kMaxWeight)
    throw YamlProblem{
        line, "the file holds more than " + std::to_string(kMaxWeight) + " values, counting its aliases"};
}

void YamlBuilder::OnDocumentStart(const YAML::Mark&) {
  root_.reset();
  anchors_.clear();
}

void YamlBuilder::OnDocumentEnd() {
  if (root_ && !root_->value.is_null())
    documents_.push_back({std::move(root_->value), std::move(root_->lines)});
  root_.reset();
}

void YamlBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  Add(Node{json(nullptr), LineTree{LineOf(mark), {}, {}}}, anchor);
}

void YamlBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const auto found = anchors_.find(anchor);
  if (found == anchors_.end()) throw YamlProblem{LineOf(mark), "an alias stands inside the value it names"};
  Spend(found->second.weight, LineOf(mark));
  Node copy = found->second;
  copy.lines.line = LineOf(mark);
  Add(std::move(copy), 0);
}

void YamlBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                           const std::string& value) {
  const int line = LineOf(mark);
  if (tag == "?") RefuseOddBlanks(value, line);
  Node node{Typed(tag, value, line), LineTree{line, {}, {}}, 1 + value.size() / 64};
  node.merge_key = tag == "?" && value == "<<";
  Add(std::move(node), anchor);
}

void YamlBuilder::OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                                  YAML::EmitterStyle::value) {
  Open(json::array(), mark, anchor);
}

void YamlBuilder::OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                             YAML::EmitterStyle::value) {
  Open(json::object(), mark, anchor);
}

void YamlBuilder::OnSequenceEnd() { Close(); }

void YamlBuilder::OnMapEnd() {
  ApplyMerged(stack_.back());
  Close();
}

void YamlBuilder::Open(json empty, const YAML::Mark& mark, YAML::anchor_t anchor) {
  Frame frame;
  frame.node.value = std::move(empty);
  frame.node.lines.line = LineOf(mark);
  frame.anchor = anchor;
  stack_.push_back(std::move(frame));
}

void YamlBuilder::Close() {
  Frame frame = std::move(stack_.back());
  stack_.pop_back();
  Add(std::move(frame.node), frame.anchor);
}

void YamlBuilder::Add(Node node, YAML::anchor_t anchor) {
  Spend(1, node.lines.line);
  if (anchor != 0) anchors_[anchor] = node;
  if (stack_.empty()) {
    root_ = std::move(node);
    return;
  }
  Frame& parent = stack_.back();
  parent.node.weight += node.weight;
  if (parent.node.value.is_array()) {
    parent.node.value.push_back(std::move(node.value));
    parent.node.lines.items.push_back(std::move(node.lines));
  } else if (!parent.key) {
    AddKey(parent, node);
  } else {
    AddField(parent, std::move(node));
  }
}

void YamlBuilder::AddKey(Frame& map, const Node& node) {
  map.key = KeyText(node.value, node.lines.line);
  map.key_line = node.lines.line;
  map.key_merges = node.merge_key;
  if (!node.merge_key && map.node.value.contains(*map.key))
    throw YamlProblem{node.lines.line, "the key \"" + *map.key +
                                           "\" is there twice; the first stands in line " +
                                           std::to_string(map.node.lines.LineOf(*map.key))};
}

void YamlBuilder::AddField(Frame& map, Node node) {
  const std::string key = *std::exchange(map.key, std::nullopt);
  if (map.key_merges) {
    Merge(map, std::move(node));
    return;
  }
  node.lines.line = map.key_line;
  map.node.value[key] = std::move(node.value);
  map.node.lines.fields.emplace_back(key, std::move(node.lines));
}

void YamlBuilder::Merge(Frame& map, Node node) {
  if (node.value.is_object()) {
    map.merged.push_back(std::move(node));
    return;
  }
  if (!node.value.is_array()) throw YamlProblem{map.key_line, "<< needs a mapping or a list of mappings"};
  for (size_t i = 0; i < node.value.size(); ++i) {
    if (!node.value[i].is_object())
      throw YamlProblem{map.key_line, "<< needs a mapping or a list of mappings"};
    map.merged.push_back(Node{std::move(node.value[i]), std::move(node.lines.items[i])});
  }
}

// Keys of the mapping itself win over merged ones wherever they stand.
void YamlBuilder::ApplyMerged(Frame& map) {
  for (auto& source : map.merged)
    for (auto& [key, lines] : source.lines.fields) {
      if (map.node.value.contains(key)) continue;
      map.node.value[key] = std::move(source.value[key]);
      map.node.lines.fields.emplace_back(key, std::move(lines));
    }
}

}  // namespace tfemu::codec
