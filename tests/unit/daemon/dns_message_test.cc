// DNS on the wire: a real query in, the records out, and rubbish ignored.
#include "emulator/daemon/dns_message.h"

#include <doctest/doctest.h>
#include <ldns/ldns.h>

#include <memory>

namespace tfemu::daemon {
namespace {

using controllers::DnsAnswer;
using controllers::DnsQuestion;
using controllers::DnsRecord;
using Packet = std::unique_ptr<ldns_pkt, decltype(&ldns_pkt_free)>;

DnsBytes Query(const char* name, ldns_rr_type type) {
  const Packet packet(ldns_pkt_query_new(ldns_dname_new_frm_str(name), type, LDNS_RR_CLASS_IN, LDNS_RD),
                      ldns_pkt_free);
  ldns_pkt_set_id(packet.get(), 4242);
  uint8_t* wire = nullptr;
  size_t size = 0;
  REQUIRE(ldns_pkt2wire(&wire, packet.get(), &size) == LDNS_STATUS_OK);
  DnsBytes bytes(wire, wire + size);
  std::free(wire);
  return bytes;
}

Packet Parse(const DnsBytes& bytes) {
  ldns_pkt* packet = nullptr;
  REQUIRE(ldns_wire2pkt(&packet, bytes.data(), bytes.size()) == LDNS_STATUS_OK);
  return {packet, ldns_pkt_free};
}

TEST_CASE("an answer carries the question, the id and the records") {
  const DnsBytes query = Query("ring.default.svc.cluster.local.", LDNS_RR_TYPE_A);
  const auto resolve = [](const DnsQuestion& question) {
    CHECK(question.name == "ring.default.svc.cluster.local");
    CHECK(question.type == DnsQuestion::Type::kA);
    return DnsAnswer{true, {{DnsRecord::Type::kA, "10.244.0.2"}, {DnsRecord::Type::kA, "10.244.0.3"}}};
  };
  const Packet reply = Parse(AnswerDns(query.data(), query.size(), 512, resolve));
  CHECK(ldns_pkt_id(reply.get()) == 4242);
  CHECK(ldns_pkt_qr(reply.get()));
  CHECK(ldns_pkt_get_rcode(reply.get()) == LDNS_RCODE_NOERROR);
  CHECK(ldns_pkt_ancount(reply.get()) == 2);
}

TEST_CASE("a name that is not there, and a reply that is too long for a datagram") {
  const DnsBytes query = Query("a.default.svc.cluster.local.", LDNS_RR_TYPE_A);
  const Packet none =
      Parse(AnswerDns(query.data(), query.size(), 512, [](const auto&) { return DnsAnswer{}; }));
  CHECK(ldns_pkt_get_rcode(none.get()) == LDNS_RCODE_NXDOMAIN);
  DnsAnswer many{true, {}};
  for (int i = 0; i < 100; ++i)
    many.records.push_back({DnsRecord::Type::kA, "10.244.0." + std::to_string(i)});
  const DnsBytes cut = AnswerDns(query.data(), query.size(), 512, [&](const auto&) { return many; });
  CHECK(cut.size() <= 512);
  CHECK(ldns_pkt_tc(Parse(cut).get()));
  CHECK(ldns_pkt_ancount(Parse(AnswerDns(query.data(), query.size(), 65535, [&](const auto&) {
                           return many;
                         })).get()) == 100);
}

TEST_CASE("what is no question gets no answer") {
  const auto never = [](const auto&) -> DnsAnswer {
    FAIL("asked");
    return {};
  };
  const uint8_t rubbish[] = {1, 2, 3};
  CHECK(AnswerDns(rubbish, sizeof rubbish, 512, never).empty());
  CHECK(AnswerDns(rubbish, 0, 512, never).empty());
}

}  // namespace
}  // namespace tfemu::daemon
