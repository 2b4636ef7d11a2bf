// Puts the parts of the page together.

const FEW_LINES = 600; // up to so many lines are drawn from the start
const byId = (id) => document.getElementById(id);

class Page {
  constructor(graph) {
    const shown = new Uint8Array(graph.nodes.length).fill(1);
    colourDomains(graph.domains);
    this.graph = graph;
    this.search = new Search(graph);
    this.folds = new Folds();
    this.state = {
      graph, shown, selected: -1, hovered: -1, lit: null, litItems: null, matches: null, colours: readColours(),
      owners: true, order: false, startup: true,
    };
    this.group = null; // the objects of the domain that is pressed in the sidebar
    this.viewport = new Viewport(byId("stage"), () => this.painter.move());
    this.painter = new Painter(byId("canvas"), this.viewport, this.state);
    this.minimap = new Minimap(byId("minimap"), this.viewport, this.state);
    this.painter.drawn = () => this.minimap.draw();
    this.outline = new Outline(byId("list"), byId("rows"), graph, (index) => this.choose(index, "show"));
    this.details = new Details(graph, (index) => this.choose(index, "show"), () => this.close());
    this.connect();
    this.viewport.resize();
    this.refold();
    this.offerLines();
    this.list();
    this.fit();
    this.fromAddress();
  }

  connect() {
    const { state, viewport } = this;
    const stage = byId("stage");
    this.pointer = new Pointer(stage, viewport, state, {
      hover: (under, x, y) => this.hover(under, x, y),
      choose: (under) => this.press(under),
    });
    listenToKeys(viewport, state, {
      choose: (index) => this.choose(index, "reveal"),
      toggle: () => this.toggleSelected(),
      fit: () => this.fit(),
      search: () => byId("query").focus(),
      close: () => this.close(),
    });
    new ResizeObserver(() => viewport.resize()).observe(stage);
    const pressed = {
      "zoom-in": () => viewport.zoom(ZOOM_STEP),
      "zoom-out": () => viewport.zoom(1 / ZOOM_STEP),
      "zoom-fit": () => this.fit(),
      fold: () => this.toggleAll(),
      "save-svg": () => save(svgOf(this.painter), `${this.graph.title}.svg`),
      "save-png": async () => save(await pngOf(this.painter), `${this.graph.title}.png`),
      "sidebar-toggle": () => this.toggleSidebar(),
    };
    for (const [id, action] of Object.entries(pressed)) byId(id).addEventListener("click", action);
    watchTheme(byId("theme"), () => {
      state.colours = readColours();
      this.minimap.remake();
      this.painter.request();
    });
    this.connectSidebar();
    this.offer();
    addEventListener("hashchange", () => this.fromAddress());
  }

  connectSidebar() {
    const { state } = this;
    byId("query").addEventListener("input", () => this.list());
    byId("in-yaml").addEventListener("change", () => this.list());
    byId("query").addEventListener("keydown", (event) => event.key === "Enter" && this.nextMatch(event.shiftKey ? -1 : 1));
    for (const [id, key] of [["show-owners", "owners"], ["show-order", "order"], ["show-startup", "startup"]]) {
      byId(id).addEventListener("change", (event) => {
        state[key] = event.target.checked;
        this.painter.request();
      });
    }
    if (matchMedia("(max-width: 900px)").matches) this.toggleSidebar();
  }

  /** Fills the sidebar with the kinds and domains that there are. Kinds in `off` are switched off. */
  offer(off = new Set()) {
    const { graph, state } = this;
    byId("kinds").replaceChildren();
    byId("domains").replaceChildren();
    offerKinds(byId("kinds"), graph.kinds, off, (kinds) => {
      for (const node of graph.nodes) state.shown[node.index] = kinds.has(node.kind) ? 1 : 0;
      this.refold();
      this.list();
      this.fit();
    });
    const offered = offerDomains(byId("domains"), graph.domains, (members) => {
      this.group = members;
      this.light();
    });
    byId("domains-section").hidden = !offered;
    explainMoods(byId("moods"), graph.nodes);
    byId("startup-choice").hidden = !graph.startup.length;
    this.count();
  }

  count() {
    const { nodes } = this.graph;
    const gangs = nodes.filter((node) => node.size);
    const sum = (what) => gangs.reduce((all, gang) => all + gang.size[what], 0);
    byId("numbers").textContent = [
      counted(1 + Math.max(DECLARED, ...nodes.map((node) => node.level)), "step"),
      counted(gangs.length, "gang"),
      ...(sum("pods") ? [counted(sum("pods"), "pod")] : []),
      ...(sum("gpus") ? [counted(sum("gpus"), "GPU")] : []),
    ].join(" · ");
  }

