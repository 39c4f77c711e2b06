// The grammar of github.com/distribution/reference, as far as names on one host need it.
#include "runtime/image/reference.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "emulator/base/strings.h"

namespace tfemu::image {
namespace {

bool IsLowerAlnum(char c) { return std::islower(static_cast<unsigned char>(c)) || (c >= '0' && c <= '9'); }

bool ValidComponent(std::string_view part) {
  const auto allowed = [](char c) { return IsLowerAlnum(c) || c == '.' || c == '_' || c == '-'; };
  return !part.empty() && std::all_of(part.begin(), part.end(), allowed) && IsLowerAlnum(part.front()) &&
         IsLowerAlnum(part.back());
}

bool ValidDomain(std::string_view part) {
  const auto allowed = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == ':' || c == '-';
  };
  return !part.empty() && std::all_of(part.begin(), part.end(), allowed);
}

bool ValidTag(std::string_view tag) {
  const auto allowed = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
  };
  return !tag.empty() && tag.size() <= 128 && std::all_of(tag.begin(), tag.end(), allowed) && tag[0] != '.' &&
         tag[0] != '-';
}

// The first component is a registry when it could not be a folder of Docker's own.
bool LooksLikeDomain(std::string_view part) {
  return part.find_first_of(".:") != part.npos || part == "localhost" ||
         std::any_of(part.begin(), part.end(), [](unsigned char c) { return std::isupper(c); });
}

Error Invalid(const std::string& text, const std::string& why) {
  return {
      .reason = Reason::kInvalid,
      .message = "couldn't parse image reference \"" + text + "\": " + why,
      .hint =
          "a reference is [REGISTRY/]NAME[:TAG] in lower case, such as registry.example.com/team/mnist:1.0"};
}

// Takes the tag off `rest`; a colon before the last slash belongs to a registry's port.
std::optional<std::string> TakeTag(std::string& rest) {
  const size_t colon = rest.rfind(':');
  const size_t slash = rest.rfind('/');
  if (colon == rest.npos || (slash != rest.npos && colon < slash)) return std::nullopt;
  std::string tag = rest.substr(colon + 1);
  rest.resize(colon);
  return tag;
}

}  // namespace

Result<Reference> ParseReference(const std::string& text) {
  std::string rest = text.substr(0, text.find('@'));
  Reference reference;
  if (auto tag = TakeTag(rest)) {
    if (!ValidTag(*tag)) return Invalid(text, "invalid tag");
    reference.tag = *tag;
  }
  std::string domain = "docker.io";
  if (const size_t slash = rest.find('/'); slash != rest.npos && LooksLikeDomain(rest.substr(0, slash))) {
    domain = rest.substr(0, slash);
    rest = rest.substr(slash + 1);
  }
  if (!ValidDomain(domain)) return Invalid(text, "invalid registry");
  for (const std::string& part : Split(rest, '/')) {
    if (!ValidComponent(part)) return Invalid(text, "invalid reference format");
  }
  if (domain == "index.docker.io") domain = "docker.io";
  if (domain == "docker.io") {
    if (rest.starts_with("library/")) rest = rest.substr(8);
    reference.familiar = rest;
    reference.repository = domain + (rest.find('/') == rest.npos ? "/library/" : "/") + rest;
  } else {
    reference.familiar = reference.repository = domain + "/" + rest;
  }
  return reference;
}

std::optional<size_t> MatchPattern(const std::string& pattern, const Reference& reference) {
  std::string repository = pattern;
  const std::string tag = TakeTag(repository).value_or("*");
  if (!GlobMatch(tag, reference.tag)) return std::nullopt;
  if (!GlobMatch(repository, reference.familiar) && !GlobMatch(repository, reference.repository)) {
    return std::nullopt;
  }
  return std::count_if(pattern.begin(), pattern.end(), [](char c) { return c != '*' && c != '?'; });
}

}  // namespace tfemu::image
