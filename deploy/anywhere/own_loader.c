/* Where a program starts that brings its libraries along.
 *
 * The kernel finds a program's loader by an absolute path, and the host's
 * loader may be too old for our libraries, or not there. So such a program
 * names no loader: it starts here, before anything is linked, maps the loader
 * that lies in ../libexec/nanwatch beside it, and jumps there, as the kernel
 * would have done. The loader finds the libraries by the program's DT_RPATH.
 * /proc/self/exe and the name in `ps` stay the program's own.
 *
 * Nothing here may need a relocation or a function of libc: neither is there
 * yet. */

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define LOADER "/libexec/nanwatch/ld.so"
#define MOST_HEADERS 32 /* a linker makes 10 to 14 */
#define ADDED 2

/* From the start of the file to that of the C library; the linker knows both.
 */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));
extern const char _start[] __attribute__((visibility("hidden")));

#if defined(__x86_64__)
__asm__(
    ".text\n.globl nanwatch_start\n.hidden nanwatch_start\n"
    ".type nanwatch_start,@function\nnanwatch_start:\n"
    "  xor %ebp, %ebp\n"
    "  mov %rsp, %rdi\n"
    "  mov %rsp, %rbx\n"
    "  and $-16, %rsp\n"
    "  call nanwatch_map_loader\n"
    "  mov %rbx, %rsp\n"
    "  xor %edx, %edx\n"
    "  jmp *%rax\n");

static long Call(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
                     "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
__asm__(
    ".text\n.globl nanwatch_start\n.hidden nanwatch_start\n"
    ".type nanwatch_start,%function\nnanwatch_start:\n"
    "  mov x29, #0\n"
    "  mov x0, sp\n"
    "  mov x19, sp\n"
    "  bl nanwatch_map_loader\n"
    "  mov sp, x19\n"
    "  mov x16, x0\n"
    "  mov x0, #0\n"
    "  br x16\n");

static long Call(long number, long a, long b, long c, long d, long e, long f) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return x0;
}
#else
#error "no start of a program for this processor yet"
#endif

/* What the loader reads of the program: its own headers, and one that names a
 * loader, as a program has that the kernel found one for. */
static ElfW(Phdr) headers[ADDED + MOST_HEADERS];
static const char loader_name[] = LOADER;

static size_t Length(const char* text) {
  size_t n = 0;
  while (text[n] != '\0') ++n;
  return n;
}

static void Say(const char* text) {
  Call(SYS_write, 2, (long)text, (long)Length(text), 0, 0, 0);
}

__attribute__((noreturn)) static void Fail(const char* what, const char* path) {
  Say("nanwatch: ");
  Say(what);
  Say(path);
  Say("\n");
  for (;;) Call(SYS_exit_group, 127, 0, 0, 0, 0, 0);
}

/* Writes the path of the loader: of /prefix/bin/nanwatch,
 * /prefix/libexec/nanwatch/ld.so. */
static void FindLoader(char* path, size_t size) {
  long n = Call(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)path,
                (long)(size - sizeof LOADER), 0, 0);
  if (n <= 0) Fail("this program needs ", "/proc");
  for (int folders = 0; n > 0; --n) {
    if (path[n - 1] == '/' && ++folders == 2) break;
  }
  size_t end = n > 0 ? (size_t)n - 1 : 0;
  for (size_t i = 0; i < sizeof loader_name; ++i)
    path[end + i] = loader_name[i];
}

