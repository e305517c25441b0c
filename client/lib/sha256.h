// SHA-256 (FIPS 180-4), to name an uploaded file by its content.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tinyprof::client {

class Sha256 {
 public:
  // Appends bytes to the message.
  void Update(std::string_view bytes);
  // Ends the message; 64 lower-case hex digits. Call it once.
  std::string HexDigest();

 private:
  void Compress(const uint8_t* block);

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> block_ = {};
  size_t filled_ = 0;
  uint64_t length_bytes_ = 0;
};

}  // namespace tinyprof::client
