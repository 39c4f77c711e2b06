// tfemu apply, tfemu create.
#include <CLI/CLI.hpp>

#include "emulator/api/config.h"
#include "emulator/api/scheme.h"
#include "tools/cli/manifests.h"
#include "tools/cli/targets.h"
#include "tools/cli/verbs.h"

namespace tfemu::cli {
namespace {

struct Options {
  std::vector<std::string> files, words;
  bool create = false, strict = false;
  std::string dry_run = "none";
};

std::string_view Word(rpc::v1::WriteReply::Outcome outcome) {
  if (outcome == rpc::v1::WriteReply::CREATED) return "created";
  return outcome == rpc::v1::WriteReply::CONFIGURED ? "configured" : "unchanged";
}

// `create namespace NAME` is the one kind that is made of its name alone.
Result<std::vector<Manifest>> Read(const Session& session, const Options& options) {
  if (options.words.empty()) return ReadManifests(options.files, session.flags.ns);
  ASSIGN_OR_RETURN(const auto* kind, ParseKind(options.words.front()));
  const std::string name = options.words.size() == 2 ? options.words.back() : "";
  if (kind->kind != "Namespace" || name.empty())
    return Error{Reason::kBadRequest, "only \"create namespace NAME\" goes without a manifest",
                 "tfemu create -f FILE"};
  return std::vector<Manifest>{{"", {api::MakeNamespace(name), {1, {}, {}}}, {"Namespace", "", name}}};
}

int Apply(Session& session, const Options& options) {
  if (options.files.empty() == options.words.empty())
    return session.Usage("which manifests?", "name files with -f");
  const auto manifests = Read(session, options);
  if (!manifests.ok()) return session.Fail(manifests.error());
  const auto client = session.Connect();
  if (!client.ok()) return session.Fail(client.error());
  const bool dry_run = options.dry_run != "none";
  const ApplyOptions apply{options.create, options.strict, dry_run};
  // Nothing is changed when anything would be refused.
  const auto errors = CheckManifests(*client.value(), manifests.value(), apply);
  for (const auto& error : errors) session.terminal.ShowError(error);
  if (!errors.empty()) return kRefused;
  for (const auto& manifest : manifests.value()) {
    const auto applied = WriteManifest(*client.value(), manifest, apply);
    if (!applied.ok()) {
      for (const auto& error : Locate(manifest, applied.error())) session.terminal.ShowError(error);
      return kRefused;
    }
    for (const auto& warning : applied.value().warnings) session.terminal.Warn(warning);
    session.terminal.Print(DisplayName(*api::FindKind(manifest.key.kind), applied.value().object.key().name) +
                           " " + std::string(Word(applied.value().outcome)) + (dry_run ? " (dry run)" : "") +
                           "\n");
  }
  return kOk;
}

void Add(CLI::App& app, Session& session, bool create) {
  auto options = std::make_shared<Options>();
  options->create = create;
  auto* verb = create ? app.add_subcommand("create", "Create objects from manifests; refused when they exist")
                      : app.add_subcommand("apply", "Create objects from manifests, or change them to match");
  verb->add_option("-f,--filename", options->files, "File, folder or - for standard input");
  if (create) verb->add_option("object", options->words, "namespace NAME");
  verb->add_flag("--strict", options->strict, "A field that is not honoured is an error, not a warning");
  verb->add_option("--dry-run", options->dry_run, "none, client or server: check everything, change nothing")
      ->check(CLI::IsMember({"none", "client", "server"}));
  const std::string name = create ? "create" : "apply";
  verb->footer("Examples:\n  tfemu " + name + " -f tf-mnist-gpu.yaml\n  tfemu " + name +
               " -f manifests/ --strict\n  cat job.yaml | tfemu " + name + " -f -");
  verb->callback(
      [=, &session] { session.action = [&session, options] { return Apply(session, *options); }; });
}

}  // namespace

void AddApply(CLI::App& app, Session& session) {
  Add(app, session, /*create=*/false);
  Add(app, session, /*create=*/true);
}

}  // namespace tfemu::cli
