// Which sanitizers this build runs under. The build says so: compilers name it differently, and the
// ThreadSanitizer build hides its own name from protobuf (proto/CMakeLists.txt).
#pragma once

namespace tinyprof {

#if defined(TINYPROF_SANITIZE_ADDRESS)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

#if defined(TINYPROF_SANITIZE_THREAD)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif

}  // namespace tinyprof
