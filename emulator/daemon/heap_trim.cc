#include "emulator/daemon/heap_trim.h"

#include "emulator/io/resident.h"

namespace tfemu::daemon {
namespace {

constexpr Duration kWait = std::chrono::seconds(2);  // trimming takes milliseconds: not after each deletion

}  // namespace

HeapTrim::HeapTrim(Executor& executor, store::Store& store) : executor_(executor), store_(store) {
  const auto watch = store_.Watch({"Pod", ""}, store_.List({"Namespace", ""}).revision,
                                  [this](const store::WatchEvent& event) { OnWatch(event); });
  if (watch.ok()) watch_ = watch.value();
}

HeapTrim::~HeapTrim() {
  if (watch_) store_.Unwatch(*watch_);
  if (due_) executor_.Cancel(*due_);
}

void HeapTrim::OnWatch(const store::WatchEvent& event) {
  if (event.type != store::WatchType::kDeleted || due_) return;
  due_ = executor_.PostAt(executor_.Now() + kWait, [this] {
    due_.reset();
    io::ReturnFreeMemory();
  });
}

}  // namespace tfemu::daemon
