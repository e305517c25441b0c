#include "tests/pmu/stand_in_rules.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/declared_work.h"

namespace tinyprof::stand_in {
namespace {

constexpr int kMaxWords = 32;
constexpr size_t kMaxLineBytes = 512;

struct NamedNumber {
  const char* name;
  int number;
};

constexpr NamedNumber kSignals[] = {
    {"cycles", static_cast<int>(WorkSignal::kCycles)},
    {"instructions", static_cast<int>(WorkSignal::kInstructions)},
    {"flops", static_cast<int>(WorkSignal::kFlops)},
    {"fp_scalar_single", static_cast<int>(WorkSignal::kFpScalarSingle)},
    {"fp_128_single", static_cast<int>(WorkSignal::kFp128Single)},
    {"fp_256_single", static_cast<int>(WorkSignal::kFp256Single)},
    {"fp_512_single", static_cast<int>(WorkSignal::kFp512Single)},
    {"fp_scalar_double", static_cast<int>(WorkSignal::kFpScalarDouble)},
    {"fp_128_double", static_cast<int>(WorkSignal::kFp128Double)},
    {"fp_256_double", static_cast<int>(WorkSignal::kFp256Double)},
    {"fp_512_double", static_cast<int>(WorkSignal::kFp512Double)},
    {"l1d_misses", static_cast<int>(WorkSignal::kL1dMisses)},
    {"l2_misses", static_cast<int>(WorkSignal::kL2Misses)},
    {"l3_misses", static_cast<int>(WorkSignal::kL3Misses)},
};
static_assert(sizeof(kSignals) / sizeof(kSignals[0]) == kWorkSignals);

constexpr NamedNumber kErrnos[] = {
    {"EACCES", EACCES}, {"EAGAIN", EAGAIN}, {"EBUSY", EBUSY},   {"EINTR", EINTR},
    {"EINVAL", EINVAL}, {"EIO", EIO},       {"EMFILE", EMFILE}, {"ENFILE", ENFILE},
    {"ENODEV", ENODEV}, {"ENOENT", ENOENT}, {"ENOMEM", ENOMEM}, {"ENOSPC", ENOSPC},
    {"ENOSYS", ENOSYS}, {"ENXIO", ENXIO},   {"EPERM", EPERM},   {"EOPNOTSUPP", EOPNOTSUPP},
    {"ESRCH", ESRCH},
};

constexpr NamedNumber kTypes[] = {
    {"raw", PERF_TYPE_RAW},
    {"hardware", PERF_TYPE_HARDWARE},
    {"cache", PERF_TYPE_HW_CACHE},
    {"any", -1},
};

constexpr NamedNumber kCalls[] = {
    {"open", static_cast<int>(Call::kOpen)},       {"enable", static_cast<int>(Call::kEnable)},
    {"disable", static_cast<int>(Call::kDisable)}, {"reset", static_cast<int>(Call::kReset)},
    {"read", static_cast<int>(Call::kRead)},
};

template <size_t n>
bool Lookup(const NamedNumber (&table)[n], const char* name, int& number) {
  for (const NamedNumber& row : table) {
    if (strcmp(row.name, name) == 0) {
      number = row.number;
      return true;
    }
  }
  return false;
}

// All of `text` is one unsigned number, decimal or 0x...
bool ParseUnsigned(const char* text, uint64_t& number) {
  char* end = nullptr;
  errno = 0;
  number = strtoull(text, &end, strncmp(text, "0x", 2) == 0 ? 16 : 10);
  return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
}

bool ParseSigned(const char* text, int64_t& number) {
  uint64_t size = 0;
  const bool negative = *text == '-';
  const bool parsed = ParseUnsigned(negative ? text + 1 : text, size) && size <= INT64_MAX;
  number = negative ? -static_cast<int64_t>(size) : static_cast<int64_t>(size);
  return parsed;
}

// From `least` to 1000.
bool ParseSmall(const char* text, int least, int& number) {
  int64_t wide = 0;
  const bool parsed = ParseSigned(text, wide) && wide >= least && wide <= 1000;
  number = static_cast<int>(wide);
  return parsed;
}

bool ParseCountOfReads(const char* text, int64_t& number) {
  return ParseSigned(text, number) && number >= 1;
}

bool ParseConfig(char* text, EventRule& rule) {
  if (strcmp(text, "*") == 0) {
    return true;
  }
  rule.mask = UINT64_MAX;
  char* const slash = strchr(text, '/');
  if (slash != nullptr) {
    *slash = '\0';
    if (!ParseUnsigned(slash + 1, rule.mask)) {
      return false;
    }
  }
  return ParseUnsigned(text, rule.config);
}

// "flops" or "fp_scalar_single+fp_scalar_double".
bool ParseSignals(char* text, uint32_t& signals) {
  for (char* name = text; name != nullptr;) {
    char* const plus = strchr(name, '+');
    if (plus != nullptr) {
      *plus = '\0';
    }
    int signal = 0;
    if (!Lookup(kSignals, name, signal)) {
      return false;
    }
    signals |= uint32_t{1} << signal;
    name = plus == nullptr ? nullptr : plus + 1;
  }
  return true;
}

// One "key value" pair of an event rule.
bool ParseCount(const char* key, char* value, EventRule& rule) {
  if (strcmp(key, "signal") == 0) return ParseSignals(value, rule.signals);
  if (strcmp(key, "refuse") == 0) return Lookup(kErrnos, value, rule.refuse_errno);
  if (strcmp(key, "times") == 0) return ParseSigned(value, rule.times);
  if (strcmp(key, "constant") == 0) return ParseSigned(value, rule.constant);
  if (strcmp(key, "step") == 0) return ParseSigned(value, rule.step);
  if (strcmp(key, "start") == 0) return ParseUnsigned(value, rule.start);
  if (strcmp(key, "restart") == 0) return ParseCountOfReads(value, rule.restart_at_read);
  if (strcmp(key, "lose") == 0) return ParseCountOfReads(value, rule.lose_at_read);
  if (strcmp(key, "cost") == 0) return ParseSmall(value, 0, rule.cost);
  if (strcmp(key, "wrap") == 0) {
    return ParseSmall(value, 1, rule.wrap_bits) && rule.wrap_bits <= 64;
  }
  return false;
}

bool ParseEvent(char* const* words, int count, Rules& rules) {
  if (count < 3 || count % 2 == 0 || rules.event_count == kMaxEventRules) {
    return false;
  }
  EventRule rule;
  int type = 0;
  if (!Lookup(kTypes, words[1], type) || !ParseConfig(words[2], rule)) {
    return false;
  }
  rule.type = type;
  for (int i = 3; i < count; i += 2) {
    if (!ParseCount(words[i], words[i + 1], rule)) {
      return false;
    }
  }
  rules.events[rules.event_count++] = rule;
  return true;
}

bool ParseFault(char* const* words, int count, Rules& rules) {
  if (count != 4 || rules.fault_count == kMaxFaults) {
    return false;
  }
  Fault fault;
  int call = 0;
  if (!Lookup(kCalls, words[1], call)) {
    return false;
  }
  fault.call = static_cast<Call>(call);
  char* const when = words[2];
  const size_t length = strlen(when);
  if (when[length - 1] == '+') {
    fault.repeats = true;
    when[length - 1] = '\0';
  }
  if (!ParseSigned(when, fault.first) || fault.first < 1) {
    return false;
  }
  if (fault.call == Call::kRead && strcmp(words[3], "empty") == 0) {
    fault.outcome = Outcome::kEmpty;
  } else if (fault.call == Call::kRead && strcmp(words[3], "short") == 0) {
    fault.outcome = Outcome::kShort;
  } else if (Lookup(kErrnos, words[3], fault.error_number)) {
    fault.outcome = Outcome::kErrno;
  } else {
    return false;
  }
  rules.faults[rules.fault_count++] = fault;
  return true;
}

bool ParseLine(char* line, Rules& rules) {
  char* words[kMaxWords];
  int count = 0;
  char* rest = nullptr;
  for (char* word = strtok_r(line, " \t", &rest); word != nullptr && *word != '#';
       word = strtok_r(nullptr, " \t", &rest)) {
    if (count == kMaxWords) {
      return false;
    }
    words[count++] = word;
  }
  if (count == 0) return true;
  if (strcmp(words[0], "event") == 0) return ParseEvent(words, count, rules);
  if (strcmp(words[0], "fail") == 0) return ParseFault(words, count, rules);
  if (count != 2) return false;
  if (strcmp(words[0], "counters") == 0) return ParseSmall(words[1], 0, rules.counters);
  if (strcmp(words[0], "held") == 0) return ParseSmall(words[1], 0, rules.held);
  int* const file = strcmp(words[0], "paranoid") == 0       ? &rules.paranoid
                    : strcmp(words[0], "nmi_watchdog") == 0 ? &rules.nmi_watchdog
                                                            : nullptr;
  if (file == nullptr) return false;
  if (strcmp(words[1], "absent") == 0) {
    *file = kAbsent;
    return true;
  }
  return ParseSmall(words[1], -1, *file);
}

}  // namespace

const char* ParseRules(const char* text, Rules& rules) {
  static thread_local char bad_line[kMaxLineBytes];
  rules = Rules{};
  while (*text != '\0') {
    const size_t length = strcspn(text, "\n");
    char line[kMaxLineBytes];
    snprintf(line, sizeof(line), "%.*s", static_cast<int>(length), text);
    memcpy(bad_line, line, sizeof(line));
    if (length >= sizeof(line) || !ParseLine(line, rules)) {
      return bad_line;
    }
    text += length;
    text += *text == '\n' ? 1 : 0;
  }
  return nullptr;
}

const EventRule* FindRule(const Rules& rules, uint32_t type, uint64_t config) {
  for (int i = 0; i < rules.event_count; ++i) {
    const EventRule& rule = rules.events[i];
    if ((rule.type < 0 || rule.type == type) && (config & rule.mask) == (rule.config & rule.mask)) {
      return &rule;
    }
  }
  return nullptr;
}

Fault FaultOf(const Rules& rules, Call call, int64_t number) {
  for (int i = 0; i < rules.fault_count; ++i) {
    const Fault& fault = rules.faults[i];
    if (fault.call == call && (number == fault.first || (fault.repeats && number > fault.first))) {
      return fault;
    }
  }
  return {};
}

}  // namespace tinyprof::stand_in
