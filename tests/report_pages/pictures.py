"""Takes pictures of pages in light, dark and grey, and on a phone, for people to look at."""

import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tapewise.dashboards.browser import CHROMIUM

DESK, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
LOOKS = {
    "light": {"viewport": DESK},
    "dark": {"viewport": DESK, "color_scheme": "dark"},
    "phone": {"viewport": PHONE},
}


def take_pictures(chromium: Browser, page: Path, folder: Path) -> list[Path]:
    """Write a picture of `page` for each look into `folder`, and return their paths."""
    pictures = []

    def take(opened, look: str) -> None:
        pictures.append(folder / f"{page.stem}-{look}.png")
        opened.screenshot(path=pictures[-1], full_page=True)

    for look, options in LOOKS.items():
        with chromium.new_context(offline=True, **options) as context:
            opened = context.new_page()
            opened.goto(page.resolve().as_uri())
            take(opened, look)
            if look == "light":
                opened.add_style_tag(content="html { filter: grayscale(1); }")
                take(opened, "grey")
    return pictures


def main(arguments: list[str]) -> None:
    if len(arguments) < 2:
        sys.exit("Name a folder for the pictures, then the pages.")
    folder, *pages = map(Path, arguments)
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        # Chromium's sandbox does not work for root. It is not needed, because only our pages are opened.
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for page in pages:
            print(*take_pictures(chromium, page, folder), sep="\n")
        chromium.close()


if __name__ == "__main__":
    main(sys.argv[1:])