  /** Shows another graph in place of the one that is there. What is chosen, opened and switched off stays so, as far as it is there. */
  replace(graph) {
    const { state, folds } = this;
    const before = this.graph, wasEmpty = !before.nodes.length;
    const chosen = state.selected >= 0 ? before.nodes[state.selected].id : "";
    const off = new Set([...before.kinds.keys()].filter((kind) => before.nodes.every((node) => node.kind !== kind || !state.shown[node.index])));
    colourDomains(graph.domains);
    folds.carry(before, graph);
    Object.assign(this, { graph, search: new Search(graph), group: null });
    this.outline.graph = this.details.graph = state.graph = graph;
    state.shown = new Uint8Array(graph.nodes.length).map((_, index) => (off.has(graph.nodes[index].kind) ? 0 : 1));
    state.hovered = state.selected = this.outline.selected = -1;
    this.offer(off);
    if (wasEmpty) this.refold();
    else this.arrange();
    this.list();
    if (wasEmpty) this.fit();
    const again = chosen ? graph.nodes.findIndex((node) => node.id === chosen) : -1;
    if (again >= 0) this.choose(again);
    else if (chosen) this.details.hide();
    this.settle();
  }

  /** Folds as little as lets texts be read, and lays that out. */
  refold() {
    const { graph, state, folds, viewport } = this;
    for (const way of FOLDINGS) {
      folds.start(way);
      const { width, height } = layOut(graph, state.shown, viewport.width / viewport.height, folds);
      if (viewport.scaleOf(width, height) >= way.least) break;
    }
    this.arrange();
  }

  /** Lays out what is shown, as it is folded now. */
  arrange() {
    const { graph, state, viewport, folds } = this;
    state.layout = layOut(graph, state.shown, viewport.width / viewport.height, folds);
    const of = (type) => collectLines(graph.edges.filter((edge) => edge.type === type), state.layout);
    state.lines = { owner: of("owner"), after: of("after") };
    byId("nothing").hidden = state.shown.includes(1);
    byId("nothing").textContent = graph.nodes.length ? "Nothing to draw: all kinds are hidden." : "Nothing to draw: there is no PodCliqueSet.";
    byId("fold").textContent = folds.way.gangs ? "Open all" : "Fold";
    byId("fold").hidden = !folds.way.gangs && !graph.kinds.has("PodGang");
    this.minimap.remake();
    this.light();
  }

  /** Draws lines from the start where there are few. */
  offerLines() {
    const { state } = this;
    const [owners, order] = [state.lines.owner.length / 4, state.lines.after.length / 4];
    byId("show-owners").checked = state.owners = owners <= FEW_LINES;
    byId("show-order").checked = state.order = owners + order <= FEW_LINES / 4;
  }

  fit() {
    this.viewport.fit(this.state.layout.width, this.state.layout.height);
  }

  /** Opens everything, or folds gangs again. */
  toggleAll() {
    const { folds } = this;
    if (!folds.way.gangs) folds.start(FOLDINGS.find((way) => way.gangs));
    else folds.start(FOLDINGS[1]);
    this.arrange();
    this.fit();
  }

  /** Opens or folds a gang or a stack, and shows what became of it. */
  toggle(key, index) {
    this.folds.toggle(key);
    this.arrange();
    const node = this.graph.nodes[index];
    const box = this.state.layout.boxes.find((each) => each.gang === node.gang);
    this.viewport.show(box ?? this.state.layout.items[this.state.layout.of[index]]);
  }

  toggleSelected() {
    const { state, graph } = this;
    if (state.selected < 0) return;
    const item = state.layout.items[state.layout.of[state.selected]];
    const { gang } = graph.nodes[state.selected];
    if (item && item.type !== "object") this.toggle(item.key, state.selected);
    else if (gang >= 0) this.toggle(gangKey(gang), gang);
  }

  /** A click: what is folded opens, a handle folds, an object or a gang is chosen. */
  press({ item: number, box, handle }) {
    const item = this.state.layout.items[number];
    if (item && item.type !== "object") this.toggle(item.key, item.index);
    else if (item) this.choose(item.index, "reveal");
    else if (box && handle) this.toggle(gangKey(box.gang), box.gang);
    else this.choose(box ? box.gang : -1, "stay");
  }

  /** Fills the list with what is shown and found. */
  list() {
    const { graph, state } = this;
    const query = byId("query").value;
    const found = this.search.find(query, byId("in-yaml").checked);
    const items = (found ?? graph.nodes.map((node) => node.index)).filter((index) => state.shown[index]);
    const all = graph.nodes.length.toLocaleString("en");
    const count = items.length.toLocaleString("en");
    byId("found").textContent = found ? `${count} of ${all} match` : items.length === graph.nodes.length ? `${all} objects` : `${count} of ${all} objects`;
    byId("said").textContent = found ? byId("found").textContent : "";
    state.matches = found && new Set(items);
    this.outline.show(items, wordsOf(query));
    this.light();
  }

  nextMatch(step) {
    const { items, selected } = this.outline;
    if (!items.length) return;
    const at = items.indexOf(selected);
    this.choose(items[at < 0 ? 0 : (at + step + items.length) % items.length], "show");
  }

