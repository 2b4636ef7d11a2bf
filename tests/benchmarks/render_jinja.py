"""How one would do it with Jinja2 and PyYAML: `text` prints what the template gives, `parsed` reads that and writes it as YAML."""

import json
import sys

import jinja2


def main() -> None:
    form, template, values = sys.argv[1:]
    with open(template) as stream:
        compiled = jinja2.Environment(keep_trailing_newline=True).from_string(stream.read())
    with open(values) as stream:
        text = compiled.render(values=json.load(stream))
    if form == "parsed":
        import yaml

        documents = list(yaml.load_all(text, Loader=yaml.CSafeLoader))
        text = yaml.dump_all(documents, Dumper=yaml.CSafeDumper, sort_keys=False)
    sys.stdout.write(text)


main()
