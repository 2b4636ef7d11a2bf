// Follows what is served: states, what waits, and another graph where there is one. `grove serve` tells of it by server-sent events.

class Live {
  constructor(page, data) {
    this.page = page;
    this.id = data.live; // of the graph that the page shows
    this.notes(data.notes);
    page.details.shown = (node) => this.told(node);
    byId("timeline-open").addEventListener("click", () => this.timeline());
    byId("timeline-close").addEventListener("click", () => byId("timeline").close());
    byId("live").hidden = false;
    this.said("connecting", "connecting …");
    this.source = new EventSource("events");
    this.source.addEventListener("open", () => this.said(data.of, data.of));
    this.source.addEventListener("error", () => this.said("lost", "connection lost: showing the last known state"));
    this.source.addEventListener("message", (event) => this.take(JSON.parse(event.data)));
    if (page.state.selected >= 0) this.told(page.graph.nodes[page.state.selected]);
  }

  said(state, text) {
    byId("live").dataset.state = state;
    byId("live").textContent = text;
  }

  async take({ live, states, notes }) {
    if (live !== this.id && !(await this.another())) return;
    if (live !== this.id) return; // there is a newer graph already, of which the next message tells
    this.notes(notes);
    const { page } = this;
    for (const [index, state, mood] of states) Object.assign(page.graph.nodes[index], { state, mood });
    page.painter.request();
    const { selected } = page.state;
    if (selected >= 0) page.details.refresh(page.graph.nodes[selected]);
    document.documentElement.dataset.told = String(Number(document.documentElement.dataset.told ?? 0) + 1);
  }

  /** Fetches the graph that there is now. Tells whether that could be done. */
  async another() {
    try {
      const data = await (await fetch("graph")).json();
      this.id = data.live;
      this.page.replace(readGraph(data));
      return true;
    } catch {
      return false; // the connection is lost, which is told when it is noticed, and the next message tries again
    }
  }

  notes(notes) {
    byId("notes").hidden = !notes.length;
    byId("notes").firstElementChild.replaceChildren(...notes.map(([id, text]) => element("li", {}, ...this.note(id, text))));
  }

  note(id, text) {
    if (!id) return [text];
    const button = element("button", { type: "button", class: "link" }, id.split("/").slice(1).join("/"));
    button.addEventListener("click", () => {
      const node = this.page.graph.nodes.find((each) => each.id === id);
      if (node) this.page.choose(node.index, "show");
    });
    return [button, `: ${text}`];
  }

  /** Shows what the server knows of the chosen object. */
  told(node) {
    byId("timeline-of").hidden = node.kind !== "PodCliqueSet";
    if (byId("timeline").open) this.timeline();
    return this.why(node);
  }

  /** Asks what happened to the chosen set, and shows it in a window, or says why that is not possible. */
  async timeline() {
    const { node } = this.page.details;
    byId("timeline-name").textContent = `Timeline of ${node.name}`;
    if (!byId("timeline").open) byId("timeline").showModal();
    let picture = "There is no such set any more, or the connection is lost.";
    try {
      const answer = await fetch(`timeline?id=${encodeURIComponent(node.id)}`);
      if (answer.ok) picture = document.importNode(new DOMParser().parseFromString(await answer.text(), "image/svg+xml").documentElement, true);
    } catch {
      // as below
    }
    if (this.page.details.node?.id === node.id) byId("timeline-picture").replaceChildren(picture);
  }

  /** Asks what the chosen object waits for. */
  async why(node) {
    let text = "";
    try {
      const answer = await fetch(`why?id=${encodeURIComponent(node.id)}`);
      text = answer.ok ? await answer.text() : "";
    } catch {
      // as above
    }
    if (this.page.details.node?.id !== node.id) return;
    byId("why").hidden = !text;
    byId("why-text").textContent = text;
  }
}

window.groveLive = new Live(page, JSON.parse(byId("data").textContent)); // for tests
