// Reads the devices file.
#include "runtime/gpu/reader/devices.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kMostBytes = 1 << 20, kNone = -1 };

const char* GpuDevicesPath(void) {
  const char* chosen = getenv(TFEMU_GPU_DEVICES_VARIABLE);
  return chosen && *chosen ? chosen : TFEMU_GPU_DEVICES_FILE;
}

static void Copy(char* out, size_t size, const char* text) {
  size_t length = strnlen(text, size - 1);
  memcpy(out, text, length);
  out[length] = 0;
}

static int Number(const char* text, uint64_t* out) {
  if (*text < '0' || *text > '9') return 0;
  char* end;
  errno = 0;
  *out = strtoull(text, &end, 10);
  return !errno && !*end;
}

static int Small(const char* text, unsigned* out) {
  uint64_t value;
  if (!Number(text, &value) || value > 1000000000) return 0;
  *out = (unsigned)value;
  return 1;
}

static int Percent(const char* text, unsigned* out) {
  if (!Small(text, out)) return 0;
  if (*out > 100) *out = 100;
  return 1;
}

static int BusId(const char* text, GpuDevice* device) {
  unsigned domain, bus, slot, function;
  char rest;
  if (sscanf(text, "%8x:%2x:%2x.%1x%c", &domain, &bus, &slot, &function, &rest) != 4) return 0;
  device->pci_domain = domain, device->pci_bus = bus, device->pci_device = slot,
  device->pci_function = function;
  return 1;
}

static int Links(const char* text, GpuDevice* device) {
  while (*text) {
    unsigned to, count;
    int used = 0;
    if (sscanf(text, "%2u:%3u%n", &to, &count, &used) != 2 || to >= TFEMU_GPU_MAX_DEVICES || count > 255)
      return 0;
    device->links[to] = (unsigned char)count;
    text += used;
    if (*text && *text++ != ',') return 0;
  }
  return 1;
}

static int Health(const char* text, GpuDevice* device) {
  device->health = kGpuHealthy;  // also for words that this reader does not know yet
  if (!strcmp(text, "lost")) device->health = kGpuLost;
  else if (!strcmp(text, "ecc")) device->health = kGpuEcc;
  else if (!strncmp(text, "xid:", 4)) {
    device->health = kGpuXid;
    return Small(text + 4, &device->xid);
  }
  return 1;
}

static int Text(char* out, size_t size, const char* value) {
  Copy(out, size, value);
  return 1;
}

static int DeviceText(GpuDevice* device, const char* key, const char* value) {
  if (!strcmp(key, "uuid")) return Text(device->uuid, sizeof device->uuid, value);
  if (!strcmp(key, "name")) return Text(device->model, sizeof device->model, value);
  if (!strcmp(key, "driver")) return Text(device->driver, sizeof device->driver, value);
  if (!strcmp(key, "cuda")) return Text(device->cuda, sizeof device->cuda, value);
  if (!strcmp(key, "parent")) return Text(device->parent, sizeof device->parent, value);
  if (!strcmp(key, "profile")) return Text(device->profile, sizeof device->profile, value);
  if (!strcmp(key, "pci")) return BusId(value, device);
  if (!strcmp(key, "links")) return Links(value, device);
  if (!strcmp(key, "health")) return Health(value, device);
  if (!strcmp(key, "sm")) return sscanf(value, "%2u.%2u", &device->sm_major, &device->sm_minor) == 2;
  return kNone;
}

// What a key means; 0: the value is not of its form; an unknown key is fine.
static int DeviceField(GpuDevice* device, const char* key, const char* value) {
  if (!*value) return 1;
  int known = DeviceText(device, key, value);
  if (known != kNone) return known;
  if (!strcmp(key, "index")) return Small(value, &device->index);
  if (!strcmp(key, "minor")) return Small(value, &device->minor);
  if (!strcmp(key, "memory_bytes")) return Number(value, &device->memory_bytes);
  if (!strcmp(key, "used_bytes")) return Number(value, &device->used_bytes);
  if (!strcmp(key, "utilization")) return Percent(value, &device->utilization);
  if (!strcmp(key, "memory_utilization")) return Percent(value, &device->memory_utilization);
  if (!strcmp(key, "power_w")) return Small(value, &device->power_w);
  if (!strcmp(key, "power_limit_w")) return Small(value, &device->power_limit_w);
  if (!strcmp(key, "temperature_c")) return Small(value, &device->temperature_c);
  if (!strcmp(key, "gi")) return Small(value, &device->gpu_instance);
  if (!strcmp(key, "ci")) return Small(value, &device->compute_instance);
  if (!strcmp(key, "numa")) return device->numa = atoi(value), 1;
  if (!strcmp(key, "kind")) return device->is_virtual = strcmp(value, "real") != 0, 1;
  if (!strcmp(key, "mig")) return device->mig_enabled = !strcmp(value, "enabled"), 1;
  return 1;
}

static int ProcessField(GpuProcess* process, const char* key, const char* value) {
  if (!*value) return 1;
  if (!strcmp(key, "index")) return Small(value, &process->index);
  if (!strcmp(key, "pid")) return Small(value, &process->pid);
  if (!strcmp(key, "name")) return Text(process->name, sizeof process->name, value);
  if (!strcmp(key, "used_bytes")) return Number(value, &process->used_bytes);
  if (!strcmp(key, "type")) return process->type = *value == 'G' ? 'G' : 'C', 1;
  if (!strcmp(key, "utilization")) return process->has_utilization = 1, Percent(value, &process->utilization);
  return 1;
}

