// SHA-256 (FIPS 180-4), to name an uploaded file by its content.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace tinyprof::client {

class Sha256 {
 public:
  Sha256();
  ~Sha256();

  // Appends bytes to the message.
  void Update(std::string_view bytes);
  // Ends the message; 64 lower-case hex digits. Call it once.
  std::string HexDigest();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tinyprof::client
