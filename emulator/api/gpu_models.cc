#include "emulator/api/gpu_models.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "emulator/base/strings.h"

namespace tfemu::api {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

constexpr std::array kModels = {
    GpuModel{"P4", "Tesla P4", 8, "6.1", 75, 0},
    GpuModel{"P100", "Tesla P100-PCIE-16GB", 16, "6.0", 250, 0},
    GpuModel{"V100-16GB", "Tesla V100-SXM2-16GB", 16, "7.0", 300, 1},
    GpuModel{"V100", "Tesla V100-SXM2-32GB", 32, "7.0", 300, 1},
    GpuModel{"T4", "Tesla T4", 16, "7.5", 70, 0},
    GpuModel{"A10", "NVIDIA A10", 24, "8.6", 150, 0},
    GpuModel{"A30", "NVIDIA A30", 24, "8.0", 165, 0},
    GpuModel{"A100-40GB", "NVIDIA A100-SXM4-40GB", 40, "8.0", 400, 12},
    GpuModel{"A100", "NVIDIA A100-SXM4-80GB", 80, "8.0", 400, 12},
    GpuModel{"L4", "NVIDIA L4", 24, "8.9", 72, 0},
    GpuModel{"L20", "NVIDIA L20", 48, "8.9", 275, 0},
    GpuModel{"L40S", "NVIDIA L40S", 48, "8.9", 350, 0},
    GpuModel{"H100", "NVIDIA H100 80GB HBM3", 80, "9.0", 700, 18},
    GpuModel{"H200", "NVIDIA H200", 141, "9.0", 700, 18},
    GpuModel{"H20", "NVIDIA H20", 96, "9.0", 500, 18},
    GpuModel{"RTX4090", "NVIDIA GeForce RTX 4090", 24, "8.9", 450, 0},
};

// NVIDIA's MIG user guide, "Supported MIG profiles".
constexpr std::array kMigProfiles = {
    MigProfile{"A30", "1g.6gb", 6, 1},         MigProfile{"A30", "2g.12gb", 12, 2},
    MigProfile{"A30", "4g.24gb", 24, 4},       MigProfile{"A100-40GB", "1g.5gb", 5, 1},
    MigProfile{"A100-40GB", "2g.10gb", 10, 2}, MigProfile{"A100-40GB", "3g.20gb", 20, 3},
    MigProfile{"A100-40GB", "7g.40gb", 40, 7}, MigProfile{"A100", "1g.10gb", 10, 1},
    MigProfile{"A100", "2g.20gb", 20, 2},      MigProfile{"A100", "3g.40gb", 40, 3},
    MigProfile{"A100", "4g.40gb", 40, 4},      MigProfile{"A100", "7g.80gb", 80, 7},
    MigProfile{"H100", "1g.10gb", 10, 1},      MigProfile{"H100", "2g.20gb", 20, 2},
    MigProfile{"H100", "3g.40gb", 40, 3},      MigProfile{"H100", "4g.40gb", 40, 4},
    MigProfile{"H100", "7g.80gb", 80, 7},      MigProfile{"H200", "1g.18gb", 18, 1},
    MigProfile{"H200", "2g.35gb", 35, 2},      MigProfile{"H200", "3g.71gb", 71, 3},
    MigProfile{"H200", "7g.141gb", 141, 7},
};

std::string Plain(std::string_view name) {
  std::string plain;
  for (const char c : ToLower(name))
    if (std::isalnum(static_cast<unsigned char>(c))) plain += c;
  for (const char* brand : {"nvidia", "tesla", "geforce"})
    if (plain.starts_with(brand)) plain = plain.substr(std::string_view(brand).size());
  return plain;
}

template <typename Rows, typename Row>
std::string NearNames(const Rows& rows, const std::string& wanted, Row name) {
  std::vector<std::pair<size_t, std::string>> near;
  for (const auto& row : rows) near.emplace_back(EditDistance(Plain(wanted), Plain(name(row))), name(row));
  std::ranges::stable_sort(near, {}, &std::pair<size_t, std::string>::first);
  std::vector<std::string> names;
  for (const auto& [distance, text] : near)
    if (names.size() < 3 || distance <= 1) names.push_back(text);
  return Join(names, ", ");
}

std::string Uuid(const char* prefix, int number, int instance) {
  char text[64];
  std::snprintf(text, sizeof text, "%s0000-0000-%04x-%012x", prefix, static_cast<unsigned>(instance),
                static_cast<unsigned>(number));
  return text;
}

std::string Pci(int index) {
  char text[32];
  std::snprintf(text, sizeof text, "00000000:%02X:00.0", static_cast<unsigned>(0x10 + index));
  return text;
}

const MigProfile* FindProfile(const GpuModel& model, const std::string& name) {
  const auto it = std::ranges::find_if(
      kMigProfiles, [&](const MigProfile& p) { return p.model == model.name && p.name == name; });
  return it == kMigProfiles.end() ? nullptr : &*it;
}

Result<std::vector<Gpu>> MakeInstances(const Gpu& gpu, const GpuModel& model, const VirtualGpus& wanted,
                                       int number) {
  std::vector<Gpu> instances;
  int slices = 0;
  for (const std::string& name : wanted.mig) {
    const MigProfile* profile = FindProfile(model, name);
    if (profile == nullptr) {
      std::vector<std::string> has;
      for (const MigProfile& p : kMigProfiles)
        if (p.model == model.name) has.emplace_back(p.name);
      return Error{Reason::kInvalid, "MIG profile " + name + " is not one of " + std::string(model.name),
                   has.empty() ? "this model has no MIG" : "it has " + Join(has, ", ")};
    }
    slices += profile->slices;
    Gpu instance = gpu;
    const int i = static_cast<int>(instances.size());
    instance.uuid = Uuid(kVirtualMigPrefix, number, i + 1);
    instance.memory_bytes = profile->memory_gib * 1024 * kMiB;
    instance.mig_profile = name;
    instance.parent = gpu.uuid;
    instance.gpu_instance = i + 1;
    instance.compute_instance = 0;
    instance.links.clear();
    instances.push_back(std::move(instance));
  }
  const int most = model.name == "A30" ? 4 : 7;
  if (slices > most)
    return Error{Reason::kInvalid, "MIG profiles " + Join(wanted.mig, ", ") + " need " +
                                       std::to_string(slices) + " slices, a GPU has " + std::to_string(most)};
  return instances;
}

}  // namespace

