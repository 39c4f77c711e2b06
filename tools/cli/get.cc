// tfemu get.
#include <CLI/CLI.hpp>
#include <boost/asio/executor_work_guard.hpp>

#include "emulator/rpc/client.h"
#include "tools/cli/objects.h"
#include "tools/cli/output.h"
#include "tools/cli/targets.h"
#include "tools/cli/verbs.h"

namespace tfemu::cli {
namespace {

struct Options {
  std::vector<std::string> targets, files;
  std::string selector, output;
  bool all_namespaces = false, watch = false, no_headers = false, show_labels = false, ignore_missing = false;
};

class Getter {
 public:
  Getter(Session& session, const Options& options, OutputFormat format, rpc::Client& client)
      : session_(session), options_(options), format_(std::move(format)), client_(client) {}

  int Run(const std::vector<Target>& targets) {
    if (options_.watch) return Watch(targets);
    for (const auto& target : targets) Fetch(target);
    Show();
    return failed_ ? kRefused : kOk;
  }

 private:
  // Objects of one kind, in the order of the command line.
  struct Group {
    const api::Kind* kind;
    std::vector<api::Object> objects;
    bool named = false;
  };

  std::string Namespace() const { return options_.all_namespaces ? "" : session_.ns(); }

  Group& GroupOf(const api::Kind* kind) {
    for (auto& group : groups_)
      if (group.kind == kind) return group;
    return groups_.emplace_back(Group{kind, {}});
  }

  void Fetch(const Target& target) {
    Group& group = GroupOf(target.kind);
    if (target.name.empty()) {
      auto listed = ListObjects(client_, {std::string(target.kind->kind),
                                          target.kind->namespaced ? Namespace() : "", options_.selector});
      if (!listed.ok()) failed_ = session_.Fail(listed.error()) != kOk;
      else group.objects = std::move(listed.value().objects);
      return;
    }
    group.named = true;
    auto object = GetObject(client_, KeyOf(target, session_.ns()));
    if (object.ok()) group.objects.push_back(std::move(object).value());
    else if (object.error().reason != Reason::kNotFound || !options_.ignore_missing)
      failed_ = session_.Fail(object.error()) != kOk;
  }

  void Show() {
    if (!format_.is_table()) {
      ShowDocuments();
      return;
    }
    bool first = true;
    const bool several = groups_.size() > 1;
    for (const auto& group : groups_) {
      if (group.objects.empty()) continue;
      KindTable table(*group.kind, TableOptions(*group.kind, several));
      session_.terminal.Print((first ? "" : "\n") + table.Format(group.objects, session_.Now()));
      first = false;
    }
    if (first && !failed_ && !options_.ignore_missing)
      session_.terminal.Note(options_.all_namespaces || !groups_.front().kind->namespaced
                                 ? "No resources found"
                                 : "No resources found in " + session_.ns() + " namespace.");
  }

  void ShowDocuments() {
    std::vector<api::Object> objects;
    bool named = false;
    for (auto& group : groups_) {
      named = named || group.named;
      for (auto& object : group.objects) objects.push_back(std::move(object));
    }
    if (failed_ && objects.empty()) return;
    session_.terminal.Print(named && objects.size() == 1 ? FormatDocument(format_, objects.front())
                                                         : FormatList(format_, objects));
  }

  KindTable::Options TableOptions(const api::Kind& kind, bool several) const {
    return {.wide = format_.type == OutputFormat::Type::kWide,
            .with_namespace = options_.all_namespaces && kind.namespaced,
            .header = !options_.no_headers,
            .kind_prefix = several,
            .labels = options_.show_labels};
  }

  int Watch(const std::vector<Target>& targets) {
    if (targets.size() != 1) return session_.Usage("a watch is of one kind, or of one object");
    const Target& target = targets.front();
    rpc::v1::WatchRequest request;
    request.set_kind(std::string(target.kind->kind));
    if (target.kind->namespaced) request.set_ns(Namespace());
    request.set_selector(options_.selector);
    request.set_name(target.name);
    request.set_list_first(true);
    KindTable table(*target.kind, TableOptions(*target.kind, false));
    std::vector<api::Object> initial;
    bool synced = false;
    int code = kOk;
    const auto show = [&](const std::vector<api::Object>& objects) {
      std::string text;
      if (format_.is_table()) text = table.Format(objects, session_.Now());
      else
        for (const auto& object : objects)
          text +=
              (format_.type == OutputFormat::Type::kYaml ? "---\n" : "") + FormatDocument(format_, object);
      if (!session_.terminal.Print(text)) session_.context().stop();
    };
    const auto call = client_.Watch(session_.executor(), request,
                                    {.message =
                                         [&](rpc::v1::WatchReply& reply) {
                                           if (reply.type() == rpc::v1::WatchReply::SYNCED) {
                                             synced = true;
                                             show(initial);
                                             return;
                                           }
                                           const auto object = Decode(reply.json());
                                           if (!object.ok()) return;
                                           if (synced) show({object.value()});
                                           else initial.push_back(object.value());
                                         },
                                     .done =
                                         [&](const Result<void>& result) {
                                           if (!result.ok()) code = session_.Fail(result.error());
                                           session_.context().stop();
                                         }});
    const auto keep_running = boost::asio::make_work_guard(session_.context());
    session_.context().run();
    call->Cancel();
    return code;
  }

  Session& session_;
  const Options& options_;
  OutputFormat format_;
  rpc::Client& client_;
  std::vector<Group> groups_;
  bool failed_ = false;
};

int Get(Session& session, const Options& options) {
  const auto targets = ParseTargets(options.targets);
  if (!targets.ok()) return session.Usage(targets.error().message, targets.error().hint);
  auto format = ParseOutputFormat(options.output);
  if (!format.ok()) return session.Usage(format.error().message, format.error().hint);
  const auto client = session.Connect();
  if (!client.ok()) return session.Fail(client.error());
  return Getter(session, options, std::move(format).value(), *client.value()).Run(targets.value());
}

}  // namespace

void AddGet(CLI::App& app, Session& session) {
  auto options = std::make_shared<Options>();
  auto* verb = app.add_subcommand("get", "Show objects: a table, or their documents with -o");
  verb->add_option("target", options->targets, "KIND [NAME...], KIND/NAME... or all")->required();
  verb->add_option("-l,--selector", options->selector, "Only objects with these labels: app=web,tier!=test");
  verb->add_option("-o,--output", options->output, "wide, yaml, json, name or jsonpath=TEMPLATE");
  verb->add_flag("-A,--all-namespaces", options->all_namespaces, "Of every namespace");
  verb->add_flag("-w,--watch", options->watch, "Go on showing what changes");
  verb->add_flag("--no-headers", options->no_headers, "No column names");
  verb->add_flag("--show-labels", options->show_labels, "A last column with the labels");
  verb->add_flag("--ignore-not-found", options->ignore_missing, "A missing object is no error");
  verb->footer(
      "Examples:\n  tfemu get pods\n  tfemu get tfjob tf-mnist-gpu -o yaml\n  tfemu get all -A\n"
      "  tfemu get pods -l job-role=master -o wide -w\n"
      "  tfemu get pods -o jsonpath='{range .items[*]}{.metadata.name} {.status.podIP}{\"\\n\"}{end}'");
  verb->callback([=, &session] { session.action = [&session, options] { return Get(session, *options); }; });
}

}  // namespace tfemu::cli
