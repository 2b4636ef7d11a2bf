// What the sidebar lets people choose: kinds to draw, domains to light up.

const MANY_DOMAINS = 12; // more MNNVL domains than this are put behind a heading

/** A checkbox for each kind, without its mark for those in `off`. `changed` gets the Set of kinds that are switched on. */
function offerKinds(list, kinds, off, changed) {
  const boxes = new Map();
  const tell = () => changed(new Set([...boxes].filter(([, box]) => box.checked).map(([kind]) => kind)));
  for (const [kind, count] of kinds) {
    const box = element("input", { type: "checkbox" });
    box.checked = !off.has(kind);
    box.addEventListener("change", tell);
    boxes.set(kind, box);
    const only = element("button", { type: "button", class: "only", "aria-label": `Only ${kind}` }, "only");
    only.addEventListener("click", () => {
      const alone = [...boxes].every(([other, each]) => each.checked === (other === kind));
      for (const [other, each] of boxes) each.checked = alone || other === kind; // once more: all of them again
      tell();
    });
    const colour = element("span", { class: "swatch" });
    colour.style.setProperty("--swatch", `var(--${kindVariable(kind)})`);
    const label = element("label", {}, box, colour, element("span", { class: "text", title: kind }, kind), number(count));
    list.append(element("li", {}, label, only));
  }
}

/** A button for each topology key and each MNNVL domain. `changed` gets the Set of objects to light up, or null. */
function offerDomains(list, domains, changed) {
  const groups = new Map();
  for (const domain of domains) {
    const text = describeDomain(domain);
    if (!groups.has(text)) groups.set(text, { domain, text, members: new Set() });
    for (const member of domain.members) groups.get(text).members.add(member);
  }
  const mnnvl = [...groups.values()].filter((group) => group.domain.type === "mnnvl");
  const inner = element("ul", {});
  const apart = mnnvl.length > MANY_DOMAINS ? element("details", {}, element("summary", {}, counted(mnnvl.length, "MNNVL domain")), inner) : null;
  for (const group of groups.values()) {
    const button = domainButton(group);
    button.addEventListener("click", () => {
      const pressed = button.getAttribute("aria-pressed") !== "true";
      for (const other of list.querySelectorAll(".domain")) other.setAttribute("aria-pressed", "false");
      button.setAttribute("aria-pressed", String(pressed));
      changed(pressed ? group.members : null);
    });
    (apart && group.domain.type === "mnnvl" ? inner : list).append(element("li", {}, button));
  }
  if (apart) list.append(element("li", {}, apart));
  return groups.size;
}

function domainButton({ domain, text, members }) {
  return element(
    "button",
    { type: "button", class: "domain", "aria-pressed": "false", title: text },
    swatch(domain), element("span", { class: "text" }, text), number(members.size),
  );
}

/** What the dots on cards mean, where there are any. */
function explainMoods(list, nodes) {
  list.hidden = !nodes.some((node) => node.mood);
  list.replaceChildren(...MOODS.map((mood) => {
    const dot = element("span", { class: "swatch dot" });
    dot.style.setProperty("--swatch", `var(--mood-${mood})`);
    return element("li", {}, dot, MOOD_WORDS[mood]);
  }));
}

function number(count) {
  return element("span", { class: "count" }, count.toLocaleString("en"));
}
