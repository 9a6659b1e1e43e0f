#include "base/resident.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace nanwatch {
namespace {

constexpr int kArenas = 2;
constexpr int kKeptBytes = 4 << 20;

// True when the loader wrote into the code: those pages exist nowhere else.
bool IsRelocatedInPlace(const dl_phdr_info& object) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    if (part.p_type != PT_DYNAMIC) continue;
    const auto* entry =
        reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + part.p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      const bool flagged =
          entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL) != 0;
      if (entry->d_tag == DT_TEXTREL || flagged) return true;
    }
  }
  return false;
}

int Forget(dl_phdr_info* object, size_t, void*) {
  if (IsRelocatedInPlace(*object)) return 0;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    // Never what was written to: its pages would be lost.
    if (part.p_type != PT_LOAD || (part.p_flags & PF_W) != 0) continue;
    const uintptr_t begin = (object->dlpi_addr + part.p_vaddr) & ~(page - 1);
    const uintptr_t end = object->dlpi_addr + part.p_vaddr + part.p_memsz;
    // Advice: it does not matter if it is not taken.
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

size_t ResidentBytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  size_t total = 0;
  size_t resident = 0;
  if (std::fscanf(file, "%zu %zu", &total, &resident) != 2) resident = 0;
  std::fclose(file);
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

void SetUpMalloc() {
  mallopt(M_ARENA_MAX, kArenas);
  mallopt(M_TRIM_THRESHOLD, kKeptBytes);
  mallopt(M_MMAP_THRESHOLD, kKeptBytes / 4);  // or the above would fix it low
}

void GiveBackFreeMemory() { malloc_trim(0); }

void ForgetStartupCode() {
  malloc_trim(0);
  dl_iterate_phdr(&Forget, nullptr);
}

}  // namespace nanwatch
