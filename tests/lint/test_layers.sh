#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The layer check itself: it passes the sources as they are, and fails on each kind of fault.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$here/layers" "$here/../../src"

expect_fault() {
  local file=$1 text=$2
  rm -rf "$scratch/src"
  cp -r "$here/../../src" "$scratch/src"
  mkdir -p "$(dirname "$scratch/src/$file")"
  printf '%s\n' "$text" >> "$scratch/src/$file"
  if "$here/layers" "$scratch/src" 2>/dev/null; then
    echo "layers: does not see '$text' in $file" >&2
    exit 1
  fi
}
expect_fault base/file.cc '#include "core/plan/change.h"'
expect_fault core/teamspace/plan.cc '#include "kube/api/client.h"'
expect_fault kube/api/client.cc '#include "app/commands/run.h"'
expect_fault kube/json/json.cc '#include "kube/http/transport.h"'
expect_fault core/placement/groups.cc '#include "core/teamspace/plan.h"'
expect_fault core/plan/reason.h '#include "core/plan/change.h"'
expect_fault core/teamspace/plan.cc '#include <curl/curl.h>'
expect_fault kube/api/client.cc '#include <rapidjson/document.h>'
expect_fault app/commands/run.cc '#include "reconcile.h"'
expect_fault app/other.cc '#include "base/file.h"'
