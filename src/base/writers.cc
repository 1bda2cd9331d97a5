// SPDX-License-Identifier: Apache-2.0
#include "base/writers.h"

#include <cstdlib>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

namespace cnpa {
namespace {

struct CFree {
  void operator()(char* text) const { std::free(text); }
};

bool IsOurs(uid_t owner) {
  return owner == 0 || owner == ::geteuid();
}

bool IsWritableByOthers(const struct stat& facts) {
  return (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

std::string Quoted(const std::string& path) {
  return "'" + path + "'";
}

std::string DescribeFile(const std::string& path, const struct stat& facts) {
  const std::string file = Quoted(path);
  if (IsWritableByOthers(facts)) return file + " can be written by others than its owner: chmod go-w " + file;
  if (IsOurs(facts.st_uid)) return {};
  return file + " belongs to user " + std::to_string(facts.st_uid) +
         ", who can change it: run cnpa-op as that user, or chown root " + file;
}

std::string DescribeFolder(const std::string& path, const std::string& folder, const struct stat& facts) {
  const std::string above = Quoted(path) + " can be replaced by ";
  if (!IsOurs(facts.st_uid)) {
    return above + "user " + std::to_string(facts.st_uid) + ", to whom the folder " + Quoted(folder) +
           " belongs: run cnpa-op as that user, or move the file";
  }
  const bool sticky = (facts.st_mode & S_ISVTX) != 0;
  if (!IsWritableByOthers(facts) || sticky) return {};
  return above + "others, who can write the folder " + Quoted(folder) + ": chmod go-w " + Quoted(folder);
}

}  // namespace

std::string DescribeOtherWriters(const std::string& path) {
  const std::unique_ptr<char, CFree> real(::realpath(path.c_str(), nullptr));
  struct stat facts {};
  // What can't be read is told by whoever reads it.
  if (!real || ::stat(real.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return {};
  std::string words = DescribeFile(path, facts);
  for (std::string folder = real.get(); words.empty() && folder != "/";) {
    folder = FolderOf(folder);
    if (::stat(folder.c_str(), &facts) == 0) words = DescribeFolder(path, folder, facts);
  }
  return words;
}

}  // namespace cnpa
