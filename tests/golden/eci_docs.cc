#include "tests/golden/eci_docs.h"

#include <cstdio>

#include "emulator/api/eci_annotations.h"

namespace tfemu::test {
namespace {

const char* Word(api::EciFidelity fidelity) {
  switch (fidelity) {
    case api::EciFidelity::kHonoured: return "honoured";
    case api::EciFidelity::kApproximated: return "approximated";
    case api::EciFidelity::kIgnored: return "not honoured, with a warning";
    case api::EciFidelity::kRefused: return "refused";
    case api::EciFidelity::kAdded: return "written by the system";
  }
  return "";
}

std::string Price(const api::EciType& type) {
  if (!type.eci) return "-";
  const auto price = api::EciHourlyPrice(
      {&type, static_cast<double>(type.vcpus), static_cast<double>(type.memory_gib)}, false);
  if (!price) return "not known";
  char text[32];
  std::snprintf(text, sizeof text, "%.4f", *price);
  return text;
}

std::string AnnotationTable() {
  std::string text = "| annotation | group | becomes | how | test |\n|---|---|---|---|---|\n";
  for (const api::EciAnnotation& row : api::EciAnnotations())
    text += "| `" + std::string(row.key) + "` | " + std::string(row.group) + " | " + Word(row.fidelity) +
            " | " + std::string(row.note) + " | annotations/" +
            std::string(row.key.substr(row.key.find('/') + 1)) + " |\n";
  return text;
}

std::string TypeTable() {
  std::string text =
      "| type | vCPU | GiB | GPUs | NVLink | CNY an hour | on ECI | test "
      "|\n|---|---|---|---|---|---|---|---|\n";
  for (const api::EciType& type : api::EciTypes())
    text += "| `" + std::string(type.name) + "` | " + std::to_string(type.vcpus) + " | " +
            std::to_string(type.memory_gib) + " | " +
            (type.gpus > 0 ? std::to_string(type.gpus) + " x " + std::string(type.gpu_model) : "-") + " | " +
            (type.nvlink ? "yes" : "-") + " | " + Price(type) + " | " + (type.eci ? "yes" : "refused") +
            " | types/" + std::string(type.name) + " |\n";
  return text;
}

constexpr const char* kHead = R"(# Elastic Container Instance: what is honoured

Made from the tables in `emulator/api/eci_annotations.cc` and `manifests/eci-catalogue.yaml`; a test compares them.
The last column names the case in `tests/golden/eci_test.cc`. How to switch ECI on, what its stock, quota, prices and
start times are: [eci.md](eci.md).

## Annotations

Of a pod or of a pod template; read when the pod is created. Sources: ECI documentation, "Pod annotations".

)";

constexpr const char* kTypesHead = R"(
## Instance types

A type that is not in this table is refused with the near ones. Prices by vCPU and memory are ECI's of mainland China;
those of GPU types are not published as a table, so `eci.prices` in cluster.yaml takes them. ECI also has the families
vgn7i-vws, vgn6i-vws and sgn7i-vws (slices of GPUs for graphics); their sizes are not in the catalogue.

)";

}  // namespace

std::string EciFidelityPage() { return kHead + AnnotationTable() + kTypesHead + TypeTable(); }

}  // namespace tfemu::test
