#include "emulator/api/describe.h"
#include "emulator/api/eci_bill.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "emulator/api/view.h"
#include "emulator/base/strings.h"
#include "emulator/base/time_format.h"

namespace tfemu::api {
namespace {

constexpr size_t kPadding = 2;

using KindDescriber = void (*)(DescribeWriter&, const Object&, const DescribeContext&);

KindDescriber DescriberOf(std::string_view kind) {
  constexpr std::array<std::pair<std::string_view, KindDescriber>, 7> kDescribers = {{
      {"Pod", DescribePod},
      {"Deployment", DescribeDeployment},
      {"PersistentVolumeClaim", DescribeClaim},
      {"PersistentVolume", DescribeVolume},
      {"Node", DescribeNode},
      {"ResourceQuota", DescribeResourceQuota},
      {"Service", DescribeService},
  }};
  for (const auto& [name, describer] : kDescribers)
    if (name == kind) return describer;
  return nullptr;
}

std::string EventAge(const EventView& event, Instant now) {
  const std::string last = FormatAge(now - event.last);
  if (event.count <= 1) return last;
  return last + " (x" + std::to_string(event.count) + " over " + FormatAge(now - event.first) + ")";
}

void DescribeEvents(DescribeWriter& writer, const DescribeContext& context) {
  if (context.events.empty()) {
    writer.Field(0, "Events", "<none>");
    return;
  }
  std::vector<EventView> events;
  for (const auto& event : context.events) events.push_back(ViewEvent(event));
  std::ranges::stable_sort(events, {}, &EventView::last);
  writer.Heading(0, "Events:");
  writer.Row(1, {"Type", "Reason", "Age", "From", "Message"});
  writer.Row(1, {"----", "------", "----", "----", "-------"});
  for (const auto& event : events)
    writer.Row(1, {event.type, event.reason, EventAge(event, context.now), event.source,
                   std::string(Trim(event.message))});
}

// "tfReplicaSpecs" is shown as "Tf Replica Specs"; names that are no identifiers stay as they are.
std::string Label(const std::string& field) {
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0 || c == '-'; };
  if (!std::ranges::all_of(field, is_letter)) return field;
  std::vector<std::string> words;
  for (size_t i = 0; i < field.size(); ++i) {
    const bool upper = std::isupper(static_cast<unsigned char>(field[i])) != 0;
    const bool after_lower = i > 0 && std::islower(static_cast<unsigned char>(field[i - 1])) != 0;
    const bool before_lower =
        i > 0 && i + 1 < field.size() && std::islower(static_cast<unsigned char>(field[i + 1])) != 0;
    if (i == 0 || (upper && (after_lower || before_lower))) words.emplace_back();
    words.back() += field[i];
  }
  for (auto& word : words) {
    const std::string lower = ToLower(word);
    if (lower == "api" || lower == "url" || lower == "uid" || lower == "guid")
      for (char& c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    word[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(word[0])));
  }
  return Join(words, " ");
}

std::string ScalarText(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_null() ? "<nil>" : value.dump();
}

bool IsShownAbove(const std::string& path) {
  constexpr std::array<std::string_view, 7> kShown = {".apiVersion",
                                                      ".kind",
                                                      ".metadata.name",
                                                      ".metadata.namespace",
                                                      ".metadata.labels",
                                                      ".metadata.annotations",
                                                      ".metadata.managedFields"};
  return std::ranges::find(kShown, path) != kShown.end();
}

void DescribeContent(DescribeWriter& writer, int level, const Json& content, const std::string& path) {
  for (const auto& [field, value] : content.items()) {
    const std::string here = path + "." + field;
    if (IsShownAbove(here)) continue;
    if (!value.is_structured()) {
      writer.Row(level, {Label(field) + ":", ScalarText(value)});
      continue;
    }
    writer.Heading(level, Label(field) + ":");
    if (value.is_object()) {
      DescribeContent(writer, level + 1, value, here);
      continue;
    }
    for (const auto& item : value) {
      if (item.is_object()) DescribeContent(writer, level + 1, item, here);
      else writer.Heading(level + 1, ScalarText(item));
    }
  }
}

// Long annotations that only tools read are left out, as kubectl does.
Json ShownAnnotations(const Json& annotations) {
  Json shown = annotations.is_object() ? annotations : Json::object();
  shown.erase("kubectl.kubernetes.io/last-applied-configuration");
  return shown;
}

}  // namespace

void DescribeWriter::Field(int level, const std::string& name, const std::string& value) {
  Row(level, {name + ":", value.empty() ? "<none>" : value});
}

void DescribeWriter::Heading(int level, const std::string& text) { Row(level, {text}); }

void DescribeWriter::Row(int level, std::vector<std::string> cells) {
  cells.front() = std::string(static_cast<size_t>(level) * 2, ' ') + cells.front();
  lines_.push_back(std::move(cells));
}

std::string DescribeWriter::Format() const {
  std::string out;
  std::vector<size_t> widths;  // of the runs that the present line is in
  for (size_t i = 0; i < lines_.size(); ++i) {
    const auto& cells = lines_[i];
    for (size_t column = 0; column + 1 < cells.size(); ++column) {
      const bool run_goes_on = i > 0 && lines_[i - 1].size() > column + 1;
      if (widths.size() <= column) widths.resize(column + 1);
      if (!run_goes_on) {
        widths[column] = 0;
        for (size_t j = i; j < lines_.size() && lines_[j].size() > column + 1; ++j)
          widths[column] = std::max(widths[column], lines_[j][column].size());
      }
      out += cells[column] + std::string(widths[column] + kPadding - cells[column].size(), ' ');
    }
    out += cells.back() + "\n";
  }
  return out;
}

void DescribeMap(DescribeWriter& writer, int level, const std::string& name, const Json& map,
                 const char* between) {
  if (!map.is_object() || map.empty()) {
    writer.Field(level, name, "<none>");
    return;
  }
  std::string label = name + ":";
  for (const auto& [key, value] : map.items()) {
    writer.Row(level, {label, key + between + ScalarText(value)});
    label.clear();
  }
}

void DescribeGeneric(DescribeWriter& writer, const Object& object) {
  writer.Field(0, "API Version", ApiVersionOf(object.doc()));
  writer.Field(0, "Kind", object.key().kind);
  DescribeContent(writer, 0, object.doc(), "");
}

std::string Describe(const Object& object, const DescribeContext& context) {
  DescribeWriter writer;
  writer.Field(0, "Name", object.key().name);
  if (!object.key().ns.empty()) writer.Field(0, "Namespace", object.key().ns);
  const KindDescriber describer = DescriberOf(object.key().kind);
  // Of pods kubectl shows the node before the labels.
  if (object.key().kind != "Pod") {
    DescribeMap(writer, 0, "Labels", Field(object.doc(), "metadata.labels"), "=");
    DescribeMap(writer, 0, "Annotations", ShownAnnotations(Field(object.doc(), "metadata.annotations")),
                ": ");
  }
  std::vector<EciBill> bills;
  for (const Object& pod : context.related)
    if (const auto bill = EciBillOf(pod)) bills.push_back(*bill);
  if (!bills.empty()) writer.Field(0, "ECI Cost", SumOfBills(bills, context.now));
  if (describer != nullptr) describer(writer, object, context);
  else DescribeGeneric(writer, object);
  DescribeEvents(writer, context);
  return writer.Format();
}

}  // namespace tfemu::api
