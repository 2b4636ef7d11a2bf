// Follows what is served: states, what waits, and another graph where there is one. `grove serve` tells of it by server-sent events.

class Live {
  constructor(page, data) {
    this.page = page;
    this.id = data.live; // of the graph that the page shows
    this.notes(data.notes);
    page.details.shown = (node) => this.why(node);
    byId("live").hidden = false;
    this.said("connecting", "connecting …");
    this.source = new EventSource("events");
    this.source.addEventListener("open", () => this.said(data.of, data.of));
    this.source.addEventListener("error", () => this.said("lost", "connection lost: showing the last known state"));
    this.source.addEventListener("message", (event) => this.take(JSON.parse(event.data)));
    if (page.state.selected >= 0) this.why(page.graph.nodes[page.state.selected]);
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
    byId("notes").replaceChildren(...notes.map(([id, text]) => element("li", {}, ...this.note(id, text))));
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
