import { readFileSync } from "node:fs";
import { join } from "node:path";

const DECLARATION = /^export (?:declare )?(?:abstract )?(?:function|class|interface|type|const) (\w+)/gm;

/** The names that a declaration file exports, its own or re-exported, and whether each has a docstring. */
export function readDeclaredNames(path: string): Map<string, boolean> {
  const text = readFileSync(path, "utf8");
  const names = new Map<string, boolean>();
  const open = (from: string) => readDeclaredNames(join(path, "..", from.replace(/\.js$/, ".d.ts")));
  for (const [, from = ""] of text.matchAll(/^export \* from "(\.[^"]+)"/gm))
    for (const [name, isDocumented] of open(from)) names.set(name, isDocumented);
  for (const [, list = "", from = ""] of text.matchAll(/^export (?:type )?\{([^}]*)\} from "(\.[^"]+)"/gm)) {
    const inner = open(from);
    for (const item of list.split(",")) {
      const [original = "", name = original] = item
        .trim()
        .replace(/^type /, "")
        .split(" as ");
      if (original !== "") names.set(name, inner.get(original) ?? true);
    }
  }
  for (const match of text.matchAll(DECLARATION))
    names.set(match[1] ?? "", text.slice(0, match.index).endsWith("*/\n"));
  return names;
}
