// Puts the parts of the page together.

const FEW_LINES = 600; // up to so many lines are drawn from the start
const byId = (id) => document.getElementById(id);

class Page {
  constructor(graph) {
    const shown = new Uint8Array(graph.nodes.length).fill(1);
    colourDomains(graph.domains);
    this.graph = graph;
    this.search = new Search(graph);
    this.state = { graph, shown, selected: -1, hovered: -1, lit: null, matches: null, owners: true, order: false, colours: readColours() };
    this.group = null; // the objects of the domain that is pressed in the sidebar
    this.viewport = new Viewport(byId("stage"), () => this.painter.move());
    this.painter = new Painter(byId("canvas"), this.viewport, this.state);
    this.outline = new Outline(byId("list"), byId("rows"), graph, (index) => this.choose(index, "show"));
    this.details = new Details(graph, (index) => this.choose(index, "show"), () => this.close());
    this.connect();
    this.viewport.resize();
    this.arrange();
    this.list();
    this.fit();
    this.fromAddress();
  }

  connect() {
    const { state, viewport } = this;
    const stage = byId("stage");
    this.pointer = new Pointer(stage, viewport, state, {
      hover: (index, x, y) => this.hover(index, x, y),
      choose: (index) => (index < 0 ? this.choose(-1) : this.choose(index, "stay")),
    });
    const actions = { choose: (index) => this.choose(index, "reveal"), fit: () => this.fit(), search: () => byId("query").focus(), close: () => this.close() };
    listenToKeys(stage, viewport, state, actions);
    new ResizeObserver(() => viewport.resize()).observe(stage);
    byId("zoom-in").addEventListener("click", () => viewport.zoom(ZOOM_STEP));
    byId("zoom-out").addEventListener("click", () => viewport.zoom(1 / ZOOM_STEP));
    byId("zoom-fit").addEventListener("click", () => this.fit());
    byId("sidebar-toggle").addEventListener("click", () => this.toggleSidebar());
    watchTheme(byId("theme"), () => {
      state.colours = readColours();
      this.painter.request();
    });
    this.connectSidebar();
    addEventListener("hashchange", () => this.fromAddress());
  }

  connectSidebar() {
    const { graph, state } = this;
    byId("query").addEventListener("input", () => this.list());
    byId("in-yaml").addEventListener("change", () => this.list());
    byId("query").addEventListener("keydown", (event) => event.key === "Enter" && this.nextMatch(event.shiftKey ? -1 : 1));
    offerKinds(byId("kinds"), graph.kinds, (kinds) => {
      for (const node of graph.nodes) state.shown[node.index] = kinds.has(node.kind) ? 1 : 0;
      this.arrange();
      this.list();
      this.fit();
    });
    const offered = offerDomains(byId("domains"), graph.domains, (members) => {
      this.group = members;
      this.light();
    });
    byId("domains-section").hidden = !offered;
    for (const [id, key] of [["show-owners", "owners"], ["show-order", "order"]]) {
      byId(id).addEventListener("change", (event) => {
        state[key] = event.target.checked;
        this.painter.request();
      });
    }
    if (matchMedia("(max-width: 900px)").matches) this.toggleSidebar();
  }

  /** Lays out what is shown. */
  arrange() {
    const { graph, state, viewport } = this;
    state.layout = layOut(graph, state.shown, viewport.width / viewport.height);
    const of = (type) => collectLines(graph.edges.filter((edge) => edge.type === type), state.layout);
    state.lines = { owner: of("owner"), after: of("after") };
    if (state.order === false && byId("show-owners").dataset.set === undefined) {
      byId("show-owners").dataset.set = "";
      byId("show-owners").checked = state.owners = state.lines.owner.length / 4 <= FEW_LINES;
      byId("show-order").checked = state.order = (state.lines.owner.length + state.lines.after.length) / 4 <= FEW_LINES / 4;
    }
    byId("nothing").hidden = state.shown.includes(1);
    this.painter.request();
  }

  fit() {
    this.viewport.fit(this.state.layout.width, this.state.layout.height);
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

  /** Chooses an object, -1 for none. `how` says what the view does: "stay", "reveal" what is out of sight, or "show" in the middle. */
  choose(index, how = "stay") {
    const { graph, state } = this;
    if (index === state.selected && how === "stay") return;
    state.selected = index;
    this.outline.select(index);
    this.light();
    if (index < 0) {
      this.details.hide();
      byId("said").textContent = "";
      return;
    }
    const node = graph.nodes[index];
    this.details.show(node);
    byId("said").textContent = `${node.kind} ${node.name}, ${levelName(node.level)}${node.gang >= 0 ? `, gang ${graph.nodes[node.gang].name}` : ""}`;
    this.toAddress(node);
    this.viewport.resize(); // the panel may have taken room
    if (how !== "stay" && state.shown[index]) this.viewport[how](state.layout.x[index] + CARD.width / 2, state.layout.y[index] + CARD.height / 2);
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

  hover(index, x, y) {
    const { graph, state } = this;
    const tip = byId("tip");
    byId("stage").classList.toggle("over", index >= 0);
    tip.hidden = index < 0;
    if (index >= 0) {
      const node = graph.nodes[index];
      tip.textContent = [`${node.kind} ${node.name}`, ...node.domains.map(describeDomain)].join("\n");
      tip.style.left = `${Math.min(x + 14, Math.max(0, this.viewport.width - tip.offsetWidth - 8))}px`;
      tip.style.top = `${y + 18 + tip.offsetHeight > this.viewport.height ? y - tip.offsetHeight - 10 : y + 18}px`;
    }
    if (index === state.hovered) return;
    state.hovered = index;
    this.painter.request();
  }

  /** Decides what stands out: the neighbourhood of the selected object, else what is searched for, else the pressed domain. */
  light() {
    const { graph, state } = this;
    if (state.selected >= 0) {
      const node = graph.nodes[state.selected];
      state.lit = new Set([node.index, node.owner, ...node.owned, ...neighbours(node, "into"), ...neighbours(node, "outOf")]);
      if (node.kind === "PodGang") for (const other of graph.nodes) if (other.gang === node.index) state.lit.add(other.index);
    } else state.lit = state.matches ?? this.group;
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
const gangs = graph.kinds.get("PodGang") ?? 0;
byId("numbers").textContent = [
  `${1 + Math.max(...graph.nodes.map((node) => node.level))} levels`,
  `${gangs.toLocaleString("en")} ${gangs === 1 ? "gang" : "gangs"}`,
  ...(graph.kinds.has("Pod") ? [`${graph.kinds.get("Pod").toLocaleString("en")} pods`] : []),
].join(" · ");
window.grove = page; // for the browser's console, and for tests
page.painter.draw();
byId("not-running").hidden = true;
document.documentElement.dataset.ready = String(Math.round(performance.now()));
