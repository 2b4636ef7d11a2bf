// Finds objects by words: each word has to occur in the kind, name, namespace, rule or gang, or in the YAML if that is asked for.

class Search {
  constructor(graph) {
    this.graph = graph;
    this.texts = graph.nodes.map((node) => {
      const gang = node.gang >= 0 ? graph.nodes[node.gang].name : "";
      return `${node.kind} ${node.name} ${node.namespace} ${node.rule} ${gang}`.toLowerCase();
    });
  }

  /** Positions of the objects that match, in order; null when nothing is searched for. */
  find(query, inYaml) {
    const words = wordsOf(query);
    if (!words.length) return null;
    const inParts = inYaml ? words.map((word) => this.partsWith(word)) : null;
    const matches = (node) => words.every((word, number) => this.texts[node.index].includes(word) || (inParts && inParts[number][node.text]));
    return this.graph.nodes.filter(matches).map((node) => node.index);
  }

  /** For each part of the packed YAML whether the word occurs in it. Parts stand before what they are part of. */
  partsWith(word) {
    const found = [];
    for (const part of this.graph.parts) {
      found.push(typeof part === "string" ? part.toLowerCase().includes(word) : part.some((inner) => found[inner]));
    }
    return found;
  }
}

function wordsOf(query) {
  return query.toLowerCase().split(/\s+/).filter(Boolean);
}

/** The text as DOM nodes, with what the words find in `<mark>`. */
function marked(text, words) {
  const lower = text.toLowerCase();
  const hits = new Uint8Array(text.length);
  if (lower.length === text.length) {
    for (const word of words) {
      for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + 1)) hits.fill(1, at, at + word.length);
    }
  }
  const nodes = [];
  for (let start = 0, end; start < text.length; start = end) {
    for (end = start + 1; end < text.length && hits[end] === hits[start]; ) end++;
    nodes.push(hits[start] ? element("mark", {}, text.slice(start, end)) : text.slice(start, end));
  }
  return nodes;
}

/** An element with attributes and children; children that are strings become text. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
