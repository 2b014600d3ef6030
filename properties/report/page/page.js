"use strict";
// Tables can be sorted and filtered; without this script they are complete, in the order of the run.
const resets = [];
for (const table of document.querySelectorAll("table[data-sortable]")) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const value = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
  const number = (text) => ({ inf: Infinity, "-inf": -Infinity })[text] ?? (text === "" ? NaN : Number(text));
  const compare = (left, right) => {
    const [a, b] = [number(left), number(right)];
    if (Number.isNaN(a) || Number.isNaN(b)) {
      return Number.isNaN(a) && Number.isNaN(b) ? left.localeCompare(right) : Number.isNaN(a) - Number.isNaN(b);
    }
    return a < b ? -1 : a > b ? 1 : 0;
  };
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const falling = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      const sorted = [...rows].sort((a, b) => (falling ? -1 : 1) * compare(value(a, column), value(b, column)));
      body.append(...sorted);
    });
  });

  const label = document.createElement("label");
  const input = document.createElement("input");
  const count = document.createElement("output");
  const bar = document.createElement("div");
  input.type = "search";
  label.append("Filter ", input);
  bar.className = "filter";
  bar.append(label, count);
  table.parentElement.before(bar);
  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += !row.hidden;
    }
    count.textContent = words.length ? `${shown} of ${rows.length} rows` : "";
  };
  input.addEventListener("input", filter);
  resets.push(() => { input.value = ""; filter(); });
}

// A link must reach its row although a filter or a closed part hides it.
const reveal = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.hidden) resets.forEach((reset) => reset());
  for (let part = target.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
  target.scrollIntoView();
};
addEventListener("hashchange", reveal);
reveal();
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
});
