// One object in full: facts, relations, YAML.

const MAX_RELATED = 40;

class Details {
  constructor(graph, go, closed) {
    this.graph = graph;
    this.go = go;
    this.panel = document.getElementById("details");
    this.shown = () => {}; // called with each object that is shown
    this.part = (name) => document.getElementById(name);
    this.part("details-close").addEventListener("click", closed);
    this.part("copy").addEventListener("click", () => this.copy());
  }

  show(node) {
    this.node = node;
    this.panel.hidden = false;
    this.panel.scrollTop = 0;
    this.part("details-kind").textContent = node.kind;
    this.part("details-name").textContent = node.name;
    this.part("facts").replaceChildren(...this.facts(node));
    this.shown(node);
    this.part("relations").replaceChildren(
      ...this.relation("Owns", node.owned),
      ...this.relation("Starts after", this.startup(node, "targets", "sources")),
      ...this.relation("Starts before", this.startup(node, "sources", "targets")),
      ...this.relation("Comes after", neighbours(node, "into")),
      ...this.relation("Comes before", neighbours(node, "outOf")),
    );
    const text = yamlOf(this.graph, node);
    this.part("copy").hidden = !text;
    this.part("copy").textContent = "Copy";
    this.part("yaml").replaceChildren(...(text ? colouredYaml(text, inputLinesOf(this.graph, node)) : ["Not in the input: only its name is known."]));
    this.part("yaml").scrollLeft = 0;
  }

  /** What changes of an object that is shown while it is. */
  refresh(node) {
    this.part("facts").replaceChildren(...this.facts(node));
    this.shown(node);
  }

  hide() {
    this.panel.hidden = true;
  }

  facts(node) {
    const facts = [];
    const fact = (name, ...value) => facts.push(element("dt", {}, name), element("dd", {}, ...value));
    if (node.state) fact("State", node.state);
    if (node.size) fact("Holds", `${counted(node.size.cliques, "clique")}, ${counted(node.size.pods, "pod")}, ${counted(node.size.gpus, "GPU")}`);
    if (node.namespace) fact("Namespace", node.namespace);
    fact("Applied", levelName(node.level));
    if (node.rule) fact("Rule", node.rule, ...(node.doc ? [element("br"), element("span", { class: "muted" }, node.doc)] : []));
    if (node.owner >= 0) fact("Owner", this.link(node.owner));
    if (node.gang >= 0 && node.gang !== node.index) fact("Gang", this.link(node.gang));
    for (const domain of node.domains) {
      const name = domain.type === "mnnvl" ? "MNNVL" : "Topology";
      const of = domain.scope === "gang" || domain.type === "mnnvl" ? "" : ` (${domain.scope} ${domain.name})`;
      fact(name, swatch(domain), ` ${domain.type === "mnnvl" ? domain.name : describeDomain(domain)}${of}`);
    }
    return facts;
  }

  startup(node, here, there) {
    return [...new Set(this.graph.startup.filter((edge) => edge[here].includes(node.index)).flatMap((edge) => edge[there]))];
  }

  relation(name, others) {
    if (!others.length) return [];
    const items = others.slice(0, MAX_RELATED).map((index) => element("li", {}, this.link(index)));
    if (others.length > MAX_RELATED) items.push(element("li", { class: "muted" }, `and ${others.length - MAX_RELATED} more`));
    return [element("details", {}, element("summary", {}, `${name} ${others.length.toLocaleString("en")}`), element("ul", {}, ...items))];
  }

  link(index) {
    const node = this.graph.nodes[index];
    const button = element("button", { type: "button", class: "link" }, `${node.kind} ${node.name}`);
    button.addEventListener("click", () => this.go(index));
    return button;
  }

  async copy() {
    const text = yamlOf(this.graph, this.node);
    try {
      await navigator.clipboard.writeText(text);
      this.part("copy").textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(this.part("yaml"));
      this.part("copy").textContent = "Selected: press Ctrl+C";
    }
  }
}

/** The colour of a domain; with the number of an MNNVL domain, which its objects carry, too. */
function swatch(domain) {
  const made = element("span", { class: domain.type === "topology" ? "swatch box" : "swatch numbered" }, String(domain.number ?? ""));
  made.style.setProperty("--swatch", `var(--${domain.colour})`);
  made.style.display = "inline-block";
  return made;
}
