#include "daemon/rpc/daemon.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "daemon/convert/host.h"
#include "daemon/jobs/host_diagnosis.h"
#include "daemon/jobs/model_reader.h"
#include "daemon/jobs/stored_models.h"
#include "daemon/model/model_store.h"
#include "daemon/ops/lock.h"
#include "daemon/ops/signals.h"
#include "daemon/ops/standard_streams.h"
#include "daemon/roofline/host.h"
#include "daemon/rpc/affinity.h"
#include "daemon/rpc/border.h"
#include "daemon/rpc/counter_probe.h"
#include "daemon/rpc/host_service.h"
#include "daemon/rpc/listen_address.h"
#include "daemon/rpc/model_service.h"
#include "daemon/rpc/profiler_service.h"
#include "daemon/rpc/server.h"
#include "daemon/store/store.h"
#include "kernels/base/resource_limits.h"
#include "kernels/base/thread_supply.h"
#include "kernels/runtime/isa.h"

namespace tinyprof {
namespace {

// Between the end of the last run and the end of the calls that watch it.
constexpr std::chrono::milliseconds kCallGrace{2000};
// Open files: some 20 for gRPC, the store, the lock and signals, 10 to start a worker, the rest for
// calls. Address space: the stacks and heap arenas of gRPC's threads.
constexpr ResourceNeeds kNeeds{.open_files = 64, .address_space_bytes = int64_t{3} << 29};
// Some 12 of gRPC and of our own, one for each CPU that a worker measures on, the rest for calls.
constexpr int kNeededThreads = 48;

class Daemon {
 public:
  Daemon(const DaemonOptions& options, CpuSplit cpus)
      : options_(options),
        cpus_(std::move(cpus)),
        logger_(STDERR_FILENO, options.config.log_format, options.config.log_level),
        border_(logger_) {}

  Status Start();
  // Blocks until a signal ends the daemon.
  void Serve();

 private:
  Status OpenState();
  void MakeQueue();
  v1::Host Host() const;
  void OnSignal(int signal);
  void Notify(std::string_view state);
  void WarnOfHiddenSockets() const;
  void LogRun(const v1::Run& run) const;

  const DaemonOptions& options_;
  const CpuSplit cpus_;
  Logger logger_;
  Border border_;
  std::optional<FileLock> state_lock_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<ModelReader> model_reader_;
  std::unique_ptr<ModelStore> model_store_;
  std::unique_ptr<StoredModels> stored_models_;
  std::unique_ptr<JobQueue> queue_;
  std::unique_ptr<CounterProbe> counters_;
  std::unique_ptr<HostDiagnosis> diagnosis_;
  std::unique_ptr<ProfilerService> profiler_;
  std::unique_ptr<ModelService> models_;
  std::unique_ptr<HostService> host_;
  std::unique_ptr<RpcServer> server_;

