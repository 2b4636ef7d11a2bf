// The whole picture as a file: PNG by a canvas, SVG by something that takes what a canvas takes and writes it down.

const LARGEST_PNG = 8192; // pixels a side; some browsers give no more
const SVG_KEYS = { fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, globalAlpha: 1, font: "", textBaseline: "alphabetic" };

/** What a painter needs to draw the whole picture at a scale. */
function wholeView(layout, scale) {
  const margin = MARGIN / 2;
  const [width, height] = [Math.ceil((layout.width + 2 * margin) * scale), Math.ceil((layout.height + 2 * margin) * scale)];
  return { width, height, scale, x: margin * scale, y: margin * scale, window: [-margin, -margin, layout.width + margin, layout.height + margin] };
}

function pngOf(painter) {
  const { layout } = painter.state;
  const longest = Math.max(layout.width, layout.height) + 2 * MARGIN;
  const view = wholeView(layout, Math.min(2, LARGEST_PNG / longest));
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [view.width, view.height];
  painter.paint(canvas.getContext("2d"), view, 1);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

function svgOf(painter) {
  const view = wholeView(painter.state.layout, 1);
  const context = new SvgContext(painter.context);
  painter.paint(context, view, 1);
  return new Blob([context.text(view.width, view.height)], { type: "image/svg+xml" });
}

/** Gives a file to the browser to keep. */
function save(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = element("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** The part of a canvas context that the painter uses. `ruler` is a real one, that measures texts. */
class SvgContext {
  constructor(ruler) {
    Object.assign(this, SVG_KEYS, { ruler, parts: [], path: "", dash: [], transform: "" });
  }

  setTransform(a, b, c, d, e, f) {
    this.transform = a === 1 && d === 1 && !e && !f ? "" : ` transform="matrix(${[a, b, c, d, e, f].join(" ")})"`;
  }

  setLineDash(dash) {
    this.dash = dash;
  }

  measureText(text) {
    this.ruler.font = this.font;
    return this.ruler.measureText(text);
  }

  beginPath() {
    this.path = "";
  }

  moveTo(x, y) {
    this.path += `M${short(x)} ${short(y)}`;
  }

  lineTo(x, y) {
    this.path += `L${short(x)} ${short(y)}`;
  }

  bezierCurveTo(...points) {
    this.path += `C${points.map(short).join(" ")}`;
  }

  closePath() {
    this.path += "Z";
  }

  rect(x, y, width, height) {
    this.path += `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}Z`;
  }

  roundRect(x, y, width, height, radii) {
    const [one, two, three, four] = Array.isArray(radii) ? radii : [radii, radii, radii, radii];
    const arc = (radius, dx, dy) => (radius ? `a${radius} ${radius} 0 0 1 ${short(dx)} ${short(dy)}` : "");
    this.path += `M${short(x + one)} ${short(y)}H${short(x + width - two)}${arc(two, two, two)}V${short(y + height - three)}${arc(three, -three, three)}`;
    this.path += `H${short(x + four)}${arc(four, -four, -four)}V${short(y + one)}${arc(one, one, -one)}Z`;
  }

  fill() {
    this.write(`d="${this.path}" fill="${this.fillStyle}"`);
  }

  stroke() {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : "";
    this.write(`d="${this.path}" fill="none" stroke="${this.strokeStyle}" stroke-width="${short(this.lineWidth)}"${dash}`);
  }

  fillRect(x, y, width, height) {
    this.beginPath();
    this.rect(x, y, width, height);
    this.fill();
  }

  fillText(text, x, y) {
    const base = this.textBaseline === "middle" ? ' dominant-baseline="central"' : "";
    const style = `font="${this.font}"`.replace(/^font="(?:(\d+) )?([\d.]+)px (.*)"$/, (_, weight, size, family) => `font-size="${size}" font-family="${family}"${weight ? ` font-weight="${weight}"` : ""}`);
    const alpha = this.globalAlpha < 1 ? ` opacity="${short(this.globalAlpha)}"` : "";
    this.parts.push(`<text x="${short(x)}" y="${short(y)}" fill="${this.fillStyle}" ${style}${base}${alpha}${this.transform}>${escapeXml(text)}</text>`);
  }

  write(attributes) {
    const alpha = this.globalAlpha < 1 ? ` opacity="${short(this.globalAlpha)}"` : "";
    if (attributes.startsWith('d=""')) return;
    this.parts.push(`<path ${attributes}${alpha}${this.transform}/>`);
  }

  text(width, height) {
    return `<svg xmlns="${SVG_NAMESPACE}" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">\n${this.parts.join("\n")}\n</svg>\n`;
  }
}

const SVG_NAMESPACE = ["http:", "", "www.w3.org", "2000", "svg"].join("/"); // a name, not an address that is asked for

function short(number) {
  return Math.round(number * 100) / 100;
}

/** Characters that no XML holds become U+FFFD. */
function escapeXml(text) {
  const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
  return text.replace(forbidden, "\ufffd").replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
