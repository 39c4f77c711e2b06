// The drivers of network storage, decoded and checked.
#include "emulator/api/volume_source.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "emulator/api/cluster_config.h"
#include "emulator/api/network_directory.h"
#include "emulator/api/storage_class.h"

namespace tfemu::api {
namespace {

std::optional<NetworkDirectory> Decode(const char* text) {
  std::string problem;
  auto decoded = DecodeNetworkDirectory(Json::parse(text), problem);
  CHECK((problem.empty() || !decoded));
  return decoded;
}

std::string Problem(const char* text, bool persistent = true) {
  const Messages messages = CheckVolumeSource(Json::parse(text), "spec", persistent);
  return messages.empty() ? "" : messages.front().field + ": " + messages.front().message;
}

TEST_CASE("one directory, however it is spelled") {
  const NetworkDirectory wanted{"host.nas", "/data"};
  CHECK(Decode(R"({"nfs": {"server": "host.nas", "path": "/data"}})") == wanted);
  CHECK(Decode(R"({"flexVolume": {"driver": "alicloud/nas", "options": {"server": "host.nas", "path": "/data",
      "vers": "4.0"}}})") == wanted);
  CHECK(Decode(
            R"({"csi": {"driver": "nasplugin.csi.alibabacloud.com", "volumeAttributes": {"server": "host.nas",
      "path": "/data"}}})") == wanted);
  CHECK(Decode(R"({"csi": {"driver": "other"}})") == std::nullopt);
}

TEST_CASE("options of ossfs") {
  CHECK(OssOptions("-o allow_other -oumask=022,ro  -o max_stat_cache_size=0") ==
        std::vector<std::string>{"allow_other", "umask=022", "ro", "max_stat_cache_size=0"});
  const auto bucket =
      Decode(R"({"flexVolume": {"driver": "alicloud/oss", "options": {"bucket": "b", "url": "u",
      "otherOpts": "-o ro -o umask=0027"}}})");
  REQUIRE(bucket);
  CHECK(bucket->object_storage);
  CHECK(bucket->read_only);
  CHECK(bucket->path == "/");
  CHECK(*bucket->mode == 0750);
  CHECK(OssOptionKind("nonempty") == OssOption::kUnknown);
  CHECK(OssOptionKind("max_stat_cache_size=0") == OssOption::kTuning);
}

TEST_CASE("what is wrong with a source") {
  CHECK(Problem(R"({"nfs": {"server": "s", "path": "/a"}})") == "");
  CHECK(Problem(R"({"nfs": {"server": "s", "path": "a"}})") ==
        "spec.nfs.path: Invalid value: \"a\": must be an absolute path");
  CHECK(Problem(R"({"hostPath": {"path": "/a", "type": "Folder"}})")
            .starts_with("spec.hostPath.type: Unsupported value: \"Folder\""));
  CHECK(Problem(R"({"csi": {"driver": "ossplugin.csi.aliyun.com", "volumeHandle": "x"}})")
            .ends_with("did you mean \"ossplugin.csi.alibabacloud.com\"?"));
  CHECK(Problem(R"({"csi": {"driver": "nasplugin.csi.alibabacloud.com", "volumeHandle": "x",
      "volumeAttributes": {"server": "../etc"}}})") ==
        "spec.csi.volumeAttributes.server: Invalid value: \"../etc\": must be a plain name");
  CHECK(Problem(R"({"csi": {"driver": "nasplugin.csi.alibabacloud.com"}})", false).find("only supports") !=
        std::string::npos);
  CHECK(Problem(R"({"flexVolume": {"driver": "alicloud/nas", "options": {"server": "s", "mode": "rwx"}}})") ==
        "spec.flexVolume.options.mode: Invalid value: \"rwx\": must be octal, such as \"755\"");
  CHECK(Problem(R"({"emptyDir": {"sizeLimit": "-1"}})").starts_with("spec.emptyDir.sizeLimit"));
}

TEST_CASE("mounts") {
  const auto problem = [](const char* text) {
    const Messages found = CheckMountOptions(Json::parse(text), Json::object(), "m");
    return found.empty() ? "" : found.front().field;
  };
  CHECK(problem(R"j({"subPathExpr": "a/$(X)"})j") == "");
  CHECK(problem(R"({"subPathExpr": "a", "subPath": "b"})") == "m.subPathExpr");
  CHECK(problem(R"({"subPathExpr": "../a"})") == "m.subPathExpr");
  CHECK(problem(R"({"mountPropagation": "Bidirectional"})") == "m.mountPropagation");
  CHECK(problem(R"({"recursiveReadOnly": "Enabled"})") == "m.recursiveReadOnly");
  CHECK(problem(R"({"recursiveReadOnly": "Enabled", "readOnly": true})") == "");
}

TEST_CASE("folders of the cluster's configuration") {
  const auto decode = [](const char* storage) {
    return DecodeClusterConfig(Json::parse(
        std::string(R"({"apiVersion": "tfemu.dev/v1alpha1", "kind": "Cluster", )") + storage + "}"));
  };
  const auto config =
      decode(R"("nas": {"a": "/x", "b": {"folder": "/y", "quota": "10Gi"}}, "oss": {"c": "/z"})");
  REQUIRE(config.ok());
  CHECK(config.value().nas.at("a").folder == "/x");
  CHECK(config.value().nas.at("b").quota_bytes == int64_t{10} << 30);
  CHECK(config.value().oss.at("c").folder == "/z");
  CHECK_FALSE(decode(R"("nas": {"a": "x"})").ok());
  CHECK_FALSE(decode(R"("nas": {"a": {"folder": "/x", "quota": "-1"}})").ok());
  CHECK_FALSE(decode(R"("nas": {"a": {"folder": "/x", "quota": "much"}})").ok());
  CHECK_FALSE(decode(R"("nas": {"a": {"foldr": "/x"}})").ok());
}

TEST_CASE("classes") {
  const auto fields = [](const char* text) {
    std::string all;
    for (const auto& message : ValidateStorageClass(Json::parse(text), nullptr)) all += message.field + " ";
    return all;
  };
  CHECK(fields(R"({"metadata": {"name": "a"}, "provisioner": "rancher.io/local-path"})") == "");
  CHECK(fields(R"({"metadata": {"name": "a"}})") == "provisioner ");
  CHECK(fields(R"({"metadata": {"name": "a"}, "provisioner": "x", "volumeBindingMode": "Later"})") ==
        "volumeBindingMode ");
  CHECK(fields(R"({"metadata": {"name": "a"}, "provisioner": "nasplugin.csi.alibabacloud.com"})") ==
        "parameters.server ");
  CHECK(ProvisionerProblem("nasplugn.csi.alibabacloud.com").find("did you mean") != std::string::npos);
}

}  // namespace
}  // namespace tfemu::api