// The next key=value of a record; 0 at its end, -1 when a field has no '='.
static int NextField(char** rest, char** key, char** value) {
  char* field = strsep(rest, "\t");
  if (!field) return 0;
  *key = field;
  *value = strchr(field, '=');
  if (!*value) return -1;
  *(*value)++ = 0;
  return 1;
}

static int AddDevice(char* rest, GpuList* list) {
  if (list->device_count == TFEMU_GPU_MAX_DEVICES) return 0;
  GpuDevice* device = &list->devices[list->device_count];
  *device = (GpuDevice){.index = list->device_count, .is_virtual = 1, .numa = -1, .minor = ~0u};
  device->pci_device = device->index;
  device->used_bytes = UINT64_MAX;
  char *key, *value;
  int more;
  while ((more = NextField(&rest, &key, &value)) > 0)
    if (!DeviceField(device, key, value)) return 0;
  if (more < 0 || !*device->uuid || !*device->model || device->index != list->device_count) return 0;
  if (device->minor == ~0u) device->minor = device->index;
  Copy(device->name, sizeof device->name - (sizeof TFEMU_GPU_NAME_SUFFIX - 1), device->model);
  if (device->is_virtual) strcat(device->name, TFEMU_GPU_NAME_SUFFIX);
  list->device_count++;
  return 1;
}

static int AddProcess(char* rest, GpuList* list) {
  if (list->process_count == TFEMU_GPU_MAX_PROCESSES) return 1;
  GpuProcess* process = &list->processes[list->process_count];
  *process = (GpuProcess){.type = 'C'};
  char *key, *value;
  int more;
  while ((more = NextField(&rest, &key, &value)) > 0)
    if (!ProcessField(process, key, value)) return 0;
  if (more < 0 || !process->pid) return 0;
  list->process_count++;
  return 1;
}

static void FillInUse(GpuList* list) {
  for (unsigned i = 0; i < list->device_count; i++) {
    GpuDevice* device = &list->devices[i];
    if (device->used_bytes == UINT64_MAX) {
      device->used_bytes = 0;
      for (unsigned p = 0; p < list->process_count; p++)
        if (list->processes[p].index == i) device->used_bytes += list->processes[p].used_bytes;
    }
    if (device->used_bytes > device->memory_bytes) device->used_bytes = device->memory_bytes;
  }
}

GpuReadResult GpuParse(char* text, GpuList* list) {
  list->device_count = list->process_count = 0;
  char* line = strsep(&text, "\n");
  if (!line || strcmp(line, TFEMU_GPU_MAGIC) != 0) return kGpuBroken;
  int sound = 1;
  while (sound && (line = strsep(&text, "\n"))) {
    char* kind = strsep(&line, "\t");
    if (!strcmp(kind, "gpu")) sound = line && AddDevice(line, list);
    else if (!strcmp(kind, "process")) sound = line && AddProcess(line, list);
  }
  if (!sound) list->device_count = list->process_count = 0;
  FillInUse(list);
  return sound ? kGpuRead : kGpuBroken;
}

GpuReadResult GpuReadFile(const char* path, GpuList* list) {
  list->device_count = list->process_count = 0;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return kGpuMissing;
  char* text = malloc(kMostBytes + 1);
  size_t size = 0;
  while (text && size < kMostBytes) {
    ssize_t got = read(fd, text + size, kMostBytes - size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += (size_t)got;
  }
  close(fd);
  GpuReadResult result = kGpuBroken;
  if (text && size < kMostBytes) {
    text[size] = 0;
    result = GpuParse(text, list);
  }
  free(text);
  return result;
}

unsigned GpuPhysicalCount(const GpuList* list) {
  unsigned count = 0;
  for (unsigned i = 0; i < list->device_count; i++) count += !*list->devices[i].parent;
  return count;
}

const GpuDevice* GpuPhysical(const GpuList* list, unsigned n) {
  for (unsigned i = 0; i < list->device_count; i++)
    if (!*list->devices[i].parent && !n--) return &list->devices[i];
  return NULL;
}

unsigned GpuPhysicalRank(const GpuList* list, const GpuDevice* device) {
  unsigned rank = 0;
  for (const GpuDevice* other = list->devices; other < device; other++) rank += !*other->parent;
  return rank;
}

void GpuBusId(const GpuDevice* device, char* out, size_t size) {
  snprintf(out, size, "%08X:%02X:%02X.%X", device->pci_domain, device->pci_bus, device->pci_device,
           device->pci_function);
}

int GpuHasBusId(const GpuDevice* device, const char* text) {
  unsigned a, b, c, d;
  char rest;
  if (sscanf(text, "%8x:%2x:%2x.%1x%c", &a, &b, &c, &d, &rest) == 4)
    return a == device->pci_domain && b == device->pci_bus && c == device->pci_device &&
           d == device->pci_function;
  if (sscanf(text, "%2x:%2x.%1x%c", &b, &c, &d, &rest) == 3)
    return !device->pci_domain && b == device->pci_bus && c == device->pci_device &&
           d == device->pci_function;
  return 0;
}

unsigned GpuProcessUtilization(const GpuList* list, const GpuDevice* device, const GpuProcess* process) {
  if (process->has_utilization) return process->utilization;
  unsigned sharers = 0;
  for (unsigned p = 0; p < list->process_count; p++) sharers += list->processes[p].index == device->index;
  return sharers ? device->utilization / sharers : 0;
}
