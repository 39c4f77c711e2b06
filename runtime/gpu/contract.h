// What the daemon and the GPU artefacts inside pods agree upon: paths, the devices file's form and variables'
// names.
#pragma once

/* This file is plain C and only macros: the libraries in the pods are C, the daemon is C++.
 *
 * THE DEVICES FILE
 * A pod with GPUs has the folder TFEMU_GPU_FOLDER bound into it, read-only. The daemon rewrites the file in
 * it whenever a holder, a figure or the health changes: to a temporary name in the same folder, then
 * rename(2), so that a reader sees the old file or the new one. Bind the folder, never the file: a bound file
 * would stay the old inode.
 *
 *     tfemu-gpus 1
 *     gpu<TAB>index=0<TAB>uuid=GPU-00000000-...<TAB>name=NVIDIA A10<TAB>memory_bytes=24696061952<TAB>...
 *     process<TAB>index=0<TAB>pid=17<TAB>name=python3<TAB>used_bytes=1073741824
 *
 * First line: TFEMU_GPU_MAGIC, as it is. Then one record a line, its kind first, then key=value fields, all
 * separated by one TAB. A value has no TAB, newline or other control byte, and ends at the TAB: it may have
 * spaces and '='. Unknown kinds and unknown keys are skipped, fields come in any order, a missing or empty
 * one has its default, so that both sides may grow. Another number than 1 in the first line, or a first line
 * of another kind, is a broken file. An empty list (only the first line) means: a driver, but no devices.
 * Sizes: at most 64 gpu and 1024 process lines.
 *
 * gpu fields (all numbers decimal, no sign):
 * - index (required): position in the pod's view, 0, 1, ... without holes, in the order of the lines
 * - uuid (required): GPU-00000000-xxxx-... for a virtual one (TFEMU_GPU_VIRTUAL_UUID_PREFIX)
 * - name (required): the model without any mark; readers add TFEMU_GPU_NAME_SUFFIX for kind=virtual
 * - memory_bytes (required): of the pod's view; the share, where it has only a share of the device
 * - used_bytes: held by anybody in this view; default: the sum of the process lines
 * - utilization, memory_utilization: 0..100, default 0
 * - pci: bus id, 00000000:00:1E.0; default 00000000:00:00.0 with the index as its device
 * - minor: of /dev/nvidia<minor>, default the index
 * - driver, cuda, sm: e.g. 550.54.15, 12.4, 8.6 (compute capability)
 * - power_w, power_limit_w, temperature_c: default 0
 * - numa: default -1 (the only number with a sign)
 * - links: NVLinks to other lines, index:count,index:count
 * - kind: virtual | real, default virtual
 * - health: ok | lost | ecc | xid:N, default ok; a reader takes another word as ok
 * - mig: enabled, when the device is in MIG mode; default: not supported
 * - parent, gi, ci, profile: for a line that is a MIG instance: the parent's uuid, the ids, e.g. 1g.5gb
 *
 * A MIG instance's own uuid is MIG-..., and its parent's line is in the file as well, before it, as the real
 * tools show it.
 *
 * process fields:
 * - index: of the gpu line
 * - pid: as seen in the pod's pid namespace; a process of another pod is not listed, its memory is in
 * used_bytes
 * - name: a path or a command name
 * - used_bytes
 * - type: C | G, default C
 * - utilization: default the device's, divided evenly among its processes
 *
 * WHAT PROGRAMS MAY REPORT
 * TFEMU_GPU_USE_FOLDER is writable in a pod with virtual GPUs. A program that knows what it does on a virtual
 * GPU (the benchmark image does) may keep a file there whose name is its pid in the pod's pid namespace, one
 * line for each GPU:
 *
 *     index=0<TAB>busy_ns=<total time the GPU was busy for this process, only grows><TAB>used_bytes=<n>
 *
 * It is written to ".<pid>" and renamed to "<pid>", as often as once a second. index may be left out (0). The
 * daemon derives utilization from the growth of busy_ns over the wall time between two readings, takes
 * used_bytes into the process line, ignores what is not of this form (a file above 4 KiB, a pid that is not
 * the pod's), and removes the file of a pid that is gone. A process that reports nothing counts as a holder
 * by the pod's binding alone.
 */
#define TFEMU_GPU_FOLDER "/run/tfemu/gpu"
#define TFEMU_GPU_DEVICES_FILE "/run/tfemu/gpu/devices"
#define TFEMU_GPU_USE_FOLDER "/run/tfemu/gpu-use"
#define TFEMU_GPU_MAGIC "tfemu-gpus 1"
#define TFEMU_GPU_NAME_SUFFIX " (emulated)"
#define TFEMU_GPU_VIRTUAL_UUID_PREFIX "GPU-00000000-"
#define TFEMU_GPU_MAX_DEVICES 64
#define TFEMU_GPU_MAX_PROCESSES 1024

/* Another path of the devices file, for tests and for programs outside pods. */
#define TFEMU_GPU_DEVICES_VARIABLE "TFEMU_GPU_DEVICES"

/* THE SHIM (libcuda.so.1 in front of the true driver, for shares of real GPUs)
 * The daemon binds the shim's folder into the pod and puts it first in LD_LIBRARY_PATH; the pod also has,
 * writable, the accounting file of its share. All processes that name the same file share one set of limits.
 */
/* Absolute path of the true libcuda.so.1; without it the usual places of the distributions are tried. */
#define TFEMU_CUDA_DRIVER_VARIABLE "TFEMU_CUDA_DRIVER"
/* Bytes for each visible device, comma separated; 0 or nothing: no limit. An entry is a number, which stands
 * for the device at its position in CUDA's order within the process, or uuid=number
 * (GPU-xxxxxxxx-...=1073741824), which stays right when a program narrows CUDA_VISIBLE_DEVICES by itself:
 * prefer it. */
#define TFEMU_GPU_MEMORY_LIMIT_VARIABLE "TFEMU_GPU_MEMORY_LIMIT"
/* Percent of the time (1..100) in which kernels may run, a list of the same form; 0, nothing or 100: no
 * limit. */
#define TFEMU_GPU_CORE_LIMIT_VARIABLE "TFEMU_GPU_CORE_LIMIT"
/* Path of the accounting file. The daemon makes it empty (0 bytes, mode 0666); the first process of the share
 * fills it in. Without the variable, each process counts alone. It must not be on a network file system. All
 * its processes are in one pid namespace (charges are by pid), i.e. of one pod; charges are by the devices'
 * UUIDs. Its layout is in shim/accounting.h. */
#define TFEMU_GPU_ACCOUNTING_VARIABLE "TFEMU_GPU_ACCOUNTING"
