// -q, with -d, and -q -x.
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "runtime/gpu/smi/smi.h"

typedef struct Part {
  const char* name;  // of -d
  void (*print)(const SmiView* view, const GpuDevice* device);
} Part;

static void Line(unsigned depth, const char* key, const char* value) {
  printf("%*s%-*s: %s\n", (int)depth * 4, "", 42 - (int)depth * 4, key, value);
}

static void Amount(unsigned depth, const char* key, unsigned long long amount, const char* unit) {
  char text[48];
  snprintf(text, sizeof text, "%llu %s", amount, unit);
  Line(depth, key, text);
}

static void PrintMemory(const SmiView* view, const GpuDevice* device) {
  (void)view;
  puts("    FB Memory Usage");
  Amount(2, "Total", SmiMiB(device->memory_bytes), "MiB");
  Amount(2, "Reserved", 0, "MiB");
  Amount(2, "Used", SmiMiB(device->used_bytes), "MiB");
  Amount(2, "Free", SmiMiB(device->memory_bytes - device->used_bytes), "MiB");
}

static void PrintUtilization(const SmiView* view, const GpuDevice* device) {
  (void)view;
  puts("    Utilization");
  Amount(2, "Gpu", device->utilization, "%");
  Amount(2, "Memory", device->memory_utilization, "%");
  Amount(2, "Encoder", 0, "%");
  Amount(2, "Decoder", 0, "%");
}

static void PrintEcc(const SmiView* view, const GpuDevice* device) {
  (void)view;
  puts("    ECC Mode");
  Line(2, "Current", "Enabled");
  Line(2, "Pending", "Enabled");
  puts("    ECC Errors\n        Volatile");
  Line(3, "DRAM Correctable", "0");
  Line(3, "DRAM Uncorrectable", device->health == kGpuEcc ? "1" : "0");
}

static void PrintTemperature(const SmiView* view, const GpuDevice* device) {
  (void)view;
  puts("    Temperature");
  Amount(2, "GPU Current Temp", device->temperature_c, "C");
}

static void PrintPower(const SmiView* view, const GpuDevice* device) {
  (void)view;
  char text[48];
  puts("    GPU Power Readings");
  snprintf(text, sizeof text, "%u.00 W", device->power_w);
  Line(2, "Power Draw", text);
  snprintf(text, sizeof text, "%u.00 W", device->power_limit_w);
  Line(2, "Current Power Limit", text);
}

static void PrintCompute(const SmiView* view, const GpuDevice* device) {
  (void)view, (void)device;
  Line(1, "Compute Mode", "Default");
}

static void PrintPerformance(const SmiView* view, const GpuDevice* device) {
  (void)view;
  Line(1, "Performance State", SmiState(device));
}

static void PrintPids(const SmiView* view, const GpuDevice* device) {
  unsigned printed = 0;
  for (unsigned p = 0; p < view->list->process_count; p++) {
    const GpuProcess* process = &view->list->processes[p];
    if (process->index != device->index) continue;
    if (!printed++) puts("    Processes");
    char pid[16];
    snprintf(pid, sizeof pid, "%u", process->pid);
    Line(2, "Process ID", pid);
    Line(3, "Type", process->type == 'G' ? "G" : "C");
    Line(3, "Name", process->name);
    Amount(3, "Used GPU Memory", SmiMiB(process->used_bytes), "MiB");
  }
  if (!printed) Line(1, "Processes", "None");
}

static const Part parts[] = {
    {"PERFORMANCE", PrintPerformance},
    {"MEMORY", PrintMemory},
    {"COMPUTE", PrintCompute},
    {"UTILIZATION", PrintUtilization},
    {"ECC", PrintEcc},
    {"TEMPERATURE", PrintTemperature},
    {"POWER", PrintPower},
    {"PIDS", PrintPids},
};
enum { kParts = sizeof parts / sizeof *parts };

static void PrintIdentity(const SmiView* view, const GpuDevice* device, const char* bus) {
  char text[32];
  Line(1, "Product Name", device->name);
  Line(1, "Product Brand", "NVIDIA");
  snprintf(text, sizeof text, "%u.%u", device->sm_major, device->sm_minor);
  Line(1, "Compute Capability", text);
  Line(1, "Display Mode", "Disabled");
  Line(1, "Display Active", "Disabled");
  Line(1, "Persistence Mode", "Enabled");
  puts("    MIG Mode");
  Line(2, "Current", device->mig_enabled ? "Enabled" : "N/A");
  Line(2, "Pending", device->mig_enabled ? "Enabled" : "N/A");
  Line(1, "GPU UUID", device->uuid);
  snprintf(text, sizeof text, "%u", device->minor);
  Line(1, "Minor Number", text);
  puts("    PCI");
  Line(2, "Bus Id", bus);
  (void)view;
}

// Which parts -d chose; 0 when it names one that is not there.
static int ReadDisplay(const char* display, int chosen[kParts]) {
  char text[256];
  snprintf(text, sizeof text, "%s", display);
  char* rest = text;
  for (char* name = strsep(&rest, ","); name; name = strsep(&rest, ",")) {
    int found = 0;
    for (unsigned i = 0; i < kParts; i++)
      if (!strcasecmp(parts[i].name, name)) found = chosen[i] = 1;
    if (!found)
      return printf("\"%s\" is not a valid display type. Please run 'nvidia-smi -h' for help.\n\n", name), 0;
  }
  return 1;
}

