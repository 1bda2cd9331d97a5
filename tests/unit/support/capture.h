// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

namespace cnpa {

/// Keeps what is written to a standard stream, from construction to Text() or destruction.
class CapturedStream {
 public:
  explicit CapturedStream(std::FILE* stream) : stream_(stream), file_(std::tmpfile()), saved_(::dup(::fileno(stream))) {
    if (file_ == nullptr || saved_ < 0) std::abort();
    std::fflush(stream_);
    ::dup2(::fileno(file_), ::fileno(stream_));
  }
  ~CapturedStream() {
    Restore();
    std::fclose(file_);
  }
  CapturedStream(const CapturedStream&) = delete;
  CapturedStream& operator=(const CapturedStream&) = delete;
  CapturedStream(CapturedStream&&) = delete;
  CapturedStream& operator=(CapturedStream&&) = delete;

  /// Ends the capture and returns all of it.
  std::string Text() {
    Restore();
    std::string text;
    std::rewind(file_);
    for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) text.push_back(static_cast<char>(c));
    return text;
  }

 private:
  void Restore() {
    if (saved_ < 0) return;
    std::fflush(stream_);
    ::dup2(saved_, ::fileno(stream_));
    ::close(saved_);
    saved_ = -1;
  }

  std::FILE* stream_;
  std::FILE* file_;
  int saved_;
};

}  // namespace cnpa
