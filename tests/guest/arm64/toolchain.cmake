# Debian's arm64 cross compiler, with libraries from the folder that fetch_packages.sh unpacked.
# The C and C++ libraries to link against come with the compiler; the folder has all others.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
find_program(TINYPROF_GNU_LD aarch64-linux-gnu-ld.bfd REQUIRED)

set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TINYPROF_GUEST_SYSROOT)
set(CMAKE_FIND_ROOT_PATH ${TINYPROF_GUEST_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# libpapi.so needs libpfm.so.
string(APPEND CMAKE_EXE_LINKER_FLAGS_INIT
       " -Wl,-rpath-link,${TINYPROF_GUEST_SYSROOT}/usr/lib/aarch64-linux-gnu")