  std::mutex mutex_;
  std::condition_variable stopping_changed_;
  bool stopping_ = false;
};

Status Daemon::OpenState() {
  const std::filesystem::path directory(options_.config.state_dir);
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    return Fail(ErrorCode::kFailedPrecondition, "STATE_DIRECTORY",
                fmt::format("cannot make the state directory {}: {}; pass --state-dir",
                            directory.string(), error.message()),
                {{"state_dir", directory.string()}});
  }
  // Before the store is opened: the runs that go on in it may be another daemon's.
  TINYPROF_ASSIGN_OR_RETURN(FileLock lock, FileLock::OfState(directory.string()));
  state_lock_.emplace(std::move(lock));
  TINYPROF_ASSIGN_OR_RETURN(store_, Store::Open((directory / "tinyprof.db").string(),
                                                {.max_run_count = options_.config.max_runs}));
  TINYPROF_ASSIGN_OR_RETURN(const int64_t interrupted_count, store_->runs().FailInterrupted());
  if (interrupted_count > 0) {
    logger_.Warn("runs_interrupted", {{"count", std::to_string(interrupted_count)}});
  }
  model_reader_ =
      std::make_unique<ModelReader>(*options_.runner, options_.config.memory_limit_bytes);
  TINYPROF_ASSIGN_OR_RETURN(
      model_store_,
      ModelStore::Open((directory / "models").string(), options_.config.upload_limit_bytes,
                       [this](int fd) { return model_reader_->Check(fd); }));
  stored_models_ = std::make_unique<StoredModels>(*model_store_, *model_reader_);
  return {};
}

void Daemon::MakeQueue() {
  JobQueueOptions options;
  options.measurement_cpus = cpus_.measurement;
  options.max_waiting_jobs = static_cast<size_t>(options_.config.queue_limit);
  options.memory_limit_bytes = options_.config.memory_limit_bytes;
  options.max_run_timeout = options_.config.max_run_time;
  options.scratch_directory = options_.config.state_dir;
  JobQueueDependencies dependencies;
  dependencies.store = store_.get();
  dependencies.runner = options_.runner;
  dependencies.models = stored_models_.get();
  dependencies.host = [this] { return Host(); };
  dependencies.on_run_changed = [this](const v1::Run& run) { LogRun(run); };
  dependencies.on_calibrated = [this](const worker::CountersResult& counters) {
    counters_->Keep(counters);
  };
  dependencies.on_trouble = [this](std::string_view event, const Error& error) {
    logger_.Failed(event, error);
  };
  queue_ = std::make_unique<JobQueue>(std::move(options), std::move(dependencies));
  counters_ = std::make_unique<CounterProbe>(
      [this](const CounterProbe::Abandoned& abandoned) { return queue_->ProbeCounters(abandoned); },
      logger_);
}

Status Daemon::Start() {
  TINYPROF_RETURN_IF_ERROR(OpenState());
  MakeQueue();
  profiler_ = std::make_unique<ProfilerService>(*queue_, *stored_models_, *counters_, border_);
  models_ = std::make_unique<ModelService>(*model_store_, *stored_models_, border_);
  diagnosis_ = std::make_unique<HostDiagnosis>(*options_.runner, *store_, cpus_.measurement,
                                               options_.config.memory_limit_bytes);
  host_ = std::make_unique<HostService>(
      *queue_, [this] { return Host(); }, *counters_, *diagnosis_, border_);
  TINYPROF_ASSIGN_OR_RETURN(server_,
                            RpcServer::Start({options_.config.listen, options_.config.socket_mode},
                                             {profiler_.get(), models_.get(), host_.get()}));
  WarnOfHiddenSockets();
  counters_->Start();
  server_->SetServing(true);
  const std::string addresses = fmt::format("{}", fmt::join(server_->addresses(), ", "));
  WriteToStderr(fmt::format("tinyprofd {} ready on {}\n", options_.version, addresses));
  Notify("READY=1\nSTATUS=serving at " + addresses);
  return {};
}

void Daemon::Serve() {
  const SignalWatcher watcher([this](int signal) { OnSignal(signal); });
  {
    std::unique_lock lock(mutex_);
    stopping_changed_.wait(lock, [this] { return stopping_; });
  }
  Notify("STOPPING=1\nSTATUS=letting the run in progress end");
  logger_.Info("draining", {{"jobs", std::to_string(queue_->depth())}});
  server_->SetServing(false);
  model_reader_->Stop();
  diagnosis_->Stop();
  queue_->Drain(options_.config.drain_timeout);
  server_->Shutdown(kCallGrace);
  logger_.Info("stopped");
}

// On the watcher's thread, so that a second signal is heard while the first drains.
void Daemon::OnSignal(int signal) {
  if (signal == SIGHUP) {
    logger_.set_level(options_.reload_log_level());
    logger_.Info("reloaded", {{"keys", "log_level"}});
    return;
  }
  std::unique_lock lock(mutex_);
  const bool is_second = std::exchange(stopping_, true);
  lock.unlock();
  stopping_changed_.notify_all();
  if (is_second) queue_->Drain(std::chrono::nanoseconds(0));
}

v1::Host Daemon::Host() const {
  v1::Host host = ToProto(ReadHostInfo("/", cpus_.measurement));
  for (const int cpu : cpus_.measurement) host.add_measurement_cpus(cpu);
  for (const Isa isa : HostIsas()) host.add_isas(std::string(Name(isa)));
  host.set_daemon_version(std::string(options_.version));
  if (const auto known = counters_->Known()) {
    host.set_papi_version(known->papi_version());
    host.set_pmu(known->pmu());
    if (known->pmu().empty()) (*host.mutable_unknown())["pmu"] = known->counters().reason();
  } else {
    (*host.mutable_unknown())["pmu"] = "counters were not calibrated yet";
  }
  return host;
}

void Daemon::WarnOfHiddenSockets() const {
  if ((options_.config.socket_mode & S_IWOTH) == 0) return;
  for (const std::string& address : server_->addresses()) {
    const std::string directory = ClosedDirectoryOf(UnixPathOf(address));
    if (directory.empty()) continue;
    logger_.Warn("socket_out_of_reach",
                 {{"address", address},
                  {"directory", directory},
                  {"hint", "socket_mode is for all users, who may not enter the directory"}});
  }
}

void Daemon::Notify(std::string_view state) {
  if (const Status sent = options_.notifier.Send(state); !sent) {
    logger_.Failed("not_notified", sent.error());
  }
}

void Daemon::LogRun(const v1::Run& run) const {
  Logger::Fields fields = {{"run_id", run.id()}, {"state", v1::RunState_Name(run.state())}};
  if (run.has_error()) {
    fields.emplace_back("error.reason", run.error().reason());
    fields.emplace_back("error.message", run.error().message());
  }
  logger_.Info("run_changed", fields);
}

}  // namespace

Status CheckAgainstThisHost(const Config& config) {
  TINYPROF_RETURN_IF_ERROR(CheckResourceLimits("tinyprofd", kNeeds));
  TINYPROF_RETURN_IF_ERROR(CheckThreadSupply("tinyprofd", kNeededThreads));
  for (const std::string& address : config.listen) {
    TINYPROF_RETURN_IF_ERROR(CheckAddress(address));
  }
  TINYPROF_RETURN_IF_ERROR(SplitCpusOfThisMachine(config.cpus));
  return {};
}

std::vector<int> MeasurementCpus(const Config& config) {
  const Result<CpuSplit> split = SplitCpusOfThisMachine(config.cpus);
  return split.has_value() ? split->measurement : config.cpus;
}

Status RunDaemon(const DaemonOptions& options) {
  // All that the daemon writes is its owner's alone; the socket gets socket_mode.
  umask(0077);
  TINYPROF_ASSIGN_OR_RETURN(const FileLock lock, FileLock::OfHost(options.config.lock_file));
  TINYPROF_ASSIGN_OR_RETURN(CpuSplit cpus, SplitCpusOfThisMachine(options.config.cpus));
  // Before any thread, so that all of them, gRPC's too, keep off the CPUs that measure.
  TINYPROF_RETURN_IF_ERROR(BindThread(cpus.housekeeping));
  Daemon daemon(options, std::move(cpus));
  TINYPROF_RETURN_IF_ERROR(daemon.Start());
  daemon.Serve();
  return {};
}

}  // namespace tinyprof
