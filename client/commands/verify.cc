#include <CLI/CLI.hpp>

#include "client/commands/command.h"
#include "client/commands/options.h"
#include "client/commands/validators.h"
#include "client/lib/verify_data.h"

namespace tinyprof::client {
namespace {

struct Options {
  RunOptions run;
  std::string data;
  double rtol = 1e-3;
  double atol = 1e-7;
};

// Naive kernels may take minutes over a large model.
constexpr auto kVerifyTimeout = std::chrono::minutes(10);

Result<ExitCode> VerifyModel(Session& session, const Options& options) {
  TINYPROF_RETURN_IF_ERROR(session.CheckOutput());
  TINYPROF_ASSIGN_OR_RETURN(const VerifyData data, FindVerifyData(options.data));
  TINYPROF_ASSIGN_OR_RETURN(Connection* const connection, session.Connect(kVerifyTimeout));
  v1::VerifySpec spec;
  TINYPROF_ASSIGN_OR_RETURN(*spec.mutable_model(), ToModelSpec(session, options.run.model));
  spec.set_backend(ToBackend(options.run.backend));
  spec.set_conv_algorithm(ToConvAlgorithm(options.run.conv_algorithm));
  spec.set_fuse(options.run.fuse == "on");
  spec.set_isa(options.run.isa);
  spec.set_threads(options.run.threads);
  spec.set_rtol(options.rtol);
  spec.set_atol(options.atol);
  TINYPROF_ASSIGN_OR_RETURN(const v1::VerifyModelResponse response,
                            Verify(*connection, spec, data));
  TINYPROF_RETURN_IF_ERROR(session.options().json
                               ? session.Print(VerifyDocument(response))
                               : session.Print(VerifyText(response, session.MakeLayout())));
  return response.ok() ? ExitCode::kOk : ExitCode::kRunFailed;
}

}  // namespace

Action SetupVerify(CLI::App& app, GlobalOptions&) {
  const auto options = std::make_shared<Options>();
  AddModelOptions(app, options->run.model);
  AddKernelOptions(app, options->run);
  AddThreadsOption(app, options->run);
  app.add_option("--data", options->data, "Directory with input_N.pb and output_N.pb")
      ->required()
      ->type_name("DIR");
  const CLI::Validator tolerance = DecimalNumber(0, 1e300);
  app.add_option("--rtol", options->rtol,
                 "Allowed relative error; with --atol, 0 wants equal elements")
      ->check(tolerance)
      ->type_name("X");
  app.add_option("--atol", options->atol, "Allowed absolute error")
      ->check(tolerance)
      ->type_name("X");
  return [options](Session& session) { return VerifyModel(session, *options); };
}

}  // namespace tinyprof::client
