// SPDX-License-Identifier: Apache-2.0
#include "base/writers.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "base/file.h"

namespace cnpa {
namespace {

constexpr int kMostLinks = 40;  // As Linux has it.

struct CFree {
  void operator()(char* text) const { std::free(text); }
};

std::string WorkingFolder() {
  const std::unique_ptr<char, CFree> folder(::realpath(".", nullptr));
  return folder ? folder.get() : "";
}

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
         ", who can change it: run cnpa-op as that user, or on a copy of your own: install -m 600 " + file + " COPY";
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

/// Returns the parts of `path` between slashes, last first.
std::vector<std::string> PartsOf(const std::string& path) {
  std::vector<std::string> parts;
  std::istringstream text(path);
  for (std::string part; std::getline(text, part, '/');) {
    if (!part.empty() && part != ".") parts.push_back(part);
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

/// Returns where the symbolic link `path` points to; "" where it is none.
std::string LinkTarget(const std::string& path) {
  std::string target(PATH_MAX, '\0');
  const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  target.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return target;
}

/// Returns each folder that the system goes through to find `path`, also on the way of symbolic links: who can write
/// one of them decides what is found.
std::vector<std::string> FoldersOnTheWay(const std::string& path) {
  std::vector<std::string> folders;
  std::vector<std::string> left = PartsOf(path.starts_with('/') ? path : WorkingFolder() + "/" + path);
  std::string at = "/";
  for (int links = 0; !left.empty() && links <= kMostLinks;) {
    const std::string part = left.back();
    left.pop_back();
    if (part == "..") {
      at = FolderOf(at);
      continue;
    }
    folders.push_back(at);
    const std::string next = (at == "/" ? "" : at) + "/" + part;
    const std::string target = LinkTarget(next);
    if (target.empty()) {
      at = next;
      continue;
    }
    ++links;
    if (target.starts_with('/')) at = "/";
    const std::vector<std::string> parts = PartsOf(target);
    left.insert(left.end(), parts.begin(), parts.end());
  }
  return folders;
}

}  // namespace

std::string DescribeOtherWriters(const std::string& path) {
  const std::unique_ptr<char, CFree> real(::realpath(path.c_str(), nullptr));
  struct stat facts {};
  // What can't be read is told by whoever reads it.
  if (!real || ::stat(real.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return {};
  std::string words = DescribeFile(path, facts);
  for (const std::string& folder : FoldersOnTheWay(path)) {
    if (words.empty() && ::stat(folder.c_str(), &facts) == 0) words = DescribeFolder(path, folder, facts);
  }
  return words;
}

}  // namespace cnpa
