"use strict";
// Tables can be sorted, and one search goes over all of them; without this script the page is complete.
const rows = [...document.querySelectorAll("tbody tr[data-row]:not([data-row=unexpected]), article[data-row]")];
const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
const folds = [...document.querySelectorAll("details[data-fold]")];

// --- sorting: missing values come last in either direction
for (const table of document.querySelectorAll("table[data-sortable]")) {
  const body = table.tBodies[0];
  const own = [...body.rows];
  const value = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
  const number = (text) => ({ inf: Infinity, "-inf": -Infinity })[text] ?? (text === "" ? NaN : Number(text));
  const isMissing = (text) => text === "" || text === "–";
  const compare = (left, right, sign) => {
    if (isMissing(left) || isMissing(right)) return isMissing(left) - isMissing(right);
    const [a, b] = [number(left), number(right)];
    if (Number.isNaN(a) || Number.isNaN(b)) {
      return Number.isNaN(a) && Number.isNaN(b) ? sign * left.localeCompare(right) : Number.isNaN(a) - Number.isNaN(b);
    }
    return sign * (a < b ? -1 : a > b ? 1 : 0);
  };
  const heads = [...table.tHead.rows[0].cells];
  for (const row of own) [...row.cells].forEach((cell, column) => { cell.dataset.label = heads[column].textContent; });
  table.classList.add("cards");
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const falling = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      body.append(...[...own].sort((a, b) => compare(value(a, column), value(b, column), falling ? -1 : 1)));
    });
  });
}

// --- the first five unexpected results, and a button for the others
const late = [...document.querySelectorAll("tr[data-late]")];
if (late.length) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "more";
  button.textContent = `Show ${late.length} more`;
  late.forEach((row) => row.classList.add("late"));
  button.addEventListener("click", () => { late.forEach((row) => row.classList.remove("late")); button.remove(); });
  late[0].closest(".table").after(button);
}

// --- one search, with filters; its state is in the address, after "#?"
const FILTERS = ["verdict", "evidence", "scope", "document"];
const bar = document.createElement("form");
const count = document.createElement("output");
const controls = new Map();
const control = (name, label, element) => {
  const wrapped = document.createElement("label");
  wrapped.append(`${label} `, element);
  element.name = name;
  bar.append(wrapped);
  controls.set(name, element);
};
const input = document.createElement("input");
input.type = "search";
control("q", "Search", input);
for (const name of FILTERS) {
  const words = [...new Set(rows.map((row) => row.dataset[name]).filter(Boolean))].sort();
  if (words.length < 2) continue;
  const select = document.createElement("select");
  select.append(new Option("any", ""), ...words.map((word) => new Option(word, word)));
  control(name, name[0].toUpperCase() + name.slice(1), select);
}
bar.className = "filter";
bar.setAttribute("role", "search");
bar.append(count);
bar.addEventListener("submit", (event) => event.preventDefault());
document.querySelector("main").before(bar);

let wasActive = false;
const search = () => {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = [...controls].filter(([name, element]) => name !== "q" && element.value);
  const isActive = words.length + wanted.length > 0;
  let shown = 0;
  for (const row of rows) {
    row.hidden = isActive && !(words.every((word) => texts.get(row).includes(word))
      && wanted.every(([name, element]) => row.dataset[name] === element.value));
    shown += !row.hidden;
  }
  for (const fold of folds) {
    const found = isActive && fold.querySelector("[data-row]:not([hidden])");
    if (isActive || wasActive) fold.open = Boolean(found);
    fold.closest("section").hidden = isActive && !found;
  }
  wasActive = isActive;
  count.textContent = isActive ? `${shown} of ${rows.length} results` : "";
};
const keep = () => {
  const state = new URLSearchParams([...controls].map(([name, element]) => [name, element.value]).filter(([, v]) => v));
  history.replaceState(null, "", state.size ? `#?${state}` : "#");
  search();
};
bar.addEventListener("input", keep);

// --- links: one to a row must reach it although a filter or a closed part hides it
const reveal = () => {
  const hash = location.hash;
  if (hash.startsWith("#?")) {
    const state = new URLSearchParams(hash.slice(2));
    for (const [name, element] of controls) element.value = state.get(name) ?? "";
    search();
    return;
  }
  const target = hash.length > 1 && document.getElementById(decodeURIComponent(hash.slice(1)));
  if (!target) return;
  if (target.closest("[hidden]")) {
    for (const element of controls.values()) element.value = "";
    search();
  }
  for (let part = target.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
  target.scrollIntoView();
};
addEventListener("hashchange", reveal);
reveal();
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
  late.forEach((row) => row.classList.remove("late"));
});
