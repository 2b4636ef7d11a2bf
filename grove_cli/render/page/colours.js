// Which colour everything has, in light and dark, and how to give it to a canvas.

const FAMILIES = {
  PodCliqueSet: "set",
  PodCliqueScalingGroup: "group",
  PodClique: "clique",
  Pod: "pod",
  PodGang: "gang", PodGroup: "gang",
  ServiceAccount: "access", Role: "access", RoleBinding: "access", Secret: "access",
  Service: "network", NetworkPolicy: "network",
  HorizontalPodAutoscaler: "scaling",
  ResourceClaim: "device", ResourceClaimTemplate: "device", ComputeDomain: "device",
  ClusterTopology: "topology", ClusterTopologyBinding: "topology", Topology: "topology",
};
const DOMAIN_COLOURS = 8;
const PAGE_COLOURS = ["paper", "card", "ink", "muted", "edge", "band", "gang", "gang-edge", "line", "accent", "startup"];
const MOOD_WORDS = { ready: "ready", waiting: "waits", failed: "has failed", going: "is being deleted", missing: "does not exist yet" };
const MOODS = Object.keys(MOOD_WORDS);

function kindVariable(kind) {
  return `kind-${Object.hasOwn(FAMILIES, kind) ? FAMILIES[kind] : "other"}`;
}

/**
 * Topology takes a colour for each node label, from the end; MNNVL one for each domain, from the beginning; both in turn.
 * Sets `domain.colour`, a variable's name, and the `number` of MNNVL domains: eight colours do not tell more than eight apart.
 */
function colourDomains(domains) {
  const keys = new Map();
  let mnnvl = 0;
  for (const domain of domains) {
    const key = domain.required || domain.preferred;
    if (domain.type === "topology" && !keys.has(key)) keys.set(key, DOMAIN_COLOURS - 1 - (keys.size % DOMAIN_COLOURS));
    domain.colour = `domain-${domain.type === "topology" ? keys.get(key) : mnnvl % DOMAIN_COLOURS}`;
    if (domain.type === "mnnvl") domain.number = ++mnnvl;
  }
}

/** The page's colours as a canvas understands them, by variable. To be read again when the theme changes. */
function readColours() {
  const probe = document.createElement("span");
  probe.style.forcedColorAdjust = "none"; // with forced colours, every text would say the same
  document.body.append(probe);
  const names = [...PAGE_COLOURS, "kind-other", ...Object.values(FAMILIES).map((family) => `kind-${family}`), ...MOODS.map((mood) => `mood-${mood}`)];
  for (let number = 0; number < DOMAIN_COLOURS; number++) names.push(`domain-${number}`);
  const colours = {};
  for (const name of names) {
    probe.style.color = `var(--${name})`;
    colours[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  return colours;
}

const THEMES = ["system", "light", "dark"];

/** Lets the button go through the themes. `changed` is called whenever colours are no longer what they were. */
function watchTheme(button, changed) {
  button.addEventListener("click", () => {
    const now = document.documentElement.dataset.theme ?? "system";
    const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length];
    if (next === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    button.textContent = `Theme: ${next}`;
    changed();
  });
  for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"]) matchMedia(query).addEventListener("change", changed);
}
