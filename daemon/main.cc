// tinyprofd: command line and configuration in, exit code out.
#include <fmt/format.h>

#include <exception>
#include <string>
#include <string_view>

#include "daemon/ops/config.h"
#include "daemon/ops/flags.h"
#include "daemon/ops/signals.h"
#include "daemon/ops/standard_streams.h"
#include "daemon/rpc/daemon.h"
#include "daemon/worker/worker_process.h"

namespace tinyprof {
namespace {

enum ExitCode { kOk = 0, kFailed = 1, kUsage = 2, kBadConfig = 78 };

void Complain(std::string_view message) { WriteToStderr(fmt::format("tinyprofd: {}\n", message)); }

int Print(std::string_view text) {
  const Status written = WriteToStdout(text);
  if (written) return kOk;
  Complain(written.error().message);
  return kFailed;
}

int Serve(const LoadedConfig& loaded, const ConfigFlags& flags, const Environment& environment) {
  WorkerProcess runner({});
  const LogLevel level = loaded.config.log_level;
  const auto reload_log_level = [&] {
    const LoadedConfig again = LoadConfig(flags, environment);
    return again.errors.empty() ? again.config.log_level : level;
  };
  const Status served = RunDaemon({.config = loaded.config,
                                   .version = TINYPROF_VERSION,
                                   .runner = &runner,
                                   .notifier = Notifier(environment.variable("NOTIFY_SOCKET")),
                                   .reload_log_level = reload_log_level});
  if (served) return kOk;
  Complain(served.error().message);
  return kFailed;
}

int Main(int argc, const char* const* argv) {
  const Result<Flags> flags = ParseFlags(argc, argv);
  if (!flags) {
    Complain(flags.error().message);
    return kUsage;
  }
  if (flags->help) return Print(*flags->help);
  if (flags->version) return Print(fmt::format("tinyprofd {}\n", TINYPROF_VERSION));
  const Environment environment = ProcessEnvironment();
  LoadedConfig loaded = LoadConfig(flags->config, environment);
  for (const std::string& error : loaded.errors) Complain(error);
  if (!loaded.errors.empty()) return kBadConfig;
  // Before anything can start a thread, and not before the file was read, which may lie on a disk
  // that does not answer.
  BlockSignals();
  if (const Status fits = CheckAgainstThisHost(loaded.config); !fits) {
    Complain(fits.error().message);
    return kBadConfig;
  }
  if (flags->print_config) {
    loaded.config.cpus = MeasurementCpus(loaded.config);
    return Print(PrintConfig(loaded));
  }
  if (flags->check_config) return kOk;
  return Serve(loaded, flags->config, environment);
}

}  // namespace
}  // namespace tinyprof

int main(int argc, char** argv) {
  tinyprof::OpenStandardStreams();
  tinyprof::IgnoreWriteSignals();
  try {
    return tinyprof::Main(argc, argv);
  } catch (const std::exception& exception) {
    tinyprof::Complain(exception.what());
    return tinyprof::kFailed;
  }
}
