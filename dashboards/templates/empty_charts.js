// Writes into each empty chart why it has nothing to show. The page's table of empty charts knows the reasons;
// Superset itself only says that there are no results.
const TABLE = "[data-test-chart-name$='and partial charts, and why'] tbody tr";
const EMPTY = "[data-test-chart-name] .slice_container [aria-label='empty']";

function readReasons() {
  const rows = [...document.querySelectorAll(TABLE)].filter((row) => row.cells.length === 2);
  return new Map(rows.map((row) => [...row.cells].map((cell) => cell.textContent.trim())));
}

function write(text, words) {
  if (text && text.textContent !== words) text.textContent = words;
}

function explain() {
  const reasons = readReasons();
  if (!reasons.size) return;
  for (const image of document.querySelectorAll(EMPTY)) {
    const chart = image.closest("[data-test-chart-name]").dataset.testChartName;
    const [title, more] = image.parentElement.querySelectorAll("p");
    write(title, `Nothing to show: ${reasons.get(chart) ?? reasons.get("any other empty chart")}`);
    write(more, "");
  }
}

let waiting;
new MutationObserver(() => {
  clearTimeout(waiting);
  waiting = setTimeout(explain, 100);
}).observe(document, { childList: true, characterData: true, subtree: true });
