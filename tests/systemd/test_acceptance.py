# SPDX-License-Identifier: Apache-2.0
"""The eight steps of tests/lab with the real unit: started, stopped and started again by systemctl."""


def test_the_eight_steps_come_out_as_told_with_the_service(acceptance):
    code, output = acceptance()
    assert code == 0, output
    assert "all points hold" in output
