// SPDX-License-Identifier: Apache-2.0
//
// Catch2 3 brings its main in a library of its own; of Catch2 2 it is made here.
#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>

int main(int argc, char** argv) {
  return Catch::Session().run(argc, argv);
}
#else
#define CATCH_CONFIG_MAIN  // NOLINT(cppcoreguidelines-macro-usage): Catch2 asks for it.
#include <catch2/catch.hpp>
#endif
