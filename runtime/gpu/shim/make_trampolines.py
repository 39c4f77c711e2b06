#!/usr/bin/python3
"""Writes the shim's trampolines (x86-64 assembler) for each symbol that has no body written by hand.

    make_trampolines.py SYMBOLS HOOKS OUT
"""
import re
import sys

HEAD = """// Made from symbols.txt: jumps through a table whose entries are looked up when they are first used.
  .section .note.GNU-stack,"",@progbits
  .text
  .p2align 4
bind:
  .cfi_startproc
  .cfi_adjust_cfa_offset 8
  push %rax
  push %rdi
  push %rsi
  push %rdx
  push %rcx
  push %r8
  push %r9
  sub $136, %rsp
  .cfi_adjust_cfa_offset 192
"""
SAVED = [f"  movups %xmm{n}, {n * 16}(%rsp)" for n in range(8)]
CALL = """
  mov 192(%rsp), %edi
  call ShimBind@PLT
  mov %rax, %r11
"""
RESTORED = [f"  movups {n * 16}(%rsp), %xmm{n}" for n in range(8)]
TAIL = """
  add $136, %rsp
  pop %r9
  pop %r8
  pop %rcx
  pop %rdx
  pop %rsi
  pop %rdi
  pop %rax
  add $8, %rsp
  .cfi_adjust_cfa_offset -200
  jmp *%r11
  .cfi_endproc
"""


def main():
    symbols_path, hooks_path, out_path = sys.argv[1:]
    hooked = set(re.findall(r"HOOK\((cu\w+)", open(hooks_path).read()))
    names = open(symbols_path).read().split()
    missing = hooked - set(names)
    if missing:
        sys.exit(f"error: hooks that are not in {symbols_path}: {' '.join(sorted(missing))}")
    plain = [name for name in names if name not in hooked]
    lines = [HEAD + "\n".join(SAVED) + CALL + "\n".join(RESTORED) + TAIL]
    for number, name in enumerate(plain):
        lines.append(f"  .globl {name}\n  .type {name}, @function\n  .p2align 4\n{name}:\n  .cfi_startproc\n"
                     f"  endbr64\n  jmp *shim_slots+{number * 8}(%rip)\n  .cfi_endproc\n  .size {name}, .-{name}\n"
                     f"bind_{number}:\n  endbr64\n  push ${number}\n  jmp bind")
    lines.append("  .section .data.rel.local,\"aw\"\n  .p2align 3\n  .globl shim_slots\n  .hidden shim_slots\nshim_slots:")
    lines += [f"  .quad bind_{number}" for number in range(len(plain))]
    lines.append("  .section .data.rel.ro.local,\"aw\"\n  .p2align 3\n  .globl shim_names\n  .hidden shim_names\nshim_names:")
    lines += [f"  .quad name_{number}" for number in range(len(plain))]
    lines.append("  .section .rodata.str1.1,\"aMS\",@progbits,1")
    lines += [f"name_{number}: .asciz \"{name}\"" for number, name in enumerate(plain)]
    open(out_path, "w").write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