static int Protection(const ElfW(Phdr) * segment) {
  return ((segment->p_flags & PF_R) != 0 ? PROT_READ : 0) |
         ((segment->p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
         ((segment->p_flags & PF_X) != 0 ? PROT_EXEC : 0);
}

static int Failed(long address) { return address < 0 && address > -4096; }

/* Maps a segment at `base`, and zeros behind what the file has of it. */
static int MapSegment(long file, uintptr_t base, const ElfW(Phdr) * segment,
                      uintptr_t page) {
  const uintptr_t first = (base + segment->p_vaddr) & ~(page - 1);
  const uintptr_t filled = base + segment->p_vaddr + segment->p_filesz;
  const uintptr_t end = base + segment->p_vaddr + segment->p_memsz;
  const uintptr_t whole = (filled + page - 1) & ~(page - 1);
  const int protection = Protection(segment);
  if (Failed(Call(SYS_mmap, (long)first, (long)(filled - first), protection,
                  MAP_PRIVATE | MAP_FIXED, file,
                  (long)(segment->p_offset & ~(page - 1))))) {
    return 0;
  }
  if (end <= filled) return 1;
  /* To the end of the page, as the kernel does: the loader's first memory. */
  for (volatile char* at = (volatile char*)filled; (uintptr_t)at < whole;
       ++at) {
    *at = 0;
  }
  return end <= whole ||
         !Failed(Call(SYS_mmap, (long)whole, (long)(end - whole), protection,
                      MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0));
}

/* Maps the loader; where it lies. */
static uintptr_t MapLoader(const char* path, uintptr_t page, uintptr_t* entry) {
  const long file =
      Call(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
  if (file < 0) Fail("a part of the installation is missing: ", path);
  _Alignas(16) char start[4096];
  const long n =
      Call(SYS_pread64, file, (long)start, (long)sizeof start, 0, 0, 0);
  const ElfW(Ehdr)* header = (const ElfW(Ehdr)*)start;
  const ElfW(Phdr)* segments = (const ElfW(Phdr)*)(start + header->e_phoff);
  if (n < (long)sizeof *header || header->e_ident[0] != ELFMAG0 ||
      (char*)(segments + header->e_phnum) > start + n) {
    Fail("no loader: ", path);
  }
  uintptr_t size = 0;
  for (int i = 0; i < header->e_phnum; ++i) {
    const uintptr_t end = segments[i].p_vaddr + segments[i].p_memsz;
    if (segments[i].p_type == PT_LOAD && end > size) size = end;
  }
  const long base = Call(SYS_mmap, 0, (long)size, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (Failed(base)) Fail("no memory for ", path);
  for (int i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type == PT_LOAD &&
        !MapSegment(file, (uintptr_t)base, &segments[i], page)) {
      Fail("could not map ", path);
    }
  }
  Call(SYS_close, file, 0, 0, 0, 0, 0);
  *entry = (uintptr_t)base + header->e_entry;
  return (uintptr_t)base;
}

static void CopyHeaders(void) {
  const uintptr_t base = (uintptr_t)&__ehdr_start;
  const ElfW(Phdr)* from = (const ElfW(Phdr)*)(base + __ehdr_start.e_phoff);
  if (__ehdr_start.e_phnum > MOST_HEADERS) Fail("too many program headers", "");
  /* By this one, the first, the loader learns where the program lies. */
  headers[0].p_type = PT_PHDR;
  headers[0].p_vaddr = (uintptr_t)headers - base;
  headers[1].p_type = PT_INTERP;
  headers[1].p_vaddr = (uintptr_t)loader_name - base;
  headers[1].p_memsz = sizeof loader_name;
  for (int i = 0; i < __ehdr_start.e_phnum; ++i) {
    headers[ADDED + i] = from[i];
    if (from[i].p_type == PT_PHDR) headers[ADDED + i].p_type = PT_NULL;
  }
}

/* Called by nanwatch_start with the stack that the kernel made: argc, argv, the
 * environment, and the auxiliary vector, from which the loader learns what to
 * load. Returns where the loader starts. */
__attribute__((used, visibility("hidden"))) uintptr_t nanwatch_map_loader(
    uintptr_t* stack) {
  uintptr_t* at = stack + 1 + stack[0] + 1; /* behind argc and argv */
  while (*at != 0) ++at;
  ElfW(auxv_t)* const values = (ElfW(auxv_t)*)(at + 1);
  uintptr_t page = 4096;
  for (ElfW(auxv_t)* v = values; v->a_type != AT_NULL; ++v) {
    if (v->a_type == AT_PAGESZ) page = v->a_un.a_val;
  }
  char path[PATH_MAX];
  FindLoader(path, sizeof path);
  uintptr_t entry = 0;
  const uintptr_t loader = MapLoader(path, page, &entry);
  CopyHeaders();
  for (ElfW(auxv_t)* v = values; v->a_type != AT_NULL; ++v) {
    if (v->a_type == AT_PHDR) v->a_un.a_val = (uintptr_t)headers;
    if (v->a_type == AT_PHNUM) v->a_un.a_val = __ehdr_start.e_phnum + ADDED;
    if (v->a_type == AT_BASE) v->a_un.a_val = loader;
    if (v->a_type == AT_ENTRY) v->a_un.a_val = (uintptr_t)_start;
  }
  return entry;
}
