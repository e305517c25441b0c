// MODEL arguments that are files on this machine.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "client/lib/connection.h"
#include "client/lib/io.h"
#include "kernels/base/error.h"

namespace tinyprof::client {

// Whether MODEL means a file here rather than a name the daemon knows: it ends in ".onnx".
bool IsModelFile(std::string_view model);

// The name a file is stored under: its stem (of model.onnx, the name of its folder), in the
// alphabet of model names and shortened, with the first 12 hex digits of its SHA-256.
std::string UploadName(std::string_view path, std::string_view sha256_hex);

// Uploads the file unless the daemon has the same bytes already; returns the model's name.
// NOT_FOUND or INVALID_ARGUMENT when the file cannot be read. `on_notice` is told when bytes are
// sent.
Result<std::string> UploadModelFile(Connection& connection, const std::string& path,
                                    const std::function<void(const std::string&)>& on_notice);

// Streams the model `spec` as ONNX into the file at `path`, or to io.out when it is "-". A regular
// file appears only when it is whole, and must be an IsModelFile by its name; a device or a FIFO is
// written into. Returns the size in bytes. INVALID_ARGUMENT / "BAD_FILE_NAME", FILE_NOT_WRITABLE,
// INTERRUPTED by a signal, or what the call says.
Result<int64_t> ExportModelFile(Connection& connection, const v1::ModelSpec& spec,
                                const std::string& path, Io& io);

// A model that was quantized and written.
struct QuantizedModelFile {
  v1::QuantizationReport report;
  int64_t size_bytes = 0;
};

using QuantizationProgressFn = std::function<void(const v1::QuantizationProgress&)>;

// Lets the daemon quantize a model and streams the result as ExportModelFile does. `on_progress` is
// told how far it is.
Result<QuantizedModelFile> QuantizeModelFile(Connection& connection,
                                             const v1::QuantizeModelRequest& request,
                                             const std::string& path, Io& io,
                                             const QuantizationProgressFn& on_progress);

}  // namespace tinyprof::client
