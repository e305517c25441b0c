#!/usr/bin/env python3
"""Holds the layers: fails on an #include that points the wrong way.

Usage: check_includes.py ROOT. Prints one line for each violation; exits 1 when there is one.
"""

import pathlib
import re
import sys

# Layer (a folder) -> folders it may include from, beside itself. The longest matching folder wins.
LAYERS = {
    "kernels/base": [],
    "kernels/tensor": ["kernels/base"],
    # The graph and its operators know each other: a builder infers types by the operators' rules.
    "kernels/graph": ["kernels/base", "kernels/tensor", "kernels/ops"],
    "kernels/ops": ["kernels/base", "kernels/tensor", "kernels/graph", "kernels/runtime"],
    "kernels/runtime": ["kernels/base", "kernels/tensor", "kernels/graph", "kernels/ops"],
    "kernels/probes": ["kernels/base", "kernels/tensor", "kernels/runtime"],
    "kernels/zoo": ["kernels/base", "kernels/tensor", "kernels/graph", "kernels/ops",
                    "kernels/runtime"],
    "kernels/quantization": ["kernels/base", "kernels/tensor", "kernels/graph", "kernels/ops",
                             "kernels/runtime"],
    "daemon/counters": ["kernels"],
    "daemon/measure": ["kernels", "daemon/counters"],
    "daemon/roofline": ["kernels"],
    "daemon/model": ["kernels"],
    "daemon/convert": ["kernels", "daemon/counters", "daemon/measure", "daemon/roofline",
                       "daemon/model"],
    "daemon/worker": ["kernels", "daemon/counters", "daemon/measure", "daemon/roofline",
                      "daemon/model", "daemon/convert"],
    "daemon/store": ["kernels/base", "kernels/tensor"],
    "daemon/jobs": ["kernels", "daemon/counters", "daemon/measure", "daemon/roofline",
                    "daemon/model", "daemon/convert", "daemon/worker", "daemon/store"],
    "daemon/ops": ["kernels/base"],
    "daemon/rpc": ["kernels", "daemon/counters", "daemon/measure", "daemon/roofline",
                   "daemon/model", "daemon/convert", "daemon/store", "daemon/jobs", "daemon/ops"],
    "daemon": ["kernels/base", "daemon"],  # main.cc
    "client/lib": ["kernels/base"],
    "client/render": ["kernels/base", "client/lib"],
    "client/commands": ["kernels/base", "client"],
    "client": ["kernels/base", "client"],
}

# A header of a third party -> folders that may include it.
THIRD_PARTY = {
    r"papi\.h": ["daemon/counters/papi"],
    r"grpc(pp|\+\+)?/.*": ["daemon/rpc", "client"],
    r".*\.grpc\.pb\.h": ["daemon/rpc", "client"],
    r"google/rpc/.*": ["daemon/rpc", "client"],
    r".*\.pb\.h": ["daemon/convert", "daemon/worker", "daemon/store", "daemon/jobs", "daemon/rpc",
                   "daemon/model", "client"],
    r"Eigen/.*": ["kernels/ops"],
    r"oneapi/dnnl/.*": ["kernels/ops"],
    r"sqlite3\.h": ["daemon/store"],
    r"toml\+\+/.*": ["daemon/ops", "client/lib"],
    r"seccomp\.h": ["daemon/worker"],
    r"nlohmann/.*": ["client"],
    r"CLI/.*": ["client", "daemon/ops"],
    r"onnx.*\.h": ["daemon/model"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def layer_of(path):
    matches = [layer for layer in LAYERS if path == layer or path.startswith(layer + "/")]
    return max(matches, key=len, default=None)


def inside(path, folders):
    return any(path == folder or path.startswith(folder + "/") for folder in folders)


def violation(source, header):
    """Why `source` may not include `header`, or None."""
    layer = layer_of(str(pathlib.PurePosixPath(source).parent))
    if layer is None:
        return "is in no layer: add its folder to LAYERS"
    if header.split("/")[0] in ("kernels", "daemon", "client", "tests"):
        if inside(header, [layer] + LAYERS[layer]):
            return None
        return f"{layer} may not depend on {header}"
    for pattern, allowed in THIRD_PARTY.items():
        if re.fullmatch(pattern, header):
            return None if inside(source, allowed) else f"only {', '.join(allowed)} may include {header}"
    return None


def main(root):
    root = pathlib.Path(root)
    failures = 0
    for folder in ("kernels", "daemon", "client"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".cc"):
                continue
            source = path.relative_to(root).as_posix()
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                match = INCLUDE.match(line)
                why = match and violation(source, match.group(1))
                if why:
                    print(f"{source}:{number}: {why}")
                    failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
