// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <utility>

namespace cnpa {

/// A std::optional whose value, if there is one, stands apart: for what is large and seldom there, in objects of which
/// there are many. As a value it is copied and compared.
template <typename T>
class Boxed {
 public:
  Boxed() = default;
  Boxed(std::nullopt_t /*nothing*/) {}                               // NOLINT(google-explicit-constructor)
  Boxed(T value) : value_(std::make_unique<T>(std::move(value))) {}  // NOLINT(google-explicit-constructor)
  Boxed(std::optional<T> value)                                      // NOLINT(google-explicit-constructor)
      : value_(value ? std::make_unique<T>(*std::move(value)) : nullptr) {}
  Boxed(const Boxed& other) : value_(other ? std::make_unique<T>(*other) : nullptr) {}
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(const Boxed& other) {
    if (this != &other) value_ = other ? std::make_unique<T>(*other) : nullptr;
    return *this;
  }
  Boxed& operator=(Boxed&&) noexcept = default;
  ~Boxed() = default;

  operator std::optional<T>() const {  // NOLINT(google-explicit-constructor)
    return value_ != nullptr ? std::optional<T>(*value_) : std::nullopt;
  }

  explicit operator bool() const { return value_ != nullptr; }
  bool has_value() const { return value_ != nullptr; }
  void reset() { value_.reset(); }
  const T& operator*() const { return *value_; }
  T& operator*() { return *value_; }
  const T* operator->() const { return value_.get(); }
  T* operator->() { return value_.get(); }

  friend bool operator==(const Boxed& left, const Boxed& right) {
    return left && right ? *left == *right : !left && !right;
  }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace cnpa
