// The identity of a lab machine: what must be equal for two measurements to be comparable.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/probes/caches.h"

namespace tinyprof {

// An absent field has its reason in `unknown`, under the field's name.
struct HostInfo {
  std::optional<std::string> cpu;                    // model name
  std::optional<std::string> vendor;                 // "GenuineIntel"
  std::optional<std::string> family_model_stepping;  // "6-143-8"; see CpuInfo
  std::optional<std::string> microcode;
  std::optional<std::string> kernel;    // release
  std::optional<std::string> governor;  // of the CPUs that measure; "a, b" where they differ
  std::optional<std::string> smt;       // "on" or "off"
  std::optional<std::string> hostname;
  std::optional<bool> virtualized;
  std::optional<int64_t> memory_bytes;
  std::optional<int> cpu_count;  // CPUs online
  std::vector<Cache> caches;     // data caches of the first that measures, innermost first
  std::map<std::string, std::string> unknown;  // field name -> one sentence
};

// Reads proc/ and sys/ below `root`, "/" but for tests. `cpus`: those that measure, at least one.
// Never fails.
HostInfo ReadHostInfo(const std::filesystem::path& root, const std::vector<int>& cpus = {0});

// 16 hexadecimal digits (64-bit FNV-1a) over every field but the host name, absent ones as such;
// memory counts in whole GiB, since the kernel keeps a varying part for itself. Equal on every
// machine and version for equal fields.
std::string Fingerprint(const HostInfo& host);

// MemAvailable in bytes, or nothing when the kernel does not tell.
std::optional<int64_t> ReadAvailableMemory(const std::filesystem::path& root);

}  // namespace tinyprof
