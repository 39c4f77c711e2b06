// --query-gpu and --query-compute-apps: tables of fields, printed as CSV.
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "runtime/gpu/smi/smi.h"

enum { kMostFields = 128, kValueSize = 192 };

typedef struct Row {
  const GpuList* list;
  const GpuDevice* device;
  const GpuProcess* process;
} Row;

typedef struct Field {
  const char* name;
  const char* alias;
  const char* unit;  // in the header, and after the value unless nounits
  void (*print)(const Row* row, char* out);
} Field;

#define TEXT(function, ...) \
  static void function(const Row* row, char* out) { (void)row, snprintf(out, kValueSize, __VA_ARGS__); }

static void Timestamp(const Row* row, char* out) {
  (void)row;
  struct timeval now;
  gettimeofday(&now, NULL);
  struct tm local;
  localtime_r(&now.tv_sec, &local);
  size_t length = strftime(out, kValueSize, "%Y/%m/%d %H:%M:%S", &local);
  snprintf(out + length, kValueSize - length, ".%03d", (int)(now.tv_usec / 1000));
}
static void BusIdText(const Row* row, char* out) { GpuBusId(row->device, out, kValueSize); }
TEXT(Missing, "[N/A]")
TEXT(Zero, "0")
TEXT(Driver, "%s", row->device->driver)
TEXT(DeviceCount, "%u", GpuPhysicalCount(row->list))
TEXT(Name, "%s", row->device->name)
TEXT(Uuid, "%s", row->device->uuid)
TEXT(Index, "%u", GpuPhysicalRank(row->list, row->device))
TEXT(Domain, "0x%04X", row->device->pci_domain)
TEXT(Bus, "0x%02X", row->device->pci_bus)
TEXT(Slot, "0x%02X", row->device->pci_device)
TEXT(Disabled, "Disabled")
TEXT(Enabled, "Enabled")
TEXT(State, "%s", SmiState(row->device))
TEXT(Total, "%llu", SmiMiB(row->device->memory_bytes))
TEXT(Used, "%llu", SmiMiB(row->device->used_bytes))
TEXT(Free, "%llu", SmiMiB(row->device->memory_bytes - row->device->used_bytes))
TEXT(Default, "Default")
TEXT(Capability, "%u.%u", row->device->sm_major, row->device->sm_minor)
TEXT(Utilization, "%u", row->device->utilization)
TEXT(MemoryUtilization, "%u", row->device->memory_utilization)
TEXT(Temperature, "%u", row->device->temperature_c)
TEXT(Power, "%u.00", row->device->power_w)
TEXT(PowerLimit, "%u.00", row->device->power_limit_w)
TEXT(Mig, "%s", row->device->mig_enabled ? "Enabled" : "[N/A]")
TEXT(EccErrors, "%d", row->device->health == kGpuEcc)
TEXT(Idle, "%s", row->device->utilization ? "Not Active" : "Active")
TEXT(Reasons, "0x%016x", row->device->utilization ? 0 : 1)
TEXT(Pid, "%u", row->process->pid)
TEXT(ProcessName, "%s", row->process->name)
TEXT(ProcessMemory, "%llu", SmiMiB(row->process->used_bytes))

static const Field gpu_fields[] = {
    {"timestamp", NULL, NULL, Timestamp},
    {"driver_version", NULL, NULL, Driver},
    {"count", NULL, NULL, DeviceCount},
    {"name", "gpu_name", NULL, Name},
    {"serial", "gpu_serial", NULL, Missing},
    {"uuid", "gpu_uuid", NULL, Uuid},
    {"index", NULL, NULL, Index},
    {"pci.bus_id", "gpu_bus_id", NULL, BusIdText},
    {"pci.domain", NULL, NULL, Domain},
    {"pci.bus", NULL, NULL, Bus},
    {"pci.device", NULL, NULL, Slot},
    {"pci.device_id", NULL, NULL, Missing},
    {"pci.sub_device_id", NULL, NULL, Missing},
    {"pcie.link.gen.current", "pcie.link.gen.gpucurrent", NULL, Missing},
    {"pcie.link.gen.max", "pcie.link.gen.gpumax", NULL, Missing},
    {"pcie.link.width.current", NULL, NULL, Missing},
    {"pcie.link.width.max", NULL, NULL, Missing},
    {"display_mode", NULL, NULL, Disabled},
    {"display_active", NULL, NULL, Disabled},
    {"persistence_mode", NULL, NULL, Enabled},
    {"accounting.mode", NULL, NULL, Disabled},
    {"driver_model.current", NULL, NULL, Missing},
    {"driver_model.pending", NULL, NULL, Missing},
    {"vbios_version", NULL, NULL, Missing},
    {"inforom.img", "inforom.image", NULL, Missing},
    {"fan.speed", NULL, "%", Missing},
    {"pstate", NULL, NULL, State},
    {"clocks_throttle_reasons.active", "clocks_event_reasons.active", NULL, Reasons},
    {"clocks_throttle_reasons.gpu_idle", "clocks_event_reasons.gpu_idle", NULL, Idle},
    {"memory.total", NULL, "MiB", Total},
    {"memory.reserved", NULL, "MiB", Zero},
    {"memory.used", NULL, "MiB", Used},
    {"memory.free", NULL, "MiB", Free},
    {"compute_mode", NULL, NULL, Default},
    {"compute_cap", NULL, NULL, Capability},
    {"utilization.gpu", NULL, "%", Utilization},
    {"utilization.memory", NULL, "%", MemoryUtilization},
    {"utilization.encoder", NULL, "%", Zero},
    {"utilization.decoder", NULL, "%", Zero},
    {"utilization.jpeg", NULL, "%", Zero},
    {"utilization.ofa", NULL, "%", Zero},
    {"encoder.stats.sessionCount", NULL, NULL, Zero},
    {"temperature.gpu", NULL, NULL, Temperature},
    {"temperature.memory", NULL, NULL, Missing},
    {"power.management", NULL, NULL, Enabled},
    {"power.draw", "power.draw.instant", "W", Power},
    {"power.draw.average", NULL, "W", Power},
    {"power.limit", NULL, "W", PowerLimit},
    {"enforced.power.limit", NULL, "W", PowerLimit},
    {"power.default_limit", NULL, "W", PowerLimit},
    {"power.min_limit", NULL, "W", Missing},
    {"power.max_limit", NULL, "W", PowerLimit},
    {"clocks.current.graphics", "clocks.gr", "MHz", Missing},
    {"clocks.current.sm", "clocks.sm", "MHz", Missing},
    {"clocks.current.memory", "clocks.mem", "MHz", Missing},
    {"clocks.current.video", "clocks.video", "MHz", Missing},
    {"clocks.applications.graphics", "clocks.applications.gr", "MHz", Missing},
    {"clocks.applications.memory", "clocks.applications.mem", "MHz", Missing},
    {"clocks.max.graphics", "clocks.max.gr", "MHz", Missing},
    {"clocks.max.sm", NULL, "MHz", Missing},
    {"clocks.max.memory", "clocks.max.mem", "MHz", Missing},
    {"mig.mode.current", NULL, NULL, Mig},
    {"mig.mode.pending", NULL, NULL, Mig},
    {"ecc.mode.current", NULL, NULL, Enabled},
    {"ecc.mode.pending", NULL, NULL, Enabled},
    {"ecc.errors.corrected.volatile.total", NULL, NULL, Zero},
    {"ecc.errors.uncorrected.volatile.total", NULL, NULL, EccErrors},
    {"ecc.errors.corrected.aggregate.total", NULL, NULL, Zero},
    {"ecc.errors.uncorrected.aggregate.total", NULL, NULL, EccErrors},
    {"retired_pages.pending", NULL, NULL, Missing},
    {"gom.current", NULL, NULL, Missing},
    {"gom.pending", NULL, NULL, Missing},
};

