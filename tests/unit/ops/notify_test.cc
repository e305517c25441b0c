#include "daemon/ops/notify.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "tests/unit/ops/temp_dir.h"

namespace tinyprof {
namespace {

// The service manager's end.
class Listener {
 public:
  explicit Listener(const std::string& name) : fd_(socket(AF_UNIX, SOCK_DGRAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    bound_ = bind(fd_, reinterpret_cast<const sockaddr*>(&address), length) == 0;
  }
  ~Listener() { close(fd_); }
  bool bound() const { return bound_; }
  std::string Receive() const {
    char bytes[256];
    const ssize_t size = recv(fd_, bytes, sizeof(bytes), MSG_DONTWAIT);
    return size < 0 ? "nothing" : std::string(bytes, static_cast<size_t>(size));
  }

 private:
  int fd_;
  bool bound_ = false;
};

TEST(Notifier, SendsToAPath) {
  const TempDir dir;
  const Listener listener(dir.File("notify"));
  ASSERT_TRUE(listener.bound());
  ASSERT_TRUE(Notifier(dir.File("notify")).Send("READY=1\nSTATUS=serving").has_value());
  EXPECT_EQ(listener.Receive(), "READY=1\nSTATUS=serving");
  EXPECT_EQ(listener.Receive(), "nothing");
}

TEST(Notifier, SendsToAnAbstractName) {
  const std::string name = "tinyprof-notify-test-" + std::to_string(getpid());
  const Listener listener(std::string(1, '\0') + name);
  ASSERT_TRUE(listener.bound());
  ASSERT_TRUE(Notifier("@" + name).Send("STOPPING=1").has_value());
  EXPECT_EQ(listener.Receive(), "STOPPING=1");
}

TEST(Notifier, IsSilentWithoutAnAddress) {
  EXPECT_TRUE(Notifier(std::nullopt).Send("READY=1").has_value());
}

TEST(Notifier, SaysWhatIsWrongWithAnAddress) {
  const TempDir dir;
  for (const std::string& address : {dir.File("nobody"), std::string(), std::string("@"),
                                     std::string("relative"), "/" + std::string(200, 'x')}) {
    const Status sent = Notifier(address).Send("READY=1");
    ASSERT_FALSE(sent.has_value()) << address;
    EXPECT_EQ(sent.error().reason, "NOTIFY");
  }
}

}  // namespace
}  // namespace tinyprof
