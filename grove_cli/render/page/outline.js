// The list of objects, for people who search, use a keyboard or hear the page. Only the rows in sight are made.

const ROW = 40;
const SPARE = 8;

class Outline {
  constructor(list, rows, graph, choose) {
    this.list = list;
    this.rows = rows;
    this.graph = graph;
    this.choose = choose;
    this.items = [];
    this.words = [];
    this.selected = -1;
    list.addEventListener("scroll", () => this.render(), { passive: true });
    list.addEventListener("keydown", (event) => this.key(event));
    list.addEventListener("focus", () => this.items.length && !this.items.includes(this.selected) && this.choose(this.items[0]));
    rows.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) this.choose(Number(row.dataset.index));
    });
    new ResizeObserver(() => this.render()).observe(list);
  }

  show(items, words) {
    this.items = items;
    this.words = words;
    this.rows.style.height = `${items.length * ROW}px`;
    this.render();
  }

  select(index) {
    this.selected = index;
    const at = this.items.indexOf(index);
    if (at >= 0) {
      const top = at * ROW, height = this.list.clientHeight;
      if (top < this.list.scrollTop) this.list.scrollTop = top;
      else if (top + ROW > this.list.scrollTop + height) this.list.scrollTop = top + ROW - height;
    }
    this.render();
  }

  render() {
    const first = Math.max(0, Math.floor(this.list.scrollTop / ROW) - SPARE);
    const last = Math.min(this.items.length, Math.ceil((this.list.scrollTop + this.list.clientHeight) / ROW) + SPARE);
    const made = [];
    for (let at = first; at < last; at++) made.push(this.row(at));
    this.rows.replaceChildren(...made);
    const active = this.items.includes(this.selected) ? `row-${this.selected}` : null;
    if (active && document.getElementById(active)) this.list.setAttribute("aria-activedescendant", active);
    else this.list.removeAttribute("aria-activedescendant");
  }

  row(at) {
    const node = this.graph.nodes[this.items[at]];
    const row = element(
      "div",
      {
        class: "row", role: "option", id: `row-${node.index}`, "data-index": node.index, title: node.id,
        "aria-selected": node.index === this.selected, "aria-setsize": this.items.length, "aria-posinset": at + 1,
      },
      element("span", { class: "name" }, ...marked(node.name, this.words)),
      element("span", { class: "kind" }, ...marked(node.kind, this.words), ` · ${levelName(node.level)}`),
    );
    row.style.top = `${at * ROW}px`;
    row.style.setProperty("--swatch", `var(--${kindVariable(node.kind)})`);
    return row;
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.list.clientHeight / ROW) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (!(event.key in steps) || !this.items.length || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const at = this.items.indexOf(this.selected) + steps[event.key];
    this.choose(this.items[Math.min(this.items.length - 1, Math.max(0, at))]);
  }
}
