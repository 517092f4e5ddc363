"use strict";
(() => {
  const rows = () => [...document.querySelectorAll(".step, .run")].filter((row) => !row.hidden);
  const move = (by) => {
    const all = rows();
    const here = all.indexOf(document.activeElement.closest(".step, .run"));
    const next = all[here < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, here + by))];
    if (next) { next.focus(); next.scrollIntoView({ block: "nearest" }); }
  };
  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
    target.scrollIntoView({ block: "center" });
  };
  const search = document.querySelector("input[data-filters]");
  const listed = search ? [...document.querySelectorAll(search.dataset.filters)] : [];
  let texts, only = [];
  const filter = () => {
    texts ??= listed.map((row) => row.textContent.toLowerCase());
    const wanted = search.value.toLowerCase();
    listed.forEach((row, place) => {
      const keys = (row.dataset.keys ?? "").split(" ");
      row.hidden = !texts[place].includes(wanted) || !only.every((key) => keys.includes(key));
    });
  };
  if (search) search.addEventListener("input", filter);
  for (const link of document.querySelectorAll("a[data-only]")) link.addEventListener("click", () => {
    only = link.dataset.only.split(" ").filter(Boolean);
    const told = document.getElementById("only");
    told.hidden = !only.length;
    told.querySelector("span").textContent = link.title;
    search.value = "";
    filter();
  });
  const keys = {
    j: () => move(1),
    k: () => move(-1),
    g: () => scrollTo(0, 0),
    e: () => {
      const all = [...document.querySelectorAll(".step details")];
      const open = !all.every((each) => each.open);
      all.forEach((each) => { each.open = open; });
    },
    "/": () => search && search.focus(),
    Enter: () => {
      const row = document.activeElement;
      const inner = row.querySelector(":scope > details");
      const link = row.querySelector("a");
      if (inner) inner.open = !inner.open;
      else if (link) link.click();
    },
  };
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && event.target === search) { search.value = ""; search.dispatchEvent(new Event("input")); search.blur(); }
    if (event.target.matches("input, summary, a") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
  addEventListener("hashchange", reveal);
  reveal();
})();