static const Field app_fields[] = {
    {"timestamp", NULL, NULL, Timestamp},
    {"gpu_name", NULL, NULL, Name},
    {"gpu_bus_id", NULL, NULL, BusIdText},
    {"gpu_serial", NULL, NULL, Missing},
    {"gpu_uuid", NULL, NULL, Uuid},
    {"pid", NULL, NULL, Pid},
    {"process_name", "name", NULL, ProcessName},
    {"used_gpu_memory", "used_memory", "MiB", ProcessMemory},
};

typedef struct Columns {
  const Field* fields[kMostFields];
  char names[kMostFields][64];  // as they were asked for: the header repeats an alias
  unsigned count;
} Columns;

static const Field* Find(const Field* fields, size_t count, const char* name) {
  for (size_t i = 0; i < count; i++)
    if (!strcmp(fields[i].name, name) || (fields[i].alias && !strcmp(fields[i].alias, name)))
      return &fields[i];
  return NULL;
}

static int ReadColumns(const SmiOptions* options, Columns* columns) {
  int apps = options->command == kQueryApps;
  const Field* fields = apps ? app_fields : gpu_fields;
  size_t count = apps ? sizeof app_fields / sizeof *app_fields : sizeof gpu_fields / sizeof *gpu_fields;
  char text[4096];
  snprintf(text, sizeof text, "%s", options->fields);
  columns->count = 0;
  char* rest = text;
  for (char* name = strsep(&rest, ","); name; name = strsep(&rest, ",")) {
    while (*name == ' ') name++;
    name[strcspn(name, " ")] = 0;
    const Field* field = Find(fields, count, name);
    if (!field || columns->count == kMostFields) {
      printf("Field \"%s\" is not a valid field to query.\n\n", name);
      return kSmiInvalidArgument;
    }
    snprintf(columns->names[columns->count], sizeof *columns->names, "%s", name);
    columns->fields[columns->count++] = field;
  }
  return kSmiOk;
}

static void PrintHeader(const Columns* columns) {
  for (unsigned i = 0; i < columns->count; i++) {
    const Field* field = columns->fields[i];
    printf("%s%s", i ? ", " : "", columns->names[i]);
    if (field->unit) printf(" [%s]", field->unit);
  }
  putchar('\n');
}

static void PrintRow(const SmiOptions* options, const Columns* columns, const Row* row) {
  for (unsigned i = 0; i < columns->count; i++) {
    const Field* field = columns->fields[i];
    char value[kValueSize];
    field->print(row, value);
    printf("%s%s", i ? ", " : "", value);
    if (field->unit && !options->no_units && value[0] != '[') printf(" %s", field->unit);
  }
  putchar('\n');
}

int SmiPrintQuery(const SmiOptions* options, const SmiView* view) {
  static Columns columns;
  int result = ReadColumns(options, &columns);
  if (result) return result;
  if (!options->no_header && !view->round) PrintHeader(&columns);
  for (unsigned i = 0; i < view->count; i++) {
    Row row = {view->list, view->devices[i], NULL};
    if (options->command == kQueryGpu) PrintRow(options, &columns, &row);
    for (unsigned p = 0; options->command == kQueryApps && p < view->list->process_count; p++) {
      row.process = &view->list->processes[p];
      if (row.process->index == row.device->index && row.process->type == 'C')
        PrintRow(options, &columns, &row);
    }
  }
  return kSmiOk;
}
