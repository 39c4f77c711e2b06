// Between this project's types and the messages of tfemu.proto.
#pragma once

#include "emulator/api/object.h"
#include "emulator/rpc/backend.h"
#include "tfemu.pb.h"

namespace tfemu::rpc {

api::ObjectKey FromMessage(const v1::Key& key);
v1::Key ToMessage(const api::ObjectKey& key);
std::string ToText(const api::Object& object);  // its JSON; bytes that are not UTF-8 are replaced
void Fill(const ClusterFacts& facts, v1::InfoReply& reply);
void Fill(const ClusterUse& use, v1::TopReply& reply);
void Fill(const runtime::Image& image, bool ready, v1::Image& reply);

}  // namespace tfemu::rpc
