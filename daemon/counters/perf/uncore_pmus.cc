#include "daemon/counters/perf/uncore_pmus.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>

#include "daemon/counters/fact_files.h"
#include "kernels/base/cpu_list.h"

namespace tinyprof {
namespace {

namespace fs = std::filesystem;

constexpr double kLineBytes = 64;
// No controller's counter stands for less or for more: they count bursts, or units of at most KiBs.
constexpr double kLeastBytesPerCount = 1.0 / 8;
constexpr double kMostBytesPerCount = 1024 * 1024;

tl::unexpected<Error> BadEvent(const std::string& what) {
  return Fail(ErrorCode::kInvalidArgument, "BAD_UNCORE_EVENT", what, {{"got", what}});
}

tl::unexpected<Error> NoUncore(const std::string& what) {
  return Fail(ErrorCode::kFailedPrecondition, "NO_UNCORE", what);
}

template <class T>
std::optional<T> ParseAll(std::string_view text, auto... base) {
  T value{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, base...);
  const bool all =
      !text.empty() && parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  return all ? std::optional<T>(value) : std::nullopt;
}

std::optional<uint64_t> ParseValue(std::string_view text) {
  return text.starts_with("0x") ? ParseAll<uint64_t>(text.substr(2), 16)
                                : ParseAll<uint64_t>(text, 10);
}

// The part of `text` before `separator`, which goes from `text` with it.
std::string_view TakeUntil(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

uint64_t* Word(UncoreEvent& event, std::string_view name) {
  if (name == "config") {
    return &event.config;
  }
  if (name == "config1") {
    return &event.config1;
  }
  return name == "config2" ? &event.config2 : nullptr;
}

// Spreads `value` over the ranges of a format, "config:0-7,32-35", the low bits first.
Status SetBits(UncoreEvent& event, std::string_view format, uint64_t value) {
  const std::string all(format);
  uint64_t* word = Word(event, TakeUntil(format, ':'));
  if (word == nullptr || format.empty()) {
    return BadEvent(all);
  }
  while (!format.empty()) {
    std::string_view range = TakeUntil(format, ',');
    const std::optional<unsigned> first = ParseAll<unsigned>(TakeUntil(range, '-'), 10);
    const std::optional<unsigned> last = range.empty() ? first : ParseAll<unsigned>(range, 10);
    if (!first.has_value() || !last.has_value() || *first > *last || *last > 63) {
      return BadEvent(all);
    }
    for (unsigned bit = *first; bit <= *last; ++bit) {
      *word |= (value & 1U) << bit;
      value >>= 1U;
    }
  }
  return value == 0 ? Status{} : BadEvent(all + " is too narrow for its value");
}

std::map<std::string, std::string> ReadFormats(const fs::path& pmu) {
  std::map<std::string, std::string> formats;
  std::error_code error;
  fs::directory_iterator files(pmu / "format", error);
  for (; !error && files != fs::directory_iterator(); files.increment(error)) {
    formats[files->path().filename().string()] = ReadTextFile(files->path().string()).value_or("");
  }
  return formats;
}

Result<UncoreEvent> ReadEvent(const fs::path& file,
                              const std::map<std::string, std::string>& formats) {
  const std::string path = file.string();
  TINYPROF_ASSIGN_OR_RETURN(UncoreEvent event,
                            EncodeUncoreEvent(ReadTextFile(path).value_or(""), formats));
  TINYPROF_ASSIGN_OR_RETURN(event.bytes_per_count,
                            BytesPerCount(ReadTextFile(path + ".scale").value_or(""),
                                          ReadTextFile(path + ".unit").value_or("")));
  event.name = file.filename().string();
  return event;
}

// Servers count CAS commands, some by two schedulers ("cas_count_read_sch0"); client CPUs count
// data ("data_reads", later "data_read").
bool Reads(const std::string& event) {
  return event.starts_with("cas_count_read") || event == "data_read" || event == "data_reads";
}
bool Writes(const std::string& event) {
  return event.starts_with("cas_count_write") || event == "data_write" || event == "data_writes";
}

Status ReadIntelEvents(const fs::path& folder, MemoryPmu& pmu) {
  const std::map<std::string, std::string> formats = ReadFormats(folder);
  std::vector<fs::path> files;
  std::error_code error;
  fs::directory_iterator entries(folder / "events", error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    files.push_back(entries->path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    const std::string name = file.filename().string();
    if (name.find('.') != std::string::npos || (!Reads(name) && !Writes(name))) {
      continue;
    }
    TINYPROF_ASSIGN_OR_RETURN(UncoreEvent event, ReadEvent(file, formats));
    (Reads(name) ? pmu.reads : pmu.writes).push_back(std::move(event));
  }
  return {};
}

Status AddAmdEvents(const fs::path& folder, MemoryPmu& pmu) {
  const std::map<std::string, std::string> formats = ReadFormats(folder);
  TINYPROF_ASSIGN_OR_RETURN(UncoreEvent read,
                            EncodeUncoreEvent("event=0x0a,rdwrmask=0x1", formats));
  TINYPROF_ASSIGN_OR_RETURN(UncoreEvent write,
                            EncodeUncoreEvent("event=0x0a,rdwrmask=0x2", formats));
  read.name = "umc_cas_cmd.rd";
  write.name = "umc_cas_cmd.wr";
  read.bytes_per_count = write.bytes_per_count = kLineBytes;
  pmu.reads = {std::move(read)};
  pmu.writes = {std::move(write)};
  return {};
}

Result<MemoryPmu> ReadPmu(const fs::path& folder) {
  MemoryPmu pmu{.name = folder.filename().string()};
  const auto type = ReadIntFile<uint32_t>((folder / "type").string());
  if (!type.has_value()) {
    return NoUncore(pmu.name + " has no type");
  }
  pmu.type = *type;
  TINYPROF_ASSIGN_OR_RETURN(pmu.cpus,
                            ParseCpuList(ReadTextFile((folder / "cpumask").string()).value_or("")));
  TINYPROF_RETURN_IF_ERROR(pmu.name.starts_with("amd_umc") ? AddAmdEvents(folder, pmu)
                                                           : ReadIntelEvents(folder, pmu));
  return pmu;
}

bool IsFreeRunning(const MemoryPmu& pmu) {
  return pmu.name.find("free_running") != std::string::npos;
}

std::vector<fs::path> PmuFolders(const std::string& root) {
  std::vector<fs::path> folders;
  std::error_code error;
  fs::directory_iterator entries(root + "/sys/bus/event_source/devices", error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    folders.push_back(entries->path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

}  // namespace

Result<UncoreEvent> EncodeUncoreEvent(std::string_view terms,
                                      const std::map<std::string, std::string>& formats) {
  UncoreEvent event;
  if (terms.empty()) {
    return BadEvent("an empty event");
  }
  while (!terms.empty()) {
    std::string_view value = TakeUntil(terms, ',');
    const std::string name(TakeUntil(value, '='));
    // A flag stands for 1.
    const std::optional<uint64_t> number = value.empty() ? 1 : ParseValue(value);
    const auto format = formats.find(name);
    if (!number.has_value() || format == formats.end()) {
      return BadEvent(fmt::format("{}={}", name, value));
    }
    TINYPROF_RETURN_IF_ERROR(SetBits(event, format->second, *number));
  }
  return event;
}

Result<double> BytesPerCount(std::string_view scale, std::string_view unit) {
  struct Unit {
    std::string_view name;
    double bytes;
  };
  constexpr std::array kUnits = {Unit{"Bytes", 1}, Unit{"KiB", 1024}, Unit{"MiB", 1024.0 * 1024},
                                 Unit{"GiB", 1024.0 * 1024 * 1024}};
  const auto known = std::find_if(kUnits.begin(), kUnits.end(),
                                  [&](const Unit& candidate) { return candidate.name == unit; });
  const std::optional<double> factor = ParseAll<double>(scale);
  if (known != kUnits.end() && factor.has_value()) {
    const double bytes = *factor * known->bytes;
    if (bytes >= kLeastBytesPerCount && bytes <= kMostBytesPerCount) return bytes;
  }
  return BadEvent(fmt::format("scale '{}' and unit '{}' give no bytes", scale, unit));
}

Result<std::vector<MemoryPmu>> FindMemoryPmus(const std::string& root) {
  std::vector<MemoryPmu> pmus;
  bool has_fabric = false;
  for (const fs::path& folder : PmuFolders(root)) {
    const std::string name = folder.filename().string();
    has_fabric = has_fabric || name == "amd_df";
    if (name.starts_with("uncore_imc") || name.starts_with("amd_umc")) {
      TINYPROF_ASSIGN_OR_RETURN(MemoryPmu pmu, ReadPmu(folder));
      pmus.push_back(std::move(pmu));
    }
  }
  // Free-running counters see the same traffic again.
  const bool programmable = std::any_of(pmus.begin(), pmus.end(), [](const MemoryPmu& pmu) {
    return !IsFreeRunning(pmu) && !pmu.reads.empty();
  });
  std::erase_if(pmus, [&](const MemoryPmu& pmu) {
    return IsFreeRunning(pmu) == programmable || (pmu.reads.empty() && pmu.writes.empty());
  });
  for (const MemoryPmu& pmu : pmus) {
    if (pmu.reads.empty() || pmu.writes.empty()) {
      return NoUncore(pmu.name +
                      " counts only one of reads and writes, so the traffic of the "
                      "socket is not known");
    }
  }
  if (pmus.empty() && has_fabric) {
    return NoUncore(
        "this AMD CPU's kernel offers the data fabric's counters (amd_df), which are too few for "
        "all channels at a time; amd_umc, from Zen 4 and Linux 6.7 on, has enough");
  }
  if (pmus.empty()) {
    return NoUncore(
        "the kernel offers no counters of memory controllers (a virtual machine, or a CPU or "
        "kernel "
        "without them)");
  }
  return pmus;
}

}  // namespace tinyprof
