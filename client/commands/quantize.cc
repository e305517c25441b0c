#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>

#include "client/commands/command.h"
#include "client/commands/model_target.h"
#include "client/commands/options.h"
#include "client/commands/validators.h"
#include "client/lib/model_file.h"
#include "client/render/progress.h"
#include "client/render/quantization.h"

namespace tinyprof::client {
namespace {

struct Options {
  ModelOptions model;
  std::string file;
  std::string mode = "static";
  int32_t samples = 16;
};

// Where the model goes when nobody says: into this folder, under the name without parameters.
std::string FileFor(const std::string& model) {
  if (IsModelFile(model)) return std::filesystem::path(model).stem().string() + "-int8.onnx";
  const std::string name = model.substr(0, model.find(':'));
  const bool is_name = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
  });
  return (is_name ? name : "model") + "-int8.onnx";
}

v1::QuantizationMode ToMode(const std::string& name) {
  return name == "dynamic" ? v1::QUANTIZATION_MODE_DYNAMIC : v1::QUANTIZATION_MODE_STATIC;
}

// What has to be said again for the same model; a flag with its default says nothing.
std::vector<std::string> FlagsOf(const ModelOptions& options) {
  const ModelOptions defaults;
  std::vector<std::string> flags;
  for (const std::string& input : options.inputs) {
    flags.insert(flags.end(), {"--input", input});
  }
  if (options.batch != defaults.batch) {
    flags.insert(flags.end(), {"--batch", fmt::format("{}", options.batch)});
  }
  if (options.seed != defaults.seed) {
    flags.insert(flags.end(), {"--seed", fmt::format("{}", options.seed)});
  }
  return flags;
}

// Shows on stderr how far it is, and takes the line away before anything else is said.
Result<QuantizedModelFile> Watched(Session& session, Connection& connection,
                                   const v1::QuantizeModelRequest& request,
                                   const std::string& file) {
  Io& io = session.io();
  ProgressPrinter printer(io.err, io.err_is_terminal, io.err_columns, session.options().quiet);
  return QuantizeModelFile(
      connection, request, file, io,
      [&](const v1::QuantizationProgress& progress) { printer.Show(progress); });
}

Result<ExitCode> Quantize(Session& session, const Options& options) {
  TINYPROF_RETURN_IF_ERROR(session.CheckOutput());
  const std::string file = options.file.empty() ? FileFor(options.model.model) : options.file;
  TINYPROF_RETURN_IF_ERROR(
      CheckModelTarget(session, options.model.model, file, /*prints_report=*/true));
  v1::QuantizeModelRequest request;
  TINYPROF_ASSIGN_OR_RETURN(*request.mutable_model(), ToModelSpec(session, options.model));
  request.set_mode(ToMode(options.mode));
  request.set_samples(options.samples);
  TINYPROF_ASSIGN_OR_RETURN(Connection* const connection, session.Connect());
  TINYPROF_ASSIGN_OR_RETURN(const QuantizedModelFile quantized,
                            Watched(session, *connection, request, file));
  const QuantizedFileInfo written{
      .path = file, .size_bytes = quantized.size_bytes, .model_flags = FlagsOf(options.model)};
  TINYPROF_RETURN_IF_ERROR(
      session.options().json
          ? session.Print(QuantizationDocument(quantized.report, written))
          : session.Print(QuantizationText(quantized.report, written, session.MakeLayout())));
  return ExitCode::kOk;
}

}  // namespace

Action SetupQuantize(CLI::App& app, GlobalOptions&) {
  const auto options = std::make_shared<Options>();
  AddModelOptions(app, options->model);
  app.add_option("FILE", options->file,
                 "The ONNX file to write, MODEL-int8.onnx unless given; - is standard output");
  app.add_option("--mode", options->mode,
                 "Ranges of activations: static (calibrated now) or dynamic (looked up in each "
                 "pass)")
      ->check(CLI::IsMember({"static", "dynamic"}))
      ->type_name("MODE");
  app.add_option("--samples", options->samples, "Seeded inputs that static calibrates on")
      ->check(WholeNumber(1, 1000))
      ->type_name("N");
  return [options](Session& session) { return Quantize(session, *options); };
}

}  // namespace tinyprof::client
