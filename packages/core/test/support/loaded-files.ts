import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const SOURCE = join(import.meta.dir, "..", "..", "src");

/** A file of the library's and everything that is loaded with it: what it imports for more than types, not on demand. */
export function loadedFiles(entry: string): ReadonlySet<string> {
  const loaded = new Set<string>();
  const visit = (file: string) => {
    if (loaded.has(file)) return;
    loaded.add(file);
    const text = readFileSync(join(SOURCE, file), "utf8").replace(/^(?:import|export) type [\s\S]*?;$/gm, "");
    for (const [, from = ""] of text.matchAll(/from "(\.[^"]+\.ts)"/g)) visit(join(dirname(file), from));
  };
  visit(entry);
  return loaded;
}
