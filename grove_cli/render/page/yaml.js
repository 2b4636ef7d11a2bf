// Colours YAML as our writer writes it: block style, one key a line, literal blocks.

const YAML_LINE = /^(\s*(?:- )*)(?:("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'#][^#]*?)(:)(?= |$))?( ?)(.*)$/;

/** The text as DOM nodes: spans with a class where there is a colour. `beside` holds, line by line, what stands behind it, uncopied: the first file's name only in its title. */
function colouredYaml(text, beside = []) {
  const nodes = [];
  let literal = -1; // the indentation of the line that a literal block began on
  text.replace(/\n$/, "").split("\n").forEach((line, number) => {
    const indent = line.search(/\S/);
    if (literal >= 0 && (indent < 0 || indent > literal)) {
      nodes.push(span("y-string", line), "\n");
      return;
    }
    const [, start, key, colon, space, value] = YAML_LINE.exec(line);
    literal = /^[|>][-+0-9]*$/.test(value) ? start.length - (start.endsWith("- ") && !key ? 2 : 0) : -1;
    nodes.push(start);
    if (key !== undefined) nodes.push(span("y-key", key), colon);
    nodes.push(space);
    if (value) nodes.push(span(valueClass(value), value));
    if (beside[number]) nodes.push(element("span", { class: "y-from", "data-from": beside[number].replace(/^[^ ]*(?=:\d)/, ""), title: beside[number] }));
    nodes.push("\n");
  });
  return nodes;
}

function valueClass(value) {
  if (/^(true|false|null|~|\{\}|\[\])$/.test(value)) return "y-word";
  return /^[-+]?(\d[\d_]*)?\.?\d+([eE][-+]?\d+)?$/.test(value) ? "y-number" : "y-string";
}

function span(name, text) {
  return element("span", { class: name }, text);
}
