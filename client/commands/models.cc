#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "client/commands/command.h"
#include "client/commands/model_target.h"
#include "client/commands/options.h"
#include "client/lib/model_file.h"
#include "kernels/base/words.h"

namespace tinyprof::client {
namespace {

struct Options {
  CLI::App* export_app = nullptr;
  CLI::App* upload_app = nullptr;
  CLI::App* delete_app = nullptr;
  ModelOptions model;
  std::string file;
  std::string upload_file;
  std::string deleted_name;
};

Result<ExitCode> ListAll(Session& session) {
  TINYPROF_RETURN_IF_ERROR(session.CheckOutput());
  TINYPROF_ASSIGN_OR_RETURN(Connection* const connection, session.Connect());
  std::vector<v1::Model> models;
  v1::ListModelsRequest request;
  do {
    TINYPROF_ASSIGN_OR_RETURN(
        const v1::ListModelsResponse response,
        connection->Call(connection->models(), &Connection::Models::ListModels, request));
    models.insert(models.end(), response.models().begin(), response.models().end());
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  TINYPROF_RETURN_IF_ERROR(session.options().json
                               ? session.Print(ModelsDocument(models))
                               : session.Print(ModelsText(models, session.MakeLayout())));
  return ExitCode::kOk;
}

Result<ExitCode> Export(Session& session, const Options& options) {
  TINYPROF_RETURN_IF_ERROR(session.CheckOutput());
  const bool prints_report = session.options().json;
  TINYPROF_RETURN_IF_ERROR(
      CheckModelTarget(session, options.model.model, options.file, prints_report));
  TINYPROF_ASSIGN_OR_RETURN(const v1::ModelSpec spec, ToModelSpec(session, options.model));
  TINYPROF_ASSIGN_OR_RETURN(Connection* const connection, session.Connect());
  TINYPROF_ASSIGN_OR_RETURN(const int64_t size_bytes,
                            ExportModelFile(*connection, spec, options.file, session.io()));
  if (session.options().json) {
    Json document = NewDocument("models export");
    document["model"] = spec.text();
    document["file"] = options.file;
    document["size_bytes"] = size_bytes;
    TINYPROF_RETURN_IF_ERROR(session.Print(document));
  } else {
    session.Note(options.file == "-"
                     ? fmt::format("wrote {} to standard output", SizeText(size_bytes))
                     : fmt::format("wrote {} ({})", options.file, SizeText(size_bytes)));
  }
  return ExitCode::kOk;
}

Result<ExitCode> Upload(Session& session, const Options& options) {
  TINYPROF_RETURN_IF_ERROR(session.CheckOutput());
  TINYPROF_ASSIGN_OR_RETURN(Connection* const connection, session.Connect());
  TINYPROF_ASSIGN_OR_RETURN(const std::string name,
                            UploadModelFile(*connection, options.upload_file,
                                            [&](const std::string& text) { session.Note(text); }));
  if (session.options().json) {
    Json document = NewDocument("models upload");
    document["model"] = name;
    document["file"] = options.upload_file;
    TINYPROF_RETURN_IF_ERROR(session.Print(document));
  } else {
    TINYPROF_RETURN_IF_ERROR(session.Print(Printable(name) + "\n"));
  }
  return ExitCode::kOk;
}

Result<ExitCode> Delete(Session& session, const std::string& name) {
  TINYPROF_RETURN_IF_ERROR(session.CheckOutput());
  TINYPROF_ASSIGN_OR_RETURN(Connection* const connection, session.Connect());
  v1::DeleteModelRequest request;
  request.set_name(name);
  TINYPROF_RETURN_IF_ERROR(
      connection->Call(connection->models(), &Connection::Models::DeleteModel, request));
  if (session.options().json) {
    Json document = NewDocument("models delete");
    document["model"] = name;
    document["deleted"] = true;
    TINYPROF_RETURN_IF_ERROR(session.Print(document));
  } else {
    TINYPROF_RETURN_IF_ERROR(session.Print(fmt::format("model {}: deleted\n", Printable(name))));
  }
  return ExitCode::kOk;
}

}  // namespace

Action SetupModels(CLI::App& app, GlobalOptions&) {
  const auto options = std::make_shared<Options>();
  CLI::App& export_app = *app.add_subcommand("export", "Write a model as an ONNX file");
  export_app.fallthrough();
  export_app.footer(
      "tinyprof-client models export lenet lenet.onnx\n"
      "tinyprof-client models export 'linear(784,10)' - --input 1x784 > model.onnx");
  AddModelOptions(export_app, options->model, "NAME");
  export_app.add_option("FILE", options->file, "The file to write; - is standard output")
      ->required();
  options->export_app = &export_app;
  CLI::App& upload_app =
      *app.add_subcommand("upload", "Upload an ONNX file and print the name it has from then on");
  upload_app.fallthrough();
  upload_app.footer(
      "tinyprof-client models upload ./model.onnx\n"
      "tinyprof-client profile $(tinyprof-client models upload ./model.onnx)");
  upload_app.add_option("FILE", options->upload_file, "The ONNX file")->required();
  options->upload_app = &upload_app;
  CLI::App& delete_app = *app.add_subcommand("delete", "Delete an uploaded model");
  delete_app.fallthrough();
  delete_app.footer("tinyprof-client models delete lenet-0123456789ab");
  delete_app.add_option("NAME", options->deleted_name, "The name that `models` lists")->required();
  options->delete_app = &delete_app;
  app.require_subcommand(0, 1);
  return [options](Session& session) {
    if (options->delete_app->parsed()) return Delete(session, options->deleted_name);
    if (options->upload_app->parsed()) return Upload(session, *options);
    return options->export_app->parsed() ? Export(session, *options) : ListAll(session);
  };
}

}  // namespace tinyprof::client
