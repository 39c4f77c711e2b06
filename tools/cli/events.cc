// tfemu events.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>

#include "emulator/api/printer.h"
#include "emulator/api/view.h"
#include "emulator/base/strings.h"
#include "emulator/base/time_format.h"
#include "emulator/codec/table.h"
#include "emulator/rpc/client.h"
#include "tools/cli/objects.h"
#include "tools/cli/targets.h"
#include "tools/cli/verbs.h"

namespace tfemu::cli {
namespace {

struct Options {
  std::string about, types;
  bool all_namespaces = false, watch = false, no_headers = false;
};

class EventLister {
 public:
  EventLister(Session& session, const Options& options, std::optional<Target> about)
      : session_(session),
        options_(options),
        about_(std::move(about)),
        printer_({.header = !options.no_headers, .with_namespace = options.all_namespaces}) {}

  bool Wanted(const api::EventView& event) const {
    if (about_ && (event.kind != about_->kind->kind || event.name != about_->name)) return false;
    return options_.types.empty() ||
           ("," + ToLower(options_.types) + ",").find("," + ToLower(event.type) + ",") != std::string::npos;
  }

  void Show(std::vector<api::EventView> events) {
    std::erase_if(events, [&](const auto& event) { return !Wanted(event); });
    std::ranges::stable_sort(events, {}, &api::EventView::last);
    api::Table table{{{"Last Seen"}, {"Type"}, {"Reason"}, {"Object"}, {"Message"}}, {}};
    for (const auto& event : events)
      table.rows.push_back(
          {event.ns,
           {Age(event), event.type, event.reason, ToLower(event.kind) + "/" + event.name, event.message}});
    session_.terminal.Print(printer_.Format(table));
  }

 private:
  std::string Age(const api::EventView& event) const {
    const Instant now = session_.Now();
    const std::string last = FormatAge(now - event.last);
    if (event.count <= 1) return last;
    return last + " (x" + std::to_string(event.count) + " over " + FormatAge(now - event.first) + ")";
  }

  Session& session_;
  const Options& options_;
  std::optional<Target> about_;
  codec::TablePrinter printer_;
};

int Watch(Session& session, rpc::Client& client, const std::string& ns, EventLister& lister) {
  rpc::v1::WatchRequest request;
  request.set_kind("Event");
  request.set_ns(ns);
  request.set_list_first(true);
  std::vector<api::EventView> initial;
  bool synced = false;
  int code = kOk;
  const auto call =
      client.Watch(session.executor(), request,
                   {.message =
                        [&](rpc::v1::WatchReply& reply) {
                          if (reply.type() == rpc::v1::WatchReply::SYNCED) {
                            synced = true;
                            lister.Show(std::move(initial));
                          } else if (const auto object = Decode(reply.json());
                                     object.ok() && reply.type() != rpc::v1::WatchReply::DELETED) {
                            if (synced) lister.Show({api::ViewEvent(object.value())});
                            else initial.push_back(api::ViewEvent(object.value()));
                          }
                        },
                    .done =
                        [&](const Result<void>& result) {
                          if (!result.ok()) code = session.Fail(result.error());
                          session.context().stop();
                        }});
  const auto keep_running = boost::asio::make_work_guard(session.context());
  session.context().run();
  call->Cancel();
  return code;
}

int Events(Session& session, const Options& options) {
  std::optional<Target> about;
  if (!options.about.empty()) {
    const auto target = ParseTarget(options.about, "Pod");
    if (!target.ok()) return session.Usage(target.error().message, target.error().hint);
    about = target.value();
  }
  const auto client = session.Connect();
  if (!client.ok()) return session.Fail(client.error());
  EventLister lister(session, options, about);
  const std::string ns = options.all_namespaces || (about && !about->kind->namespaced) ? "" : session.ns();
  if (options.watch) return Watch(session, *client.value(), ns, lister);
  const auto listed = ListObjects(*client.value(), {"Event", ns, ""});
  if (!listed.ok()) return session.Fail(listed.error());
  std::vector<api::EventView> events;
  for (const auto& object : listed.value().objects) events.push_back(api::ViewEvent(object));
  if (std::ranges::none_of(events, [&](const auto& event) { return lister.Wanted(event); }))
    session.terminal.Note("No events found" + (ns.empty() ? std::string() : " in " + ns + " namespace."));
  lister.Show(std::move(events));
  return kOk;
}

}  // namespace

void AddEvents(CLI::App& app, Session& session) {
  auto options = std::make_shared<Options>();
  auto* verb = app.add_subcommand("events", "What happened, oldest first");
  verb->add_option("--for", options->about, "Only about this object: KIND/NAME");
  verb->add_option("--types", options->types, "Only of these types: Warning, Normal");
  verb->add_flag("-A,--all-namespaces", options->all_namespaces, "Of every namespace");
  verb->add_flag("-w,--watch", options->watch, "Go on showing what happens");
  verb->add_flag("--no-headers", options->no_headers, "No column names");
  verb->footer(
      "Examples:\n  tfemu events\n  tfemu events --for tfjob/tf-mnist-gpu\n  tfemu events -A -w "
      "--types=Warning");
  verb->callback(
      [=, &session] { session.action = [&session, options] { return Events(session, *options); }; });
}

}  // namespace tfemu::cli