std::span<const GpuModel> GpuModels() { return kModels; }
std::span<const MigProfile> MigProfiles() { return kMigProfiles; }

Result<const GpuModel*> FindGpuModel(const std::string& name) {
  const std::string plain = Plain(name);
  for (const GpuModel& model : kModels)
    if (plain == Plain(model.name) || plain == Plain(model.product)) return &model;
  return Error{Reason::kNotFound, "GPU model " + name + " is not known",
               "near it: " + NearNames(kModels, name, [](const GpuModel& m) { return std::string(m.name); })};
}

Result<std::vector<Gpu>> MakeVirtualGpus(const VirtualGpus& wanted) {
  ASSIGN_OR_RETURN(const GpuModel* model, FindGpuModel(wanted.model));
  std::vector<Gpu> gpus;
  for (int i = 0; i < wanted.count; ++i) {
    Gpu gpu;
    gpu.index = wanted.index + i;
    gpu.uuid = Uuid(kVirtualGpuPrefix, wanted.first + i, 0);
    gpu.model = model->name;
    gpu.memory_bytes = model->memory_gib * 1024 * kMiB;
    gpu.pci = Pci(gpu.index);
    gpu.numa = wanted.count > 4 && i >= (wanted.count + 1) / 2 ? 1 : 0;
    gpu.driver = "535.161.08";
    gpu.cuda = "12.2";
    gpu.compute_capability = model->compute_capability;
    gpu.power_limit_watts = model->power_watts;
    for (int j = 0; j < wanted.count && model->links > 0; ++j)
      if (j != i) gpu.links[wanted.index + j] = model->links;
    ASSIGN_OR_RETURN(auto instances, MakeInstances(gpu, *model, wanted, wanted.first + i));
    gpus.push_back(std::move(gpu));
    for (Gpu& instance : instances) gpus.push_back(std::move(instance));
  }
  return gpus;
}

}  // namespace tfemu::api
