#include "emulator/daemon/dns_message.h"

#include <ldns/ldns.h>

#include <memory>

namespace tfemu::daemon {
namespace {

using controllers::DnsAnswer;
using controllers::DnsQuestion;
using controllers::DnsRecord;

constexpr uint32_t kTtl = 5;  // seconds, as CoreDNS's kubernetes plugin

using Packet = std::unique_ptr<ldns_pkt, decltype(&ldns_pkt_free)>;

DnsQuestion::Type TypeOf(ldns_rr_type type) {
  if (type == LDNS_RR_TYPE_A) return DnsQuestion::Type::kA;
  if (type == LDNS_RR_TYPE_SRV) return DnsQuestion::Type::kSrv;
  return type == LDNS_RR_TYPE_PTR ? DnsQuestion::Type::kPtr : DnsQuestion::Type::kOther;
}

std::string NameOf(const ldns_rr* rr) {
  char* text = ldns_rdf2str(ldns_rr_owner(rr));
  std::string name = text == nullptr ? "" : text;
  std::free(text);
  if (!name.empty() && name.back() == '.') name.pop_back();
  return name;
}

ldns_rdf* NameRdf(const std::string& name) { return ldns_dname_new_frm_str((name + ".").c_str()); }

ldns_rr* MakeRecord(const ldns_rr* question, const DnsRecord& record) {
  ldns_rr* rr = ldns_rr_new();
  ldns_rr_set_owner(rr, ldns_rdf_clone(ldns_rr_owner(question)));
  ldns_rr_set_ttl(rr, kTtl);
  ldns_rr_set_class(rr, LDNS_RR_CLASS_IN);
  switch (record.type) {
    case DnsRecord::Type::kA:
      ldns_rr_set_type(rr, LDNS_RR_TYPE_A);
      ldns_rr_push_rdf(rr, ldns_rdf_new_frm_str(LDNS_RDF_TYPE_A, record.target.c_str()));
      break;
    case DnsRecord::Type::kPtr:
      ldns_rr_set_type(rr, LDNS_RR_TYPE_PTR);
      ldns_rr_push_rdf(rr, NameRdf(record.target));
      break;
    case DnsRecord::Type::kSrv:
      ldns_rr_set_type(rr, LDNS_RR_TYPE_SRV);
      ldns_rr_push_rdf(rr, ldns_native2rdf_int16(LDNS_RDF_TYPE_INT16, 0));
      ldns_rr_push_rdf(rr, ldns_native2rdf_int16(LDNS_RDF_TYPE_INT16, 100));
      ldns_rr_push_rdf(rr, ldns_native2rdf_int16(LDNS_RDF_TYPE_INT16, static_cast<uint16_t>(record.port)));
      ldns_rr_push_rdf(rr, NameRdf(record.target));
      break;
  }
  return rr;
}

DnsBytes Encode(const ldns_pkt* packet) {
  uint8_t* wire = nullptr;
  size_t size = 0;
  if (ldns_pkt2wire(&wire, packet, &size) != LDNS_STATUS_OK) return {};
  DnsBytes bytes(wire, wire + size);
  std::free(wire);
  return bytes;
}

}  // namespace

DnsBytes AnswerDns(const uint8_t* query, size_t size, size_t limit, const DnsResolver& resolve) {
  ldns_pkt* raw = nullptr;
  if (ldns_wire2pkt(&raw, query, size) != LDNS_STATUS_OK) return {};
  const Packet asked(raw, ldns_pkt_free);
  const ldns_rr_list* questions = ldns_pkt_question(asked.get());
  if (ldns_pkt_qr(asked.get()) || ldns_rr_list_rr_count(questions) != 1) return {};
  const ldns_rr* question = ldns_rr_list_rr(questions, 0);

  const Packet reply(ldns_pkt_new(), ldns_pkt_free);
  ldns_pkt_set_id(reply.get(), ldns_pkt_id(asked.get()));
  ldns_pkt_set_qr(reply.get(), true);
  ldns_pkt_set_aa(reply.get(), true);
  ldns_pkt_set_rd(reply.get(), ldns_pkt_rd(asked.get()));
  ldns_pkt_set_ra(reply.get(), true);
  ldns_pkt_push_rr(reply.get(), LDNS_SECTION_QUESTION, ldns_rr_clone(question));
  const DnsAnswer answer = resolve({NameOf(question), TypeOf(ldns_rr_get_type(question))});
  if (!answer.exists) ldns_pkt_set_rcode(reply.get(), LDNS_RCODE_NXDOMAIN);
  for (const DnsRecord& record : answer.records)
    ldns_pkt_push_rr(reply.get(), LDNS_SECTION_ANSWER, MakeRecord(question, record));
  DnsBytes bytes = Encode(reply.get());
  if (bytes.size() <= limit) return bytes;
  // Too long for a datagram: the client asks again over TCP.
  ldns_pkt_set_tc(reply.get(), true);
  ldns_rr_list_deep_free(ldns_pkt_answer(reply.get()));
  ldns_pkt_set_answer(reply.get(), ldns_rr_list_new());
  ldns_pkt_set_ancount(reply.get(), 0);
  return Encode(reply.get());
}

}  // namespace tfemu::daemon
