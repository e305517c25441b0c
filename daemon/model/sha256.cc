#include "daemon/model/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

namespace tinyprof {

Result<std::string> Sha256OfFd(int fd) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        &EVP_MD_CTX_free);
  if (!context || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1) {
    return Fail(ErrorCode::kInternal, "NO_SHA256", "the crypto library has no SHA-256");
  }
  std::vector<unsigned char> block(1 << 16);
  off_t offset = 0;
  while (true) {
    const ssize_t got = ::pread(fd, block.data(), block.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return Fail(ErrorCode::kDataLoss, "CANNOT_READ",
                  fmt::format("cannot read the model: {}", std::strerror(errno)));
    }
    if (got == 0) break;
    EVP_DigestUpdate(context.get(), block.data(), static_cast<size_t>(got));
    offset += got;
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  EVP_DigestFinal_ex(context.get(), digest, &length);
  std::string hex;
  for (unsigned int i = 0; i < length; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

}  // namespace tinyprof
