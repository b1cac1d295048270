"""Writes the report of the demo's archive, and the README's picture of it: `make example-report`."""

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from tapewise.dashboards.browser import CHROMIUM
from tests.acceptance.conftest import TREE, run_command

PAGE = TREE / "docs" / "example-report.html"
PICTURE = TREE / "docs" / "images" / "report.png"


def write(home: Path) -> None:
    done = run_command(["--home", str(home), "report", "--archive", "example", "--html", str(PAGE)])
    if done.returncode:
        sys.exit(done.stderr)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 840, "height": 900}, device_scale_factor=1.5)
        page.goto(PAGE.as_uri())
        # The part that lists what is missing is long, and the same for every reader.
        page.add_style_tag(content="#about { display: none; }")
        end = page.locator("#days figcaption").bounding_box()
        assert end is not None
        clip = {"x": 0, "y": 0, "width": 840, "height": end["y"] + end["height"] + 16}
        page.screenshot(path=PICTURE, full_page=True, clip=clip)
        chromium.close()


if __name__ == "__main__":
    write(TREE / ".demo")
