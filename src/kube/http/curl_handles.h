// SPDX-License-Identifier: Apache-2.0
//
// Owners of libcurl's handles.
#pragma once

#include <memory>
#include <string>

#include <curl/curl.h>

namespace cnpa {

struct CurlEasyDeleter {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct CurlMultiDeleter {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
struct CurlSlistDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
struct CurlStringDeleter {
  void operator()(char* text) const { curl_free(text); }
};
struct CurlUrlDeleter {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

using CurlEasy = std::unique_ptr<CURL, CurlEasyDeleter>;
using CurlMulti = std::unique_ptr<CURLM, CurlMultiDeleter>;
using CurlSlist = std::unique_ptr<curl_slist, CurlSlistDeleter>;
using CurlString = std::unique_ptr<char, CurlStringDeleter>;
using CurlUrl = std::unique_ptr<CURLU, CurlUrlDeleter>;

/// Appends a copy of `text` to `list`.
inline void Append(CurlSlist& list, const std::string& text) {
  curl_slist* longer = curl_slist_append(list.get(), text.c_str());
  if (longer == nullptr) return;  // Out of memory; see the style page: not handled.
  static_cast<void>(list.release());
  list.reset(longer);
}

}  // namespace cnpa
