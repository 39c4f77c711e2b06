// batch/v1 Job and CronJob: every field of Kubernetes 1.33, and what becomes of it here.
#include "emulator/api/schemas.h"

namespace tfemu::api {
namespace {

constexpr Field kExitCodesFields[] = {String("containerName"), String("operator"), Integer("values").List()};
constexpr Schema kExitCodes{kExitCodesFields};
constexpr Field kPodConditionFields[] = {String("status"), String("type")};
constexpr Schema kPodCondition{kPodConditionFields};
constexpr Field kRuleFields[] = {String("action"), OneOf("onExitCodes", kExitCodes),
                                 ListOf("onPodConditions", kPodCondition)};
constexpr Schema kRule{kRuleFields};
constexpr Field kFailurePolicyFields[] = {ListOf("rules", kRule)};
constexpr Schema kFailurePolicy{kFailurePolicyFields};

constexpr std::string_view kPerIndex = "failures are counted for the whole Job";
constexpr Field kJobSpecFields[] = {
    Integer("activeDeadlineSeconds"),
    Integer("backoffLimit"),
    Integer("backoffLimitPerIndex").Ignored(kPerIndex),
    String("completionMode"),
    Integer("completions"),
    String("managedBy").Ignored("there is one Job controller"),
    Boolean("manualSelector"),
    Integer("maxFailedIndexes").Ignored(kPerIndex),
    Integer("parallelism"),
    OneOf("podFailurePolicy", kFailurePolicy),
    String("podReplacementPolicy"),
    OneOf("selector", kLabelSelectorSchema),
    Any("successPolicy").Ignored("a Job is complete when all its completions are there"),
    Boolean("suspend"),
    OneOf("template", kPodTemplateSchema),
    Integer("ttlSecondsAfterFinished")};
constexpr Schema kJobSpec{kJobSpecFields};
constexpr Field kJobFields[] = {String("apiVersion"), String("kind"), OneOf("metadata", kObjectMetaSchema),
                                OneOf("spec", kJobSpec), Any("status")};

constexpr Field kJobTemplateFields[] = {OneOf("metadata", kObjectMetaSchema), OneOf("spec", kJobSpec)};
constexpr Schema kJobTemplate{kJobTemplateFields};
constexpr Field kCronSpecFields[] = {String("concurrencyPolicy"),
                                     Integer("failedJobsHistoryLimit"),
                                     OneOf("jobTemplate", kJobTemplate),
                                     String("schedule"),
                                     Integer("startingDeadlineSeconds"),
                                     Integer("successfulJobsHistoryLimit"),
                                     Boolean("suspend"),
                                     String("timeZone").Ignored("schedules are read in UTC")};
constexpr Schema kCronSpec{kCronSpecFields};
constexpr Field kCronFields[] = {String("apiVersion"), String("kind"), OneOf("metadata", kObjectMetaSchema),
                                 OneOf("spec", kCronSpec), Any("status")};

}  // namespace

constexpr Schema kBatchJobSchema{kJobFields};
constexpr Schema kCronJobSchema{kCronFields};

}  // namespace tfemu::api
