#include "emulator/api/eci_bill.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "emulator/api/eci_settings.h"
#include "emulator/api/printer_fields.h"
#include "emulator/api/view.h"
#include "emulator/base/strings.h"
#include "emulator/base/time_format.h"

namespace tfemu::api {
namespace {

std::string Annotation(const Object& pod, const std::string& key) {
  const Json& annotations = Field(pod.doc(), "metadata.annotations");
  const auto it = annotations.is_object() ? annotations.find(key) : annotations.end();
  return it != annotations.end() && it->is_string() ? it->get<std::string>() : "";
}

std::optional<Instant> EndOf(const Object& pod) {
  const std::string phase = FieldText(pod.doc(), "status.phase");
  if (phase != "Succeeded" && phase != "Failed") return std::nullopt;
  std::optional<Instant> end;
  for (const Json& status : FieldList(pod.doc(), "status.containerStatuses"))
    if (const auto at = ParseTime(FieldText(status, "state.terminated.finishedAt"))) end = std::max(end, at);
  return end;
}

}  // namespace

double EciBill::Amount(Instant now) const {
  const double hours = static_cast<double>((to.value_or(now) - from).count()) / 3.6e12;
  return hourly.value_or(0) * std::max(0.0, hours);
}

std::optional<EciBill> EciBillOf(const Object& pod) {
  EciBill bill;
  bill.id = Annotation(pod, std::string(kEciPrefix) + "eci-instance-id");
  if (bill.id.empty()) return std::nullopt;
  bill.spec = Annotation(pod, std::string(kEciPrefix) + "eci-instance-spec");
  if (const std::string price = Annotation(pod, kEciPriceAnnotation); !price.empty())
    bill.hourly = std::atof(price.c_str());
  const auto start = ParseTime(FieldText(pod.doc(), "status.startTime"));
  bill.from =
      start ? *start : ParseTime(FieldText(pod.doc(), "metadata.creationTimestamp")).value_or(Instant{});
  bill.to = EndOf(pod);
  return bill;
}

std::string SumOfBills(const std::vector<EciBill>& bills, Instant now) {
  if (bills.empty()) return "";
  double hourly = 0, amount = 0;
  std::set<std::string> unknown;
  for (const EciBill& bill : bills) {
    hourly += bill.hourly.value_or(0);
    amount += bill.Amount(now);
    if (!bill.hourly) unknown.insert(bill.spec);
  }
  std::string text = std::to_string(bills.size()) + " ECI instance" + (bills.size() > 1 ? "s, " : ", ") +
                     Cny(hourly) + " CNY/h, " + Cny(amount) + " CNY so far";
  if (!unknown.empty())
    text += "; no price for " + Join({unknown.begin(), unknown.end()}, ", ") +
            " (eci.prices in cluster.yaml takes it)";
  return text;
}

std::string Cny(double amount) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4f", amount);
  return text;
}

}  // namespace tfemu::api
