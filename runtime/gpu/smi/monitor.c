// dmon, pmon and topo.
#include <stdio.h>
#include <string.h>

#include "runtime/gpu/smi/smi.h"

typedef struct Column {
  char group;
  const char *name, *unit;
  unsigned (*value)(const GpuDevice* device);  // NULL: not known, "-"
} Column;

static unsigned Power(const GpuDevice* device) { return device->power_w; }
static unsigned Temperature(const GpuDevice* device) { return device->temperature_c; }
static unsigned Utilization(const GpuDevice* device) { return device->utilization; }
static unsigned MemoryUtilization(const GpuDevice* device) { return device->memory_utilization; }
static unsigned Zero(const GpuDevice* device) { return (void)device, 0; }
static unsigned Used(const GpuDevice* device) { return (unsigned)SmiMiB(device->used_bytes); }
static unsigned Errors(const GpuDevice* device) { return device->health == kGpuEcc; }

static const Column columns[] = {
    {'p', "pwr", "W", Power},
    {'p', "gtemp", "C", Temperature},
    {'p', "mtemp", "C", NULL},
    {'u', "sm", "%", Utilization},
    {'u', "mem", "%", MemoryUtilization},
    {'u', "enc", "%", Zero},
    {'u', "dec", "%", Zero},
    {'u', "jpg", "%", Zero},
    {'u', "ofa", "%", Zero},
    {'c', "mclk", "MHz", NULL},
    {'c', "pclk", "MHz", NULL},
    {'v', "pviol", "%", NULL},
    {'v', "tviol", "bool", NULL},
    {'m', "fb", "MB", Used},
    {'m', "bar1", "MB", NULL},
    {'e', "sbecc", "errs", Zero},
    {'e', "dbecc", "errs", Errors},
    {'e', "pci", "errs", NULL},
    {'t', "rxpci", "MB/s", NULL},
    {'t', "txpci", "MB/s", NULL},
};

enum { kColumns = sizeof columns / sizeof *columns, kHeadEvery = 30 };

// The groups come in the order of -s.
static void EachColumn(const char* select, void (*print)(const Column*, const GpuDevice*),
                       const GpuDevice* device) {
  for (; *select; select++)
    for (unsigned i = 0; i < kColumns; i++)
      if (columns[i].group == *select) print(&columns[i], device);
  putchar('\n');
}

static void PrintName(const Column* column, const GpuDevice* device) {
  (void)device, printf(" %6s", column->name);
}
static void PrintUnit(const Column* column, const GpuDevice* device) {
  (void)device, printf(" %6s", column->unit);
}

static void PrintValue(const Column* column, const GpuDevice* device) {
  if (column->value) printf(" %6u", column->value(device));
  else printf(" %6s", "-");
}

int SmiPrintDmon(const SmiOptions* options, const SmiView* view) {
  if (view->round % kHeadEvery == 0) {
    printf("# gpu");
    EachColumn(options->select, PrintName, NULL);
    printf("# Idx");
    EachColumn(options->select, PrintUnit, NULL);
  }
  for (unsigned i = 0; i < view->count; i++) {
    printf("%5u", GpuPhysicalRank(view->list, view->devices[i]));
    EachColumn(options->select, PrintValue, view->devices[i]);
  }
  return kSmiOk;
}

int SmiPrintPmon(const SmiView* view) {
  if (view->round % kHeadEvery == 0)
    puts(
        "# gpu         pid   type     sm    mem    enc    dec    jpg    ofa    command \n"
        "# Idx           #    C/G      %      %      %      %      %      %    name ");
  for (unsigned i = 0; i < view->count; i++) {
    const GpuDevice* device = view->devices[i];
    unsigned rank = GpuPhysicalRank(view->list, device), printed = 0;
    for (unsigned p = 0; p < view->list->process_count; p++) {
      const GpuProcess* process = &view->list->processes[p];
      if (process->index != device->index) continue;
      const char* slash = strrchr(process->name, '/');
      printf("%5u %11u %6c %6u %6s %6s %6s %6s %6s    %-15.15s\n", rank, process->pid, process->type,
             GpuProcessUtilization(view->list, device, process), "-", "-", "-", "-", "-",
             slash ? slash + 1 : process->name);
      printed++;
    }
    if (!printed)
      printf("%5u %11s %6s %6s %6s %6s %6s %6s %6s    %-15s\n", rank, "-", "-", "-", "-", "-", "-", "-", "-",
             "-");
  }
  return kSmiOk;
}

static const char* Link(const GpuDevice* a, const GpuDevice* b, char* text, size_t size) {
  if (a == b) return " X ";
  if (a->links[b->index]) return snprintf(text, size, "NV%u", a->links[b->index]), text;
  if (a->numa != b->numa) return "SYS";
  return a->pci_domain == b->pci_domain && a->pci_bus == b->pci_bus ? "PHB" : "NODE";
}

int SmiPrintTopology(const SmiView* view) {
  for (unsigned i = 0; i < view->count; i++) printf("\tGPU%u", GpuPhysicalRank(view->list, view->devices[i]));
  puts("\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID");
  for (unsigned i = 0; i < view->count; i++) {
    const GpuDevice* device = view->devices[i];
    printf("GPU%u", GpuPhysicalRank(view->list, device));
    char text[16];
    for (unsigned k = 0; k < view->count; k++)
      printf("\t%s", Link(device, view->devices[k], text, sizeof text));
    if (device->numa >= 0) printf("\tN/A\t%d\t\tN/A\n", device->numa);
    else puts("\tN/A\tN/A\t\tN/A");
  }
  puts(
      "\nLegend (emulated by tfemu):\n\n"
      "  X    = Self\n"
      "  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes\n"
      "  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a "
      "NUMA node\n"
      "  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)\n"
      "  NV#  = Connection traversing a bonded set of # NVLinks");
  return kSmiOk;
}
