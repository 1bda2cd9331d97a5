// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kube/auth/kubeconfig_file.h"
#include "kube/json/yaml.h"

namespace cnpa {

/// The largest file that a kubeconfig names: a certificate, a key, a token.
inline constexpr std::size_t kLargestSecretBytes = std::size_t{1} << 20U;

/// Reads the fields of an entry of a kubeconfig, or of a part of it. Sticky: read all of them, look at status() once;
/// the first thing that was wrong is kept. Relative paths are relative to the entry's file.
class FieldReader {
 public:
  /// Requires: `entry` outlives the reader, and the reader its parts.
  explicit FieldReader(const KubeconfigEntry& entry);
  FieldReader(const FieldReader&) = delete;
  FieldReader& operator=(const FieldReader&) = delete;
  FieldReader(FieldReader&&) = delete;
  FieldReader& operator=(FieldReader&&) = delete;
  ~FieldReader() = default;

  const Status& status() const { return status_; }

  /// Returns a reader of the map `field`.
  FieldReader Part(const char* field) { return {*this, value_[field], Words(field)}; }

  bool Has(const char* field) const;                                         ///< It is there, and not empty.
  bool IsThere(const char* field) const { return value_[field].present(); }  ///< It may be empty.

  std::string Text(const std::string& field);
  bool Flag(const char* field);
  std::vector<std::string> Texts(const char* field);

  /// Returns a list of `name` and `value`.
  std::vector<std::pair<std::string, std::string>> NamedValues(const char* field);

  /// Returns a map of lists, one pair for each element.
  std::vector<std::pair<std::string, std::string>> TextLists(const char* field);

  /// Returns the bytes of `<field>-data` (base64) or of the file that `<field>` names.
  std::string Bytes(const std::string& field);

  /// Returns where `path` leads from the entry's file; "" when it leads nowhere.
  std::string PathOf(const std::string& path, const std::string& field);

  /// Returns what is under `extension:` in the entry `name` of the list `extensions`.
  const YamlValue& Extension(std::string_view name) const;

  /// Two extensions of one name: nobody can tell which counts.
  void CheckExtensions();

  /// Notes that a field is wrong, or the entry as a whole.
  void Fail(const std::string& field, const std::string& what);
  void Fail(const std::string& what);

  /// `'/etc/x.yaml': user "admin": client-key`
  std::string Words(const std::string& field) const { return words_ + ": " + field; }

 private:
  FieldReader(FieldReader& whole, const YamlValue& value, std::string words);

  const std::vector<YamlValue>& Items(const char* field);
  std::string File(const std::string& path, const std::string& field);

  const YamlValue& value_;
  const std::string& file_;
  bool alone_;
  std::string words_;
  Status own_status_;
  Status& status_;
};

}  // namespace cnpa
