// What the kernel counts as this process's memory, kept small.

#ifndef NANWATCH_BASE_RESIDENT_H_
#define NANWATCH_BASE_RESIDENT_H_

#include <cstddef>

namespace nanwatch {

// Returns this process's resident memory; 0: not known.
size_t ResidentBytes();

// Call first in main: few malloc arenas, since by default each of the threads
// that gRPC makes gets one of its own, and each keeps what it once held. What a
// batch needed stays for the next one, up to 4 MB an arena: given back each
// time, every batch would pay for page faults.
void SetUpMalloc();

// Gives the kernel back what malloc holds and nobody uses. Takes up to 0.1 s a
// GB.
void GiveBackFreeMemory();

// Call once when everything runs. Starting up touches most of the code of some
// ninety shared libraries (relocation, constructors), which is then resident
// for ever though never run again. This unmaps the pages of code; those that
// are used come back from the page cache at a minor fault each.
void ForgetStartupCode();

}  // namespace nanwatch

#endif  // NANWATCH_BASE_RESIDENT_H_
