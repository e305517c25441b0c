#include "daemon/convert/host.h"

namespace tinyprof {

v1::Host ToProto(const HostInfo& host) {
  v1::Host message;
  message.set_fingerprint(Fingerprint(host));
  message.set_cpu(host.cpu.value_or(""));
  message.set_vendor(host.vendor.value_or(""));
  message.set_family_model_stepping(host.family_model_stepping.value_or(""));
  message.set_microcode(host.microcode.value_or(""));
  message.set_kernel(host.kernel.value_or(""));
  message.set_governor(host.governor.value_or(""));
  message.set_smt(host.smt.value_or(""));
  message.set_hostname(host.hostname.value_or(""));
  message.set_virtualized(host.virtualized.value_or(false));
  message.set_memory_bytes(host.memory_bytes.value_or(0));
  message.set_cpu_count(host.cpu_count.value_or(0));
  for (const Cache& cache : host.caches) {
    v1::Cache& added = *message.add_caches();
    added.set_level(cache.level);
    added.set_size_bytes(cache.byte_size);
    added.set_shared_by_cpus(static_cast<int32_t>(cache.cpus.size()));
  }
  message.mutable_unknown()->insert(host.unknown.begin(), host.unknown.end());
  return message;
}

}  // namespace tinyprof
