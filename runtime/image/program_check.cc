#include "runtime/image/program_check.h"

#include <elf.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <cstring>

#include "emulator/base/strings.h"
#include "runtime/user.h"

namespace tfemu::image {
namespace {

constexpr const char* kDefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr size_t kHead = 64 << 10;  // an ELF's program headers and its loader's name lie in it

Error Foreseen(const std::string& program, const std::string& why) {
  return {.reason = Reason::kInvalid, .message = "exec: \"" + program + "\": " + why};
}

unsigned HostMachine() {
  utsname name{};
  ::uname(&name);
  const std::string machine = name.machine;
  return machine == "x86_64" ? EM_X86_64 : machine == "aarch64" ? EM_AARCH64 : EM_NONE;
}

std::string MachineName(unsigned machine) {
  switch (machine) {
    case EM_X86_64: return "x86-64";
    case EM_386: return "i386";
    case EM_AARCH64: return "arm64";
    case EM_ARM: return "arm";
    case EM_PPC64: return "ppc64";
    case EM_S390: return "s390x";
    case EM_RISCV: return "riscv";
    default: return "machine " + std::to_string(machine);
  }
}

// The loader that a dynamic ELF asks for; "" for a static one.
std::string Loader(const std::string& head) {
  Elf64_Ehdr header{};
  std::memcpy(&header, head.data(), sizeof header);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    const size_t at = header.e_phoff + i * sizeof(Elf64_Phdr);
    Elf64_Phdr part{};
    if (at > head.size() || head.size() - at < sizeof part) return "";
    std::memcpy(&part, head.data() + at, sizeof part);
    if (part.p_type != PT_INTERP || part.p_offset > head.size()) continue;
    return head.substr(part.p_offset, part.p_filesz).c_str();
  }
  return "";
}

Result<void> CheckElf(const LayeredView& view, const std::string& program, const std::string& head) {
  if (head.size() < sizeof(Elf64_Ehdr))
    return Foreseen(program, "exec format error: its ELF header is cut off");
  const unsigned machine = static_cast<unsigned char>(head[18]) | static_cast<unsigned char>(head[19]) << 8;
  const unsigned host = HostMachine();
  const bool i386 = machine == EM_386 && host == EM_X86_64;  // most kernels run it
  if (machine != host && !i386)
    return Foreseen(program, "exec format error: it is for " + MachineName(machine) + ", this host is " +
                                 MachineName(host));
  if (head[EI_CLASS] != ELFCLASS64) return {};
  const std::string loader = Loader(head);
  if (loader.empty() || view.Find(loader)) return {};
  return Foreseen(program, "no such file or directory: its loader " + loader + " is not in the image");
}

Result<void> CheckFile(const LayeredView& view, const std::string& program, const std::string& place,
                       int depth) {
  struct stat status {};
  if (::stat(place.c_str(), &status) || S_ISDIR(status.st_mode)) return Foreseen(program, "is a directory");
  if (!(status.st_mode & 0111)) return Foreseen(program, "permission denied: it is not executable");
  const std::string head = view.Read(program, kHead);
  if (head.starts_with("\177ELF")) return CheckElf(view, program, head);
  if (!head.starts_with("#!"))
    return Foreseen(program, "exec format error: it is neither an ELF file nor a script with #!");
  const std::string line = head.substr(2, head.find('\n') - 2);
  const std::string interpreter = Split(std::string(Trim(line)), ' ').front();
  const auto found = view.Find(interpreter);
  if (!found)
    return Foreseen(program,
                    "no such file or directory: its interpreter " + interpreter + " is not in the image");
  return depth > 3 ? Foreseen(program, "too many levels of #!")
                   : CheckFile(view, interpreter, *found, depth + 1);
}

std::string Variable(const runtime::Image& image, const std::string& name, const std::string& otherwise) {
  const auto found = image.env.find(name);
  return found == image.env.end() ? otherwise : found->second;
}

}  // namespace

Result<void> CheckProgram(const LayeredView& view, const std::string& program, const std::string& path) {
  if (program.find('/') != program.npos) {
    if (const auto place = view.Find(program)) return CheckFile(view, program, *place, 0);
    return Foreseen(program, "no such file or directory");
  }
  for (const auto& folder : Split(path, ':')) {
    const std::string candidate = folder + "/" + program;
    if (const auto place = view.Find(candidate)) return CheckFile(view, candidate, *place, 0);
  }
  return Foreseen(program, "executable file not found in $PATH");
}

std::vector<Finding> CheckImage(const runtime::Image& image) {
  std::vector<Finding> findings;
  for (const std::string& note : image.notes) findings.push_back({false, note});
  std::vector<std::string> layers = image.root.layers;
  if (image.root.host) layers.insert(layers.begin(), "/");
  const LayeredView view(std::move(layers));
  std::vector<std::string> argv = image.entrypoint;
  argv.insert(argv.end(), image.cmd.begin(), image.cmd.end());
  std::string path = Variable(image, "PATH", kDefaultPath);
  // The environment's programs are where only a pod sees them.
  const bool in_environment = !image.requirements.empty() && !argv.empty() &&
                              argv[0].find('/') == std::string::npos &&
                              !CheckProgram(view, argv[0], path).ok();
  if (argv.empty()) {
    findings.push_back({false, "neither entrypoint nor cmd: a manifest must give a command"});
  } else if (!in_environment) {
    const auto runs = CheckProgram(view, argv[0], path);
    if (!runs.ok()) findings.push_back({true, runs.error().message});
  }
  if (!image.user.empty()) {
    const auto user = runtime::LookUpUser(image.user, view.Read("/etc/passwd"), view.Read("/etc/group"));
    if (!user.ok()) findings.push_back({true, user.error().message});
  }
  if (!image.requirements.empty() && !image.root.host && !view.Find("/usr/bin/python3"))
    findings.push_back(
        {true, "python: the environment is the host's python3, and the image has no /usr/bin/python3"});
  return findings;
}

}  // namespace tfemu::image
