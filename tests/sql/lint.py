"""`python -m tests.sql.lint`: run sqlfluff over sql/, including the bodies of functions.

sqlfluff ignores text between `$function$` marks, so each body is also linted separately. Exits with 1 if
there are complaints.
"""

import re
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

import sqlfluff
from sqlfluff.core import FluffConfig

from tapewise.schema.tables.mart import SQL_FOLDER

FOLDER = SQL_FOLDER.resolve()  # the package contains only a link to it
CONFIG = str(FOLDER.parent / ".sqlfluff")
BODY = re.compile(r"\$function\$\n(.*?)\$function\$", re.DOTALL)


@cache
def read_config(*, is_rust_used: bool) -> FluffConfig:
    """Return the project's rules, with sqlfluff's parser in Rust or the one in Python."""
    rust = "auto" if is_rust_used else "False"
    return FluffConfig.from_root(extra_config_path=CONFIG, overrides={"use_rust_parser": rust})


def complain_about(text: str) -> list[tuple[int, str]]:
    """Return sqlfluff's complaints about a text: line numbers and messages."""
    found = sqlfluff.lint(text, config=read_config(is_rust_used=True))
    if any(each["code"] == "PRS" for each in found):
        found = sqlfluff.lint(text, config=read_config(is_rust_used=False))
    return [(each["start_line_no"], f"{each['code']} {each['description']}") for each in found]


def lint_file(path: Path) -> list[str]:
    """Return the complaints about a file and the bodies of its functions, as `file:line: ...`."""
    text = path.read_text(encoding="utf-8")
    complaints = complain_about(text)
    for body in BODY.finditer(text):
        offset = text.count("\n", 0, body.start(1) + len(body[1]) - len(body[1].lstrip("\n")))
        complaints += [
            (offset + line, what)
            for line, what in complain_about(body[1].strip("\n") + "\n")
            # Arguments are qualified with the function's name, which is not in the body.
            if not what.startswith(f"RF01 Reference '{path.parent.name}.")
        ]
    return [f"{path.relative_to(FOLDER.parent)}:{line}: {what}" for line, what in complaints]


def main() -> int:
    """Lint every file on all cores; print the complaints."""
    with ProcessPoolExecutor() as processes:
        found = [
            each for of_file in processes.map(lint_file, sorted(FOLDER.glob("*/*/*.sql"))) for each in of_file
        ]
    for each in found:
        print(each)
    print(f"sqlfluff: {len(found)} complaints")
    return min(len(found), 1)


if __name__ == "__main__":
    sys.exit(main())