int SmiPrintDetails(const SmiOptions* options, const SmiView* view) {
  int chosen[kParts] = {0};
  if (options->display && !ReadDisplay(options->display, chosen)) return kSmiInvalidArgument;
  char date[64], number[16];
  time_t now = time(NULL);
  struct tm local;
  localtime_r(&now, &local);
  strftime(date, sizeof date, "%a %b %e %H:%M:%S %Y", &local);
  puts("\n==============NVSMI LOG==============\n");
  Line(0, "Emulated by", "tfemu");
  Line(0, "Timestamp", date);
  Line(0, "Driver Version", view->devices[0]->driver);
  Line(0, "CUDA Version", view->devices[0]->cuda);
  snprintf(number, sizeof number, "%u", view->count);
  printf("\n");
  Line(0, "Attached GPUs", number);
  for (unsigned i = 0; i < view->count; i++) {
    char bus[32];
    GpuBusId(view->devices[i], bus, sizeof bus);
    printf("GPU %s\n", bus);
    if (!options->display) PrintIdentity(view, view->devices[i], bus);
    for (unsigned p = 0; p < kParts; p++)
      if (!options->display || chosen[p]) parts[p].print(view, view->devices[i]);
    printf("\n");
  }
  return kSmiOk;
}

// Text between tags: process names come from programs.
static void Escaped(const char* text) {
  for (; *text; text++) {
    if (*text == '&') fputs("&amp;", stdout);
    else if (*text == '<') fputs("&lt;", stdout);
    else if (*text == '>') fputs("&gt;", stdout);
    else putchar(*text);
  }
}

static void Tag(const char* name, const char* text) {
  printf("\t\t<%s>", name);
  Escaped(text);
  printf("</%s>\n", name);
}

static void PrintXmlProcesses(const SmiView* view, const GpuDevice* device) {
  puts("\t\t<processes>");
  for (unsigned p = 0; p < view->list->process_count; p++) {
    const GpuProcess* process = &view->list->processes[p];
    if (process->index != device->index) continue;
    printf("\t\t\t<process_info>\n\t\t\t\t<pid>%u</pid>\n\t\t\t\t<type>%c</type>\n\t\t\t\t<process_name>",
           process->pid, process->type);
    Escaped(process->name);
    printf("</process_name>\n\t\t\t\t<used_memory>%llu MiB</used_memory>\n\t\t\t</process_info>\n",
           SmiMiB(process->used_bytes));
  }
  puts("\t\t</processes>");
}

static void PrintXmlDevice(const SmiView* view, const GpuDevice* device) {
  char bus[32], minor[16];
  GpuBusId(device, bus, sizeof bus);
  snprintf(minor, sizeof minor, "%u", device->minor);
  printf("\t<gpu id=\"%s\">\n", bus);
  Tag("product_name", device->name);
  Tag("product_brand", "NVIDIA");
  Tag("uuid", device->uuid);
  Tag("minor_number", minor);
  Tag("performance_state", SmiState(device));
  Tag("compute_mode", "Default");
  printf("\t\t<pci>\n\t\t\t<pci_bus_id>%s</pci_bus_id>\n\t\t</pci>\n", bus);
  printf(
      "\t\t<fb_memory_usage>\n\t\t\t<total>%llu MiB</total>\n\t\t\t<reserved>0 MiB</reserved>\n"
      "\t\t\t<used>%llu MiB</used>\n\t\t\t<free>%llu MiB</free>\n\t\t</fb_memory_usage>\n",
      SmiMiB(device->memory_bytes), SmiMiB(device->used_bytes),
      SmiMiB(device->memory_bytes - device->used_bytes));
  printf(
      "\t\t<utilization>\n\t\t\t<gpu_util>%u %%</gpu_util>\n\t\t\t<memory_util>%u %%</memory_util>\n"
      "\t\t</utilization>\n",
      device->utilization, device->memory_utilization);
  printf("\t\t<temperature>\n\t\t\t<gpu_temp>%u C</gpu_temp>\n\t\t</temperature>\n", device->temperature_c);
  printf(
      "\t\t<gpu_power_readings>\n\t\t\t<power_draw>%u.00 W</power_draw>\n"
      "\t\t\t<current_power_limit>%u.00 W</current_power_limit>\n\t\t</gpu_power_readings>\n",
      device->power_w, device->power_limit_w);
  PrintXmlProcesses(view, device);
  puts("\t</gpu>");
}

int SmiPrintXml(const SmiView* view) {
  puts("<?xml version=\"1.0\" ?>\n<nvidia_smi_log>");
  printf(
      "\t<emulated_by>tfemu</emulated_by>\n\t<driver_version>%s</driver_version>\n\t<cuda_version>%s</"
      "cuda_version>\n"
      "\t<attached_gpus>%u</attached_gpus>\n",
      view->devices[0]->driver, view->devices[0]->cuda, view->count);
  for (unsigned i = 0; i < view->count; i++) PrintXmlDevice(view, view->devices[i]);
  puts("</nvidia_smi_log>");
  return kSmiOk;
}
