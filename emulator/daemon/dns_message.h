// The wire form of DNS, by ldns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "emulator/controllers/dns_zone.h"

namespace tfemu::daemon {

using DnsBytes = std::vector<uint8_t>;
using DnsResolver = std::function<controllers::DnsAnswer(const controllers::DnsQuestion&)>;

// The reply to `query`, empty when it is not even a question. Replies longer than `limit` are cut and marked
// so.
DnsBytes AnswerDns(const uint8_t* query, size_t size, size_t limit, const DnsResolver& resolve);

}  // namespace tfemu::daemon
