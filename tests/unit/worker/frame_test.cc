#include "daemon/worker/frame.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <thread>

#include "daemon/worker/unique_fd.h"
#include "tinyprof/v1/run.pb.h"

namespace tinyprof {
namespace {

using std::chrono::milliseconds;

SteadyTime After(milliseconds delay) { return std::chrono::steady_clock::now() + delay; }

struct SocketPair {
  SocketPair() {
    int fds[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    near = UniqueFd(fds[0]);
    far = UniqueFd(fds[1]);
  }
  void SendRaw(std::string_view bytes) const {
    EXPECT_EQ(::send(far.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  UniqueFd near;
  UniqueFd far;
};

v1::Progress ProgressOf(std::string phase, int done) {
  v1::Progress progress;
  progress.set_phase(std::move(phase));
  progress.set_done(done);
  return progress;
}

TEST(FrameTest, LengthIsFourBytesLittleEndian) {
  const SocketPair sockets;
  // Field 1 (phase), two bytes: 0x0a 0x02 'h' 'i'.
  ASSERT_TRUE(SendFrame(sockets.far.get(), ProgressOf("hi", 0), After(milliseconds(1000))));
  char bytes[16];
  const ssize_t got = ::recv(sockets.near.get(), bytes, sizeof bytes, 0);
  EXPECT_EQ(std::string(bytes, static_cast<size_t>(got)), std::string("\4\0\0\0\x0a\2hi", 8));
}

TEST(FrameTest, SecondFrameStaysInTheSocket) {
  const SocketPair sockets;
  ASSERT_TRUE(SendFrame(sockets.far.get(), ProgressOf("one", 1), After(milliseconds(1000))));
  ASSERT_TRUE(SendFrame(sockets.far.get(), ProgressOf("two", 2), After(milliseconds(1000))));
  v1::Progress progress;
  ASSERT_TRUE(ReceiveFrame(sockets.near.get(), progress, After(milliseconds(1000))));
  EXPECT_EQ(progress.phase(), "one");
  ASSERT_TRUE(ReceiveFrame(sockets.near.get(), progress, After(milliseconds(1000))));
  EXPECT_EQ(progress.phase(), "two");
}

TEST(FrameTest, LargeFrameGoesThroughASmallSocketBuffer) {
  const SocketPair sockets;
  const std::string text(5'000'000, 'x');
  std::thread sender([&] {
    EXPECT_TRUE(SendFrame(sockets.far.get(), ProgressOf(text, 7), After(milliseconds(20000))));
  });
  v1::Progress progress;
  const Status received = ReceiveFrame(sockets.near.get(), progress, After(milliseconds(20000)));
  sender.join();
  ASSERT_TRUE(received.has_value());
  EXPECT_EQ(progress.phase(), text);
  EXPECT_EQ(progress.done(), 7);
}

TEST(FrameTest, EmptyMessageIsAFrame) {
  const SocketPair sockets;
  ASSERT_TRUE(SendFrame(sockets.far.get(), v1::Progress(), After(milliseconds(1000))));
  v1::Progress progress = ProgressOf("old", 1);
  ASSERT_TRUE(ReceiveFrame(sockets.near.get(), progress, After(milliseconds(1000))));
  EXPECT_EQ(progress.phase(), "");
}

TEST(FrameTest, RefusesToSendWhatIsTooLarge) {
  const SocketPair sockets;
  const v1::Progress progress = ProgressOf(std::string(kMaxFrameBytes + 1, 'x'), 0);
  const Status status = SendFrame(sockets.far.get(), progress, After(milliseconds(1000)));
  EXPECT_EQ(status.error().reason, "FRAME_TOO_LARGE");
}

TEST(FrameTest, RefusesALengthOverTheLimit) {
  const SocketPair sockets;
  sockets.SendRaw("\xff\xff\xff\xff");
  v1::Progress progress;
  const Status status = ReceiveFrame(sockets.near.get(), progress, After(milliseconds(1000)));
  EXPECT_EQ(status.error().reason, "BAD_FRAME");
}

TEST(FrameTest, RefusesBytesThatAreNoMessage) {
  const SocketPair sockets;
  sockets.SendRaw(std::string("\3\0\0\0\x0a\x7f!", 7));
  v1::Progress progress;
  const Status status = ReceiveFrame(sockets.near.get(), progress, After(milliseconds(1000)));
  EXPECT_EQ(status.error().reason, "BAD_FRAME");
}

TEST(FrameTest, SilenceEndsAtTheDeadline) {
  const SocketPair sockets;
  v1::Progress progress;
  sockets.SendRaw(std::string("\4\0", 2));
  EXPECT_EQ(ReceiveFrame(sockets.near.get(), progress, After(milliseconds(20))).error().reason,
            "TIMEOUT");
}

TEST(FrameTest, FullSocketEndsAtTheDeadline) {
  const SocketPair sockets;
  const v1::Progress progress = ProgressOf(std::string(8'000'000, 'x'), 0);
  EXPECT_EQ(SendFrame(sockets.far.get(), progress, After(milliseconds(20))).error().reason,
            "TIMEOUT");
}

TEST(FrameTest, ClosedPeerIsAnErrorAndNoSignal) {
  SocketPair sockets;
  sockets.SendRaw("\4");
  sockets.far.Close();
  v1::Progress progress;
  EXPECT_EQ(ReceiveFrame(sockets.near.get(), progress, After(milliseconds(1000))).error().reason,
            "PEER_GONE");
  EXPECT_EQ(SendFrame(sockets.near.get(), progress, After(milliseconds(1000))).error().reason,
            "PEER_GONE");
}

TEST(FrameDecoderTest, TakesFramesApartByteByByte) {
  const std::string bytes("\4\0\0\0\x0a\2hi\2\0\0\0\x10\5", 14);
  FrameDecoder decoder;
  std::vector<v1::Progress> frames;
  for (const char byte : bytes) {
    decoder.Append({&byte, 1});
    v1::Progress progress;
    const Result<bool> whole = decoder.Next(progress);
    ASSERT_TRUE(whole.has_value());
    if (*whole) frames.push_back(progress);
  }
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].phase(), "hi");
  EXPECT_EQ(frames[1].done(), 5);
  EXPECT_EQ(decoder.pending_byte_count(), 0u);
  EXPECT_EQ(decoder.missing_byte_count(), 4u);
}

TEST(PollTimeoutTest, NoDeadlineWaitsForEverAndAPassedOneNotAtAll) {
  EXPECT_EQ(PollTimeoutMs(SteadyTime::max()), -1);
  EXPECT_EQ(PollTimeoutMs(After(milliseconds(-5))), 0);
  EXPECT_GT(PollTimeoutMs(After(std::chrono::hours(1))), 3'000'000);
}

}  // namespace
}  // namespace tinyprof
