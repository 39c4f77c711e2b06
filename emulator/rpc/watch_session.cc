#include "emulator/rpc/watch_session.h"

#include "emulator/api/view.h"
#include "emulator/rpc/convert.h"
#include "emulator/rpc/status.h"

namespace tfemu::rpc {
namespace {

// A client this far behind starts over instead of filling the daemon's memory.
constexpr size_t kMaxQueued = 10'000;

}  // namespace

void WatchSession::Opened(StreamOut<v1::WatchReply>& out) {
  out_ = &out;
  if (const auto begun = Begin(); !begun.ok()) out_->Finish(ToStatus(begun.error()));
}

Result<void> WatchSession::Begin() {
  ASSIGN_OR_RETURN(selector_, api::ParseSelector(request_.selector()));
  const store::Query query{request_.kind(), request_.ns()};
  store::Revision from = request_.revision();
  if (request_.list_first()) {
    const auto listing = registry_.List(query, {});
    for (const auto& object : listing.objects)
      if (Matches(object)) Send(v1::WatchReply::ADDED, object);
    v1::WatchReply synced;
    synced.set_type(v1::WatchReply::SYNCED);
    synced.set_revision(listing.revision);
    out_->Write(std::move(synced));
    from = listing.revision;
  }
  ASSIGN_OR_RETURN(watch_,
                   store_.Watch(query, from, [this](const store::WatchEvent& event) { OnEvent(event); }));
  return {};
}

void WatchSession::Closed() {
  if (watch_) store_.Unwatch(*watch_);
  watch_.reset();
  out_ = nullptr;
}

bool WatchSession::Matches(const api::Object& object) const {
  if (!request_.name().empty() && object.key().name != request_.name()) return false;
  return selector_.empty() || selector_.Matches(api::LabelsOf(object));
}

// An object that leaves the selection is gone for the client, one that enters it is new.
void WatchSession::OnEvent(const store::WatchEvent& event) {
  if (out_ == nullptr) return;
  if (out_->Queued() > kMaxQueued) {
    out_->Finish(ToStatus(Error{Reason::kExpired, "the watch fell too far behind; list again"}));
    return;
  }
  auto type = static_cast<v1::WatchReply::Type>(event.type);
  const bool matches = Matches(event.object);
  if (!selector_.empty()) {
    const bool known = shown_.contains(event.object.key());
    if (!matches && !known) return;
    if (!matches) type = v1::WatchReply::DELETED;
    else if (!known && type == v1::WatchReply::MODIFIED) type = v1::WatchReply::ADDED;
  } else if (!matches) {
    return;
  }
  Send(type, event.object);
}

void WatchSession::Send(v1::WatchReply::Type type, const api::Object& object) {
  if (!selector_.empty()) {
    if (type == v1::WatchReply::DELETED) shown_.erase(object.key());
    else shown_.insert(object.key());
  }
  v1::WatchReply reply;
  reply.set_type(type);
  reply.set_json(ToText(object));
  reply.set_revision(object.resource_version());
  out_->Write(std::move(reply));
}

}  // namespace tfemu::rpc
