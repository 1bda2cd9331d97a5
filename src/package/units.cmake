# SPDX-License-Identifier: Apache-2.0
#
# Installs the units. systemd finds a program without a path in its own search path only, which holds /usr/bin and
# /usr/local/bin; below any other prefix the units name the binary by its path.
set(program cnpa-op)
if(NOT CMAKE_INSTALL_PREFIX MATCHES "^/usr(/local)?$")
  set(program "${CMAKE_INSTALL_PREFIX}/bin/cnpa-op")
  # A systemd.unit(5) that takes a specifier, a quote or a space for what it is.
  if(program MATCHES "[^A-Za-z0-9_./+-]")
    string(REPLACE "\\" "\\\\" program "${program}")
    string(REPLACE "\"" "\\\"" program "${program}")
    string(REPLACE "%" "%%" program "${program}")
    set(program "\"${program}\"")
  endif()
endif()

foreach(name cnpa-op.service cnpa-op@.service cnpa-op-diff.service cnpa-op-diff.timer)
  file(READ "${source}/${name}" unit)
  foreach(setting ExecStart ExecReload)
    string(REPLACE "\n${setting}=cnpa-op " "\n${setting}=${program} " unit "${unit}")
  endforeach()
  file(WRITE "${scratch}/${name}" "${unit}")
  file(INSTALL "${scratch}/${name}" DESTINATION "${CMAKE_INSTALL_PREFIX}/lib/systemd/system"
       FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endforeach()