  /**
   * Chooses an object, -1 for none. `how` says what the view does: "stay", "reveal" the card that it is on where that is out of sight, or
   * "show" the object itself, out of whatever is folded around it.
   */
  choose(index, how = "stay") {
    const { graph, state } = this;
    if (index === state.selected && how === "stay") return;
    state.selected = index;
    if (how === "show" && index >= 0) this.open(index);
    this.outline.select(index);
    this.light();
    if (index < 0) {
      this.details.hide();
      this.settle();
      byId("said").textContent = "";
      return;
    }
    const node = graph.nodes[index];
    this.details.show(node);
    byId("said").textContent = `${node.kind} ${node.name}, ${levelName(node.level)}${node.gang >= 0 ? `, gang ${graph.nodes[node.gang].name}` : ""}`;
    this.toAddress(node);
    this.settle();
    const item = state.layout.items[state.layout.of[index]];
    if (item && how !== "stay") this.viewport[how](item);
  }

  /** Opens what is folded around an object. */
  open(index) {
    const { state, folds } = this;
    for (let depth = 0; depth < 3 && state.shown[index]; depth++) {
      const item = state.layout.items[state.layout.of[index]];
      const closed = openingsOf(item, index, this.graph).filter((key) => !folds.isOpen(key));
      if (item.index === index && item.type === "gang") return; // the gang itself is on its card
      if (!closed.length) return;
      for (const key of closed) folds.toggle(key);
      this.arrange();
    }
  }

  /** The panel took room from the stage, lies on it, or has gone. */
  settle() {
    this.viewport.resize();
    const panel = byId("details").getBoundingClientRect(), stage = byId("stage").getBoundingClientRect();
    this.viewport.covered = byId("details").hidden ? 0 : Math.max(0, stage.right - Math.max(stage.left, panel.left));
  }

  close() {
    if (this.state.selected >= 0) {
      const inside = byId("details").contains(document.activeElement);
      this.choose(-1);
      if (inside) byId("stage").focus();
    } else if (byId("query").value) {
      byId("query").value = "";
      this.list();
    }
  }

  hover(under, x, y) {
    const { state } = this;
    const item = state.layout.items[under.item];
    const text = item ? this.tipOf(item) : under.handle ? "fold this gang" : "";
    const tip = byId("tip");
    byId("stage").classList.toggle("over", Boolean(item || under.box));
    tip.hidden = !text;
    if (text) {
      tip.textContent = text;
      tip.style.left = `${Math.min(x + 14, Math.max(0, this.viewport.width - tip.offsetWidth - 8))}px`;
      tip.style.top = `${y + 18 + tip.offsetHeight > this.viewport.height ? y - tip.offsetHeight - 10 : y + 18}px`;
    }
    if (under.item === state.hovered) return;
    state.hovered = under.item;
    this.painter.request();
  }

  tipOf(item) {
    const { graph } = this;
    const node = graph.nodes[item.index];
    if (item.type === "object") return [`${node.kind} ${node.name}`, node.state, ...node.domains.map(describeDomain)].filter(Boolean).join("\n");
    const last = graph.nodes[(item.type === "gangs" ? item.gangs : item.members).at(-1)];
    const lines = item.gangs ? gangLines(item, graph).slice(1).map(([text]) => text) : [];
    const domains = item.mnnvl?.size ? [[...item.mnnvl].slice(0, 3).map(describeDomain).join("\n")] : [];
    const name = item.type === "gang" ? node.name : `${node.name} to ${last.name}`;
    return [`${item.gangs ? "gang" : `${counted(item.members.length, "object")}: ${node.kind}`} ${name}`, ...lines, ...domains, "click to open"].filter(Boolean).join("\n");
  }

  /** Decides what stands out: the neighbourhood of the selected object, else what is searched for, else the pressed domain. */
  light() {
    const { graph, state } = this;
    if (state.selected >= 0) {
      const node = graph.nodes[state.selected];
      state.lit = new Set([node.index, node.owner, ...node.owned, ...neighbours(node, "into"), ...neighbours(node, "outOf")]);
      if (node.kind === "PodGang") for (const other of graph.nodes) if (other.gang === node.index) state.lit.add(other.index);
    } else state.lit = state.matches ?? this.group;
    state.litItems = state.lit && new Set([...state.lit].map((index) => state.layout.of[index]));
    this.painter.request();
  }

  toggleSidebar() {
    const hidden = (byId("sidebar").hidden = !byId("sidebar").hidden);
    byId("sidebar-toggle").setAttribute("aria-expanded", String(!hidden));
  }

  toAddress(node) {
    try {
      history.replaceState(null, "", `#${encodeURIComponent(node.id)}`);
    } catch {
      // some browsers forbid it for files; the page works without
    }
  }

  fromAddress() {
    let id;
    try {
      id = decodeURIComponent(location.hash.slice(1));
    } catch {
      return;
    }
    const node = id && this.graph.nodes.find((each) => each.id === id);
    if (node) this.choose(node.index, "show");
  }
}

const graph = readGraph(JSON.parse(byId("data").textContent));
const page = new Page(graph);
window.grove = page; // for the browser's console, and for tests
page.painter.draw();
byId("not-running").hidden = true;
document.documentElement.dataset.ready = String(Math.round(performance.now()));
