// Reads the data of the page: objects that know each other, and what holds them together.

const DECLARED = -1;

/** Objects refer to each other by position in `nodes`; -1 is none. See `page_data` in as_html.py for the form of `data`. */
function readGraph(data) {
  const nodes = data.nodes.map(([kind, name, namespace, rule, level, owner, gang, text], index) => ({
    index, kind, name, namespace, level, owner, gang, text,
    rule: data.rules[rule][0],
    doc: data.rules[rule][1],
    id: namespace ? `${kind}/${namespace}/${name}` : `${kind}/${name}`,
    owned: [],
    into: [], // edges that end here
    outOf: [], // edges that begin here
    domains: [],
    size: null, // of a gang: cliques, pods, gpus
    state: "", // a few words, where a snapshot knows the object
    mood: "", // of a page that is served: ready, waiting, failed, going or missing
    lines: -1, // the part that says, line by line, what of the input is behind its YAML
  }));
  const edges = data.edges.map(([type, sources, targets]) => ({ type, sources, targets }));
  for (const node of nodes) if (node.owner >= 0) nodes[node.owner].owned.push(node.index);
  for (const edge of edges) {
    for (const source of edge.sources) nodes[source].outOf.push(edge);
    for (const target of edge.targets) nodes[target].into.push(edge);
  }
  for (const [index, cliques, pods, gpus] of data.gangs) nodes[index].size = { cliques, pods, gpus };
  for (const [index, part] of data.lines) nodes[index].lines = part;
  for (const [index, state, mood = ""] of data.states) Object.assign(nodes[index], { state, mood });
  const startup = data.startup.map(([sources, targets]) => ({ type: "startup", sources, targets }));
  const domains = readDomains(data.domains, nodes);
  return { nodes, edges, startup, domains, parts: data.parts, title: data.title, kinds: countKinds(nodes) };
}

function readDomains(list, nodes) {
  const domains = list.map(([type, name, required, preferred, scope, members]) => ({ type, name, required, preferred, scope, members }));
  for (const domain of domains) for (const member of domain.members) nodes[member].domains.push(domain);
  return domains;
}

/** Each kind with the number of its objects, in the order of their first appearance. */
function countKinds(nodes) {
  const kinds = new Map();
  for (const node of nodes) kinds.set(node.kind, (kinds.get(node.kind) ?? 0) + 1);
  return kinds;
}

/** "3 pods", "1 pod", "1,200 pods". */
function counted(count, one) {
  return `${count.toLocaleString("en")} ${one}${count === 1 ? "" : "s"}`;
}

/** The text that packer.py took apart. */
function unpack(parts, number) {
  const part = parts[number];
  return typeof part === "string" ? part : part.map((inner) => unpack(parts, inner)).join("");
}

function yamlOf(graph, node) {
  return node.text < 0 ? "" : unpack(graph.parts, node.text);
}

/** For each line of an object's YAML the places of the input behind it; empty where that is not known. */
function inputLinesOf(graph, node) {
  return node.lines < 0 ? [] : unpack(graph.parts, node.lines).split("\n");
}

function describeDomain(domain) {
  if (domain.type === "mnnvl") return `MNNVL domain ${domain.name}`;
  const parts = [[domain.required, "required"], [domain.preferred, "preferred"]];
  return parts.filter(([key]) => key).map(([key, word]) => `${key} ${word}`).join(", ");
}

/** Levels as steps of an apply, which people count from 1. */
function levelName(level) {
  return level === DECLARED ? "Declared" : `Step ${level + 1}`;
}

/** The objects that come before (`into`) or after (`outOf`) an object by order, without its owner and what it owns. */
function neighbours(node, direction) {
  const found = new Set();
  for (const edge of node[direction]) {
    if (edge.type === "owner") continue;
    for (const other of direction === "into" ? edge.sources : edge.targets) found.add(other);
  }
  return [...found];
}
