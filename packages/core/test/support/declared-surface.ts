import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Where a name is declared: `FILE#NAME`, FILE from the root of the declarations. */
type Place = string;

interface DeclarationFile {
  /** Everything that it declares, exported or not, each with its text: only what names types. */
  declared: ReadonlyMap<string, string>;
  /** What it declares with a docstring. */
  documented: ReadonlySet<string>;
  /** Its own names and those that it hands on. */
  exported: ReadonlyMap<string, Place>;
  /** Names that it takes from others of ours. */
  imported: ReadonlyMap<string, Place>;
}

const DECLARATION =
  /^(?:export )?(?:declare )?(?:abstract )?(?:class|interface|type|const|function|enum) (\w+)[\s\S]*?(?=^(?:export|import|declare|interface|type)\b|(?![\s\S]))/gm;
const NAME_LIST = /^(import|export) (?:type )?\{([^}]*)\}(?: from "(\.[^"]+)")?/gm;
const EVERYTHING = /^export \* from "(\.[^"]+)"/gm;
// What is behind `typeof` is a value: whoever needs its type takes it the same way.
const NAMES_NOTHING =
  /\/\*[\s\S]*?\*\/|^ {4}(?:private|#private)\b.*$|(?<!import\()"(?:[^"\\\n]|\\.)*"|\btypeof \w+/gm;
const INLINE_IMPORT = /import\("([^"]+)"\)\.(\w+)/g;
const TYPE_NAME = /(?<![.\w])[A-Z]\w*\b(?!\??:)/g;

/** What can be imported from a library, read from its declarations in a directory. */
export class DeclaredSurface {
  private readonly files = new Map<string, DeclarationFile>();

  constructor(private readonly root: string) {}

  /** The names that a file exports, and where each is declared. */
  exportsOf(path: string): ReadonlyMap<string, Place> {
    return this.read(path).exported;
  }

  /**
   * The types that the declarations of a face name and that cannot be imported from it: `DECLARATION names TYPE`, sorted.
   * @param alsoFrom a face that they may come from as well.
   */
  findUnnamed(face: string, alsoFrom: string = face): string[] {
    const named = new Set([...this.exportsOf(face).values(), ...this.exportsOf(alsoFrom).values()]);
    const found = [...this.exportsOf(face)].flatMap(([name, place]) =>
      this.typesNamedBy(place)
        .filter((type) => !named.has(type))
        .map((type) => `${name} names ${splitPlace(type).name}`),
    );
    return [...new Set(found)].sort();
  }

  /** The exported names whose declaration has no docstring, sorted. */
  findUndocumented(face: string): string[] {
    return [...this.exportsOf(face)]
      .filter(([, place]) => {
        const { path, name } = splitPlace(place);
        return !this.read(path).documented.has(name);
      })
      .map(([name]) => name)
      .sort();
  }

  private typesNamedBy(place: Place): Place[] {
    const { path, name } = splitPlace(place);
    const { declared, imported } = this.read(path);
    const text = declared.get(name);
    if (text === undefined) throw new Error(`${place}: no such declaration`);
    const inline = [...text.matchAll(INLINE_IMPORT)].map(([, from = "", type = ""]) =>
      this.origin(`${join(path, "..", from)}#${type}`),
    );
    const words = [...text.matchAll(TYPE_NAME)].flatMap(([word]) => {
      const found = declared.has(word) ? `${path}#${word}` : imported.get(word);
      return found === undefined ? [] : [this.origin(found)];
    });
    return [...inline, ...words];
  }

  /** Files may have handed a name on. */
  private origin(place: Place): Place {
    const { path, name } = splitPlace(place);
    return path.endsWith(".ts") ? (this.exportsOf(path).get(name) ?? place) : place;
  }

  private read(path: string): DeclarationFile {
    const known = this.files.get(path);
    if (known) return known;
    const text = readFileSync(join(this.root, path.replace(/\.ts$/, ".d.ts")), "utf8");
    const declared = new Map<string, string>();
    const exported = new Map<string, Place>();
    const imported = new Map<string, Place>();
    const documented = new Set<string>();
    const file = { declared, documented, exported, imported };
    this.files.set(path, file);
    for (const { 0: whole, 1: name = "", index } of text.matchAll(DECLARATION)) {
      if (text.slice(0, index).endsWith("*/\n")) documented.add(name);
      // Overloads are declared one by one.
      declared.set(name, (declared.get(name) ?? "") + whole.replace(NAMES_NOTHING, ""));
      if (whole.startsWith("export ")) exported.set(name, `${path}#${name}`);
    }
    for (const [, from = ""] of text.matchAll(EVERYTHING))
      for (const [name, place] of this.exportsOf(join(path, "..", from))) exported.set(name, place);
    for (const [, way, list = "", from] of text.matchAll(NAME_LIST))
      for (const [original, name] of readNames(list)) {
        const place = from === undefined ? imported.get(original) : `${join(path, "..", from)}#${original}`;
        if (way === "export")
          exported.set(name, place === undefined ? `${path}#${original}` : this.origin(place));
        else if (place !== undefined) imported.set(name, place);
      }
    return file;
  }
}

function splitPlace(place: Place): { path: string; name: string } {
  const [path = "", name = ""] = place.split("#");
  return { path, name };
}

/** `type A, B as C` are the names `A` and `B`, known as `A` and `C`. */
function readNames(list: string): [string, string][] {
  const items = list.split(",").map((item) => item.trim().replace(/^type /, ""));
  return items
    .filter((item) => item !== "")
    .map((item) => {
      const [original = "", name = original] = item.split(" as ");
      return [original, name];
    });
}
