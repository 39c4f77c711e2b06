// The default table, -L and --version.
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "runtime/gpu/smi/smi.h"

int SmiPrintList(const SmiView* view) {
  for (unsigned i = 0; i < view->count; i++) {
    const GpuDevice* device = view->devices[i];
    printf("GPU %u: %s (UUID: %s)\n", GpuPhysicalRank(view->list, device), device->name, device->uuid);
    unsigned number = 0;
    for (unsigned m = 0; m < view->list->device_count; m++) {
      const GpuDevice* instance = &view->list->devices[m];
      if (strcmp(instance->parent, device->uuid) != 0) continue;
      printf("  MIG %-13s Device %2u: (UUID: %s)\n", instance->profile, number++, instance->uuid);
    }
  }
  return kSmiOk;
}

static const GpuDevice* First(const SmiView* view) {
  static const GpuDevice none = {.driver = "N/A", .cuda = "N/A"};
  return view->list->device_count ? &view->list->devices[0] : &none;
}

int SmiPrintVersion(const SmiView* view) {
  const char* driver = First(view)->driver;
  const char* dot = strrchr(driver, '.');
  printf("NVIDIA-SMI version  : %s (emulated by tfemu)\n", driver);
  printf("NVML version        : %.*s\n", dot ? (int)(dot - driver) : (int)strlen(driver), driver);
  printf("DRIVER version      : %s\nCUDA Version        : %s\n", driver, First(view)->cuda);
  return kSmiOk;
}

static void PrintHead(const SmiView* view) {
  const GpuDevice* first = First(view);
  time_t now = time(NULL);
  struct tm local;
  char date[64], version[96];
  localtime_r(&now, &local);
  strftime(date, sizeof date, "%a %b %e %H:%M:%S %Y", &local);
  snprintf(version, sizeof version, "CUDA Version: %s", first->cuda);
  printf("%s       \n", date);
  puts("+-----------------------------------------------------------------------------------------+");
  printf("| NVIDIA-SMI %-22.22s Driver Version: %-14.14s %-23.23s|\n", first->driver, first->driver, version);
  printf("| %-87s |\n", "emulated by tfemu: virtual GPUs, nothing below was measured on a device");
  puts(
      "|-----------------------------------------+------------------------+----------------------+\n"
      "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
      "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
      "|                                         |                        |               MIG M. |\n"
      "|=========================================+========================+======================|");
}

static void PrintDevice(const SmiView* view, const GpuDevice* device) {
  char bus[32], power[32], memory[48];
  GpuBusId(device, bus, sizeof bus);
  snprintf(power, sizeof power, "%uW / %4uW", device->power_w, device->power_limit_w);
  snprintf(memory, sizeof memory, "%lluMiB / %6lluMiB", SmiMiB(device->used_bytes),
           SmiMiB(device->memory_bytes));
  printf("| %3u  %-27.27s    On  | %18s Off | %20d |\n", GpuPhysicalRank(view->list, device), device->name,
         bus, device->health == kGpuEcc);
  printf("| N/A %4uC    %-3s %21s | %22s | %7u%% %12s |\n", device->temperature_c, SmiState(device), power,
         memory, device->utilization, "Default");
  printf("| %39s | %22s | %20s |\n", "", "", device->mig_enabled ? "Enabled" : "N/A");
  puts("+-----------------------------------------+------------------------+----------------------+");
}

static unsigned PrintProcesses(const SmiView* view, const GpuDevice* device) {
  unsigned printed = 0;
  for (unsigned p = 0; p < view->list->process_count; p++) {
    const GpuProcess* process = &view->list->processes[p];
    if (process->index != device->index) continue;
    // The real tool cuts long names at the front.
    size_t length = strlen(process->name);
    const char* name = length > 37 ? process->name + length - 34 : process->name;
    char memory[24];
    snprintf(memory, sizeof memory, "%lluMiB", SmiMiB(process->used_bytes));
    printf("| %4u   N/A  N/A %10u %6c   %s%-*s %13s |\n", GpuPhysicalRank(view->list, device), process->pid,
           process->type, length > 37 ? "..." : "", length > 37 ? 34 : 37, name, memory);
    printed++;
  }
  return printed;
}

int SmiPrintTable(const SmiView* view) {
  PrintHead(view);
  for (unsigned i = 0; i < view->count; i++) PrintDevice(view, view->devices[i]);
  printf("%91s\n", "");
  puts(
      "+-----------------------------------------------------------------------------------------+\n"
      "| Processes:                                                                              |\n"
      "|  GPU   GI   CI        PID   Type   Process name                              GPU Memory |\n"
      "|        ID   ID                                                               Usage      |\n"
      "|=========================================================================================|");
  unsigned printed = 0;
  for (unsigned i = 0; i < view->count; i++) printed += PrintProcesses(view, view->devices[i]);
  if (!printed) printf("| %-87s |\n", " No running processes found");
  puts("+-----------------------------------------------------------------------------------------+");
  return kSmiOk;
}
