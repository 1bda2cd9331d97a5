# SPDX-License-Identifier: Apache-2.0
#
# The Debian package, made by CPack. What other packages have in a folder debian/ is here.
# Policy wants them compressed, and without a time inside.
function(cnpa_compress source file)
  add_custom_command(OUTPUT ${made}/${file} COMMAND gzip -9nc ${source} > ${made}/${file} DEPENDS ${source} VERBATIM)
  set(compressed ${compressed} ${made}/${file} PARENT_SCOPE)
endfunction()
set(compressed)
cnpa_compress(${made}/cnpa-op.1 cnpa-op.1.gz)
cnpa_compress(${made}/cnpa-op-config.5 cnpa-op-config.5.gz)
cnpa_compress(${CMAKE_CURRENT_LIST_DIR}/changelog changelog.Debian.gz)
add_custom_target(cnpa_debian DEPENDS ${compressed})
add_dependencies(cnpa_debian cnpa-op cnpa_documents)

function(cnpa_debian_install)
  install(FILES ${ARGN} EXCLUDE_FROM_ALL COMPONENT debian)
endfunction()
cnpa_debian_install(${made}/cnpa-op.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
cnpa_debian_install(${made}/cnpa-op-config.5.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man5)
cnpa_debian_install(${made}/_cnpa-op DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
cnpa_debian_install(${CMAKE_CURRENT_LIST_DIR}/copyright ${made}/changelog.Debian.gz
                    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/cnpa-op)
cnpa_debian_install(${made}/config.yaml DESTINATION /etc/cnpa-op)
cnpa_debian_install(${CMAKE_CURRENT_LIST_DIR}/lintian-overrides
                    DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME cnpa-op)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "cnpa-op maintainers <maintainers@cnpa-op.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Kubernetes controller for TeamSpaces without a daemon")
set(CPACK_PACKAGE_DESCRIPTION
"A TeamSpace is a namespace with a quota for one team. cnpa-op reads the
TeamSpaces of a cluster over REST, works out which namespace, quota, finalizer
and status should be there, and writes only the differences. Nothing of it runs
in the cluster, and what a pass would change can be seen beforehand.
.
systemd units run it as a service for the k3s of the same machine, or for each
of several clusters, and as a daily dry run. They are neither enabled nor
started by the installation.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_PREFIX /usr)  # Whatever prefix the folder is configured with.
set(CPACK_INSTALL_CMAKE_PROJECTS "${CMAKE_BINARY_DIR};cnpa-op;common;/;${CMAKE_BINARY_DIR};cnpa-op;debian;/")
set(CPACK_MONOLITHIC_INSTALL ON)
# For /etc, which is not below the prefix.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS ${CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS})
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The units reload by kill(1).
set(CPACK_DEBIAN_PACKAGE_DEPENDS procps)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS ca-certificates)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/conffiles ${CMAKE_CURRENT_LIST_DIR}/postinst
    ${CMAKE_CURRENT_LIST_DIR}/prerm ${CMAKE_CURRENT_LIST_DIR}/postrm)
include(CPack)
