// A value or an Error. Interfaces of this project do not throw; exceptions of libraries end at their wrapper.
#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "emulator/base/check.h"
#include "emulator/base/error.h"

namespace tfemu {

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : rep_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : rep_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return rep_.index() == 0; }
  const T& value() const& {
    CHECK_THAT(ok());
    return std::get<0>(rep_);
  }
  T& value() & {
    CHECK_THAT(ok());
    return std::get<0>(rep_);
  }
  T&& value() && {
    CHECK_THAT(ok());
    return std::get<0>(std::move(rep_));
  }
  const Error& error() const& {
    CHECK_THAT(!ok());
    return std::get<1>(rep_);
  }
  Error&& error() && {
    CHECK_THAT(!ok());
    return std::get<1>(std::move(rep_));
  }

 private:
  std::variant<T, Error> rep_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_; }
  const Error& error() const {
    CHECK_THAT(!ok());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace tfemu

#define TFEMU_CONCAT_INNER(a, b) a##b
#define TFEMU_CONCAT(a, b) TFEMU_CONCAT_INNER(a, b)

#define RETURN_IF_ERROR(expression)                                         \
  do {                                                                      \
    if (auto result_ = (expression); !result_.ok()) return result_.error(); \
  } while (false)

// ASSIGN_OR_RETURN(auto pod, DecodePod(object));
#define ASSIGN_OR_RETURN(declaration, expression) \
  TFEMU_ASSIGN_OR_RETURN(TFEMU_CONCAT(result_, __LINE__), declaration, expression)
#define TFEMU_ASSIGN_OR_RETURN(name, declaration, expression) \
  auto name = (expression);                                   \
  if (!name.ok()) return std::move(name).error();             \
  declaration = std::move(name).value()
