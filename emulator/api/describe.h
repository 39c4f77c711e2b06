// The text of `describe`: lines of cells, laid out as Go's tabwriter does it for kubectl.
#pragma once

#include <string>
#include <vector>

#include "emulator/api/printer.h"
#include "emulator/api/printer_fields.h"

namespace tfemu::api {

class DescribeWriter {
 public:
  // "Name:" and its value, `level` steps in. An empty value prints "<none>".
  void Field(int level, const std::string& name, const std::string& value);
  void Heading(int level, const std::string& text);     // a line without cells
  void Row(int level, std::vector<std::string> cells);  // further cells than two
  std::string Format()
      const;  // runs of lines with a cell in a column are as wide as its widest cell and two blanks

 private:
  std::vector<std::vector<std::string>> lines_;
};

// "a=b" one to a line, the first beside the name.
void DescribeMap(DescribeWriter& writer, int level, const std::string& name, const Json& map,
                 const char* between);
void DescribeGeneric(DescribeWriter& writer, const Object& object);
void DescribePod(DescribeWriter& writer, const Object& object, const DescribeContext& context);
void DescribePodTemplate(DescribeWriter& writer, const Json& pod_template);
void DescribeContainers(DescribeWriter& writer, const Json& pod, const char* list, const char* statuses);
void DescribeVolumes(DescribeWriter& writer, const Json& pod_spec);
void DescribeDeployment(DescribeWriter& writer, const Object& object, const DescribeContext& context);
void DescribeClaim(DescribeWriter& writer, const Object& object, const DescribeContext& context);
void DescribeVolume(DescribeWriter& writer, const Object& object, const DescribeContext& context);
void DescribeResourceQuota(DescribeWriter& writer, const Object& object, const DescribeContext& context);
void DescribeNode(DescribeWriter& writer, const Object& object, const DescribeContext& context);
void DescribeService(DescribeWriter& writer, const Object& object, const DescribeContext& context);

}  // namespace tfemu::api
