"""The names a user needs are importable, lazily, from the package itself."""

import subprocess
import sys

import stepladder


def test_every_public_name_can_be_had_from_the_package() -> None:
    for name in stepladder.__all__:
        assert getattr(stepladder, name).__doc__


def test_the_public_names_are_those_with_a_home() -> None:
    assert sorted(stepladder._HOME_OF) == sorted(stepladder.__all__)


def test_importing_the_package_does_not_import_torch() -> None:
    code = "import sys, stepladder; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
