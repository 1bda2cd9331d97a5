// SPDX-License-Identifier: Apache-2.0
//
// usage: cnpa-op-docs man1|man5|bash|zsh|fish|config
//
// Prints a man page, a completion or the configuration file that a package brings. It runs while cnpa-op is built, and
// is not installed.
#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include "docs/completion.h"
#include "docs/config.h"
#include "docs/man.h"

namespace {

const cnpa::Edition kEdition{.version = CNPA_OP_VERSION, .date = CNPA_OP_DATE};

struct Document {
  std::string_view name;
  std::string (*text)();
};

const std::array kDocuments{
    Document{"man1", [] { return cnpa::CommandPage(kEdition); }},
    Document{"man5", [] { return cnpa::ConfigPage(kEdition); }},
    Document{"bash", &cnpa::BashCompletion},
    Document{"zsh", &cnpa::ZshCompletion},
    Document{"fish", &cnpa::FishCompletion},
    Document{"config", &cnpa::ConfigFile},
};

}  // namespace

int main(int argc, char** argv) {
  for (const Document& document : kDocuments) {
    if (argc != 2 || document.name != argv[1]) continue;
    const std::string text = document.text();
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    return written ? 0 : 1;
  }
  std::fputs("usage: cnpa-op-docs man1|man5|bash|zsh|fish|config\n", stderr);
  return 2;
}
