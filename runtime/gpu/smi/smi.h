// The parts of the emulated nvidia-smi: what was asked for, which devices, and the printers.
#pragma once

#include "runtime/gpu/reader/devices.h"

// The exit codes that the real tool documents.
enum { kSmiOk = 0, kSmiInvalidArgument = 2, kSmiNotFound = 6, kSmiNoDriver = 9, kSmiLost = 15 };

typedef enum {
  kTable,
  kList,
  kQueryGpu,
  kQueryApps,
  kDetails,
  kDmon,
  kPmon,
  kTopology,
  kVersion,
  kHelp
} SmiCommand;

typedef struct SmiOptions {
  SmiCommand command;
  const char* fields;   // --query-gpu, --query-compute-apps
  const char* ids;      // -i
  const char* display;  // -d of -q
  const char* select;   // -s of dmon
  int format_given, no_header, no_units, xml;
  long loop_ms;  // 0: once
  long count;    // of dmon and pmon; -1: for ever
} SmiOptions;

typedef struct SmiView {
  const GpuList* list;
  const GpuDevice* devices[TFEMU_GPU_MAX_DEVICES];  // those chosen by -i
  unsigned count;
  unsigned round;  // 0, 1, ... of a loop
} SmiView;

// kSmiOk, or the exit code after a message.
int SmiParse(int argc, char** argv, SmiOptions* options);
void SmiPrintHelp(void);

int SmiPrintList(const SmiView* view);
int SmiPrintTable(const SmiView* view);
int SmiPrintVersion(const SmiView* view);
int SmiPrintQuery(const SmiOptions* options, const SmiView* view);
int SmiPrintDetails(const SmiOptions* options, const SmiView* view);
int SmiPrintXml(const SmiView* view);
int SmiPrintDmon(const SmiOptions* options, const SmiView* view);
int SmiPrintPmon(const SmiView* view);
int SmiPrintTopology(const SmiView* view);

unsigned long long SmiMiB(uint64_t bytes);
const char* SmiState(const GpuDevice* device);
