// nvidia-smi for virtual GPUs: prints what the pod's devices file says, in the real tool's words.
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "runtime/gpu/smi/smi.h"

// Does one word of -i mean this device?
static int Names(const char* id, const GpuList* list, const GpuDevice* device) {
  unsigned rank;
  char rest;
  if (sscanf(id, "%3u%c", &rank, &rest) == 1) return rank == GpuPhysicalRank(list, device);
  return !strcmp(id, device->uuid) || GpuHasBusId(device, id);
}

static int Choose(const SmiOptions* options, const GpuList* list, SmiView* view) {
  view->count = 0;
  for (unsigned i = 0; i < GpuPhysicalCount(list); i++) {
    const GpuDevice* device = GpuPhysical(list, i);
    int wanted = !options->ids;
    char ids[1024];
    snprintf(ids, sizeof ids, "%s", wanted ? "" : options->ids);
    char* rest = ids;
    for (char* id = strsep(&rest, ","); id && !wanted; id = strsep(&rest, ","))
      wanted = Names(id, list, device);
    if (wanted) view->devices[view->count++] = device;
  }
  return view->count ? kSmiOk : kSmiNotFound;
}

static int CheckDevices(const SmiOptions* options, SmiView* view) {
  if (Choose(options, view->list, view)) {
    puts("No devices were found");
    return kSmiNotFound;
  }
  for (unsigned i = 0; i < view->count; i++) {
    const GpuDevice* device = view->devices[i];
    if (device->health != kGpuLost) continue;
    char bus[32];
    GpuBusId(device, bus, sizeof bus);
    printf(
        "Unable to determine the device handle for GPU%u: %s: GPU is lost.  Reboot the system to recover "
        "this GPU\n",
        GpuPhysicalRank(view->list, device), bus);
    return kSmiLost;
  }
  return kSmiOk;
}

static int Print(const SmiOptions* options, const SmiView* view) {
  switch (options->command) {
    case kTable: return SmiPrintTable(view);
    case kList: return SmiPrintList(view);
    case kQueryGpu:
    case kQueryApps: return SmiPrintQuery(options, view);
    case kDetails: return options->xml ? SmiPrintXml(view) : SmiPrintDetails(options, view);
    case kDmon: return SmiPrintDmon(options, view);
    case kPmon: return SmiPrintPmon(view);
    case kTopology: return SmiPrintTopology(view);
    case kVersion: return SmiPrintVersion(view);
    case kHelp: break;
  }
  SmiPrintHelp();
  return kSmiOk;
}

static int Round(const SmiOptions* options, SmiView* view, GpuList* list) {
  if (GpuReadFile(GpuDevicesPath(), list) != kGpuRead) {
    puts(
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the "
        "latest "
        "NVIDIA driver is installed and running.\n");
    return kSmiNoDriver;
  }
  view->list = list;
  if (options->command != kVersion) {
    int result = CheckDevices(options, view);
    if (result) return result;
  }
  return Print(options, view);
}

int main(int argc, char** argv) {
  static GpuList list;
  SmiOptions options;
  int result = SmiParse(argc, argv, &options);
  if (result) return result;
  if (options.command == kHelp) {
    SmiPrintHelp();
    return kSmiOk;
  }
  SmiView view = {0};
  for (;;) {
    result = Round(&options, &view, &list);
    fflush(stdout);
    view.round++;
    if (result || ferror(stdout) || !options.loop_ms || (options.count >= 0 && view.round >= options.count))
      break;
    struct timespec pause = {options.loop_ms / 1000, options.loop_ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
  }
  return result;
}
