// Builds JSON with lines from yaml-cpp's events.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>
#include <nlohmann/json.hpp>

#include "emulator/codec/yaml.h"

namespace tfemu::codec {

// Thrown through yaml-cpp and caught in ParseYaml.
struct YamlProblem {
  int line;  // counted from 1
  std::string message, hint = {};
};

class YamlBuilder final : public YAML::EventHandler {
 public:
  // The documents so far, the empty ones left out.
  std::vector<Document> Take() { return std::move(documents_); }

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override;
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override;
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override;

 private:
  // A value with its lines; `weight` is what a copy of it costs.
  struct Node {
    nlohmann::json value;
    LineTree lines;
    size_t weight = 1;
    bool merge_key = false;  // a plain <<
  };
  struct Frame {
    Node node;
    YAML::anchor_t anchor = 0;
    std::optional<std::string> key;
    int key_line = 0;
    bool key_merges = false;
    std::vector<Node> merged;  // what << brought, the first wins
  };

  void Open(nlohmann::json empty, const YAML::Mark& mark, YAML::anchor_t anchor);
  void Close();
  void Add(Node node, YAML::anchor_t anchor);
  void AddKey(Frame& map, const Node& node);
  void AddField(Frame& map, Node node);
  void Merge(Frame& map, Node node);
  static void ApplyMerged(Frame& map);
  void Spend(size_t weight, int line);

  std::vector<Document> documents_;
  std::vector<Frame> stack_;
  std::map<YAML::anchor_t, Node> anchors_;
  std::optional<Node> root_;
  size_t spent_ = 0;
};

}  // namespace tfemu::codec
