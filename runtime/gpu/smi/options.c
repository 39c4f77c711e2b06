// The command line of nvidia-smi.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/gpu/smi/smi.h"

static int Refuse(void) {
  puts("Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n");
  return kSmiInvalidArgument;
}

void SmiPrintHelp(void) {
  puts(
      "NVIDIA System Management Interface -- emulated by tfemu\n\n"
      "Shows the virtual GPUs of this pod. It changes nothing: options that set something are refused.\n\n"
      "nvidia-smi [OPTION1 [ARG1]] [OPTION2 [ARG2]] ...\n\n"
      "    -h,   --help                Print usage information and exit.\n"
      "          --version             Print version information and exit.\n"
      "    -L,   --list-gpus           Display a list of GPUs.\n"
      "    -i,   --id=                 Target GPUs: indices, UUIDs or bus ids, comma separated.\n"
      "    -l,   --loop=               Probe until Ctrl+C at this interval of seconds.\n"
      "    -lms, --loop-ms=            The same in milliseconds.\n"
      "    -q,   --query               Display everything.\n"
      "    -x,   --xml-format          With -q: XML.\n"
      "    -d,   --display=            With -q: only MEMORY, UTILIZATION, ECC, TEMPERATURE, POWER, COMPUTE, "
      "PIDS,\n"
      "                                PERFORMANCE; comma separated.\n"
      "          --query-gpu=          Fields of GPUs, with --format=csv[,noheader][,nounits].\n"
      "          --query-compute-apps= Fields of processes, likewise.\n"
      "    dmon [-i -d -c -s pucm]     Devices as scrolling lines.\n"
      "    pmon [-i -d -c]             Processes as scrolling lines.\n"
      "    topo -m                     Matrix of the links between GPUs.");
}

// "-x VALUE", "--xx VALUE", "--xx=VALUE": moves *at to the last word used. NULL: this is another option.
static const char* Value(const char* option, const char* short_name, const char* long_name, char*** at) {
  size_t length = strlen(long_name);
  if (!strncmp(option, long_name, length) && option[length] == '=') return option + length + 1;
  if (strcmp(option, short_name) != 0 && strcmp(option, long_name) != 0) return NULL;
  if (!(*at)[1]) return "";
  return *++*at;
}

static int Format(const char* text, SmiOptions* options) {
  char words[128];
  snprintf(words, sizeof words, "%s", text);
  char* rest = words;
  int csv = 0;
  for (char* word = strsep(&rest, ","); word; word = strsep(&rest, ",")) {
    while (*word == ' ') word++;
    if (!strcmp(word, "csv")) csv = 1;
    else if (!strcmp(word, "noheader")) options->no_header = 1;
    else if (!strcmp(word, "nounits")) options->no_units = 1;
    else return Refuse();
  }
  options->format_given = 1;
  return csv ? kSmiOk : Refuse();
}

static int Interval(const char* text, long scale, long* out) {
  char* end;
  double value = strtod(text, &end);
  if (end == text || *end || !(value > 0) || value > 1000000) return Refuse();
  *out = (long)(value * (double)scale);
  if (!*out) *out = 1;
  return kSmiOk;
}

static int Is(const char* option, const char* short_name, const char* long_name) {
  return !strcmp(option, short_name) || !strcmp(option, long_name);
}

static int SetCommand(SmiOptions* options, SmiCommand command) {
  if (options->command != kTable) return Refuse();
  options->command = command;
  return kSmiOk;
}

// An option with a value, of the plain tool.
static int TakeValue(char*** at, SmiOptions* options) {
  const char* option = **at;
  const char* value;
  if ((value = Value(option, "-i", "--id", at))) return *value ? (options->ids = value, kSmiOk) : Refuse();
  if ((value = Value(option, "-d", "--display", at)))
    return *value ? (options->display = value, kSmiOk) : Refuse();
  if ((value = Value(option, "-lms", "--loop-ms", at))) return Interval(value, 1, &options->loop_ms);
  if ((value = Value(option, "", "--format", at))) return Format(value, options);
  if ((value = Value(option, "", "--query-gpu", at)))
    return options->fields = value, SetCommand(options, kQueryGpu);
  if ((value = Value(option, "", "--query-compute-apps", at)))
    return options->fields = value, SetCommand(options, kQueryApps);
  if (Is(option, "-l", "--loop") && (!(*at)[1] || *(*at)[1] == '-')) return options->loop_ms = 5000, kSmiOk;
  if ((value = Value(option, "-l", "--loop", at))) return Interval(value, 1000, &options->loop_ms);
  return Refuse();
}

static int TakeOption(char*** at, SmiOptions* options) {
  const char* option = **at;
  if (Is(option, "-h", "--help")) return options->command = kHelp, kSmiOk;
  if (Is(option, "", "--version")) return SetCommand(options, kVersion);
  if (Is(option, "-L", "--list-gpus")) return SetCommand(options, kList);
  if (Is(option, "-q", "--query")) return SetCommand(options, kDetails);
  if (Is(option, "-x", "--xml-format")) return options->xml = 1, kSmiOk;
  return TakeValue(at, options);
}

static int MonitorOption(char*** at, SmiOptions* options) {
  const char* value;
  const char* option = **at;
  if (Is(option, "-h", "--help")) return options->command = kHelp, kSmiOk;
  if ((value = Value(option, "-i", "--id", at)) && *value) return options->ids = value, kSmiOk;
  if ((value = Value(option, "-d", "--delay", at))) return Interval(value, 1000, &options->loop_ms);
  if ((value = Value(option, "-c", "--count", at))) {
    options->count = strtol(value, NULL, 10);
    return options->count > 0 ? kSmiOk : Refuse();
  }
  if ((value = Value(option, "-s", "--select", at)) && *value && strspn(value, "pucvmet") == strlen(value))
    return options->select = value, kSmiOk;
  return Refuse();
}

static int ParseMonitor(SmiCommand command, char** at, SmiOptions* options) {
  options->command = command;
  options->loop_ms = 1000;
  for (; *at; at++) {
    int result = MonitorOption(&at, options);
    if (result) return result;
  }
  return kSmiOk;
}

static int ParseTopology(char** at, SmiOptions* options) {
  options->command = kTopology;
  if (!*at) return Refuse();
  for (; *at; at++) {
    const char* value;
    if (Is(*at, "-m", "--matrix")) continue;
    if (!(value = Value(*at, "-i", "--id", &at)) || !*value) return Refuse();
    options->ids = value;
  }
  return kSmiOk;
}

int SmiParse(int argc, char** argv, SmiOptions* options) {
  *options = (SmiOptions){.command = kTable, .select = "puc", .count = -1};
  if (argc > 1 && !strcmp(argv[1], "dmon")) return ParseMonitor(kDmon, argv + 2, options);
  if (argc > 1 && !strcmp(argv[1], "pmon")) return ParseMonitor(kPmon, argv + 2, options);
  if (argc > 1 && !strcmp(argv[1], "topo")) return ParseTopology(argv + 2, options);
  for (char** at = argv + 1; *at; at++) {
    int result = TakeOption(&at, options);
    if (result || options->command == kHelp) return result;
  }
  int is_query = options->command == kQueryGpu || options->command == kQueryApps;
  if (is_query && !options->format_given) {
    puts("\"--format=\" switch is missing. Please run 'nvidia-smi -h' for help.\n");
    return kSmiInvalidArgument;
  }
  if ((!is_query && options->format_given) ||
      (options->command != kDetails && (options->xml || options->display)))
    return Refuse();
  return kSmiOk;
}
