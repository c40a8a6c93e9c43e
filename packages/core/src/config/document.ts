import type { Environment } from "../infrastructure/environment.ts";
import { type ConfigProblem, createPlaceFinder, formatKey, type TextPlace } from "./config-error.ts";
import { parseText, type TextNode } from "./parse-text.ts";
import { holdsVariable, substituteVariables } from "./variables.ts";

type Path = readonly (string | number)[];

/** What becomes of texts that hold `{env:…}`: they are filled in, left out with the setting they belong to, or kept. */
export type VariableUse =
  | { kind: "fill"; environment: Environment }
  | { kind: "leave_out" }
  | { kind: "keep" };

/** A setting of the file: where it stands and what it says. */
interface Spot extends NamedPlace {
  value: unknown;
}

interface NamedPlace {
  /** The name it has in the file; differs from its place in `value` where list elements before it were left out. */
  key: string;
  /** Of the value. */
  offset: number;
  /** Of its name; that of the value for an element of a list. */
  nameOffset: number;
}

/** A configuration file's text as data, with the way back to the text. */
export interface ConfigDocument {
  source: string;
  value: unknown;
  spots: ReadonlyMap<string, Spot>;
  placeOf(offset: number): TextPlace;
  /** Names that occur twice in one object; the last one counts. */
  duplicates: readonly NamedPlace[];
  /** Settings that were left out because of an `{env:…}` in them. */
  leftOut: readonly string[];
  /** Variables that are not set, with the settings that name them. */
  unset: ReadonlyMap<string, readonly string[]>;
}

/** With problems there is no document; each of them says where in the text it is. */
export type DocumentReading = { document: ConfigDocument } | { problems: ConfigProblem[] };

/** Reads a text as JSONC. `source` names it in problems. */
export function readDocument(text: string, source: string, variables: VariableUse): DocumentReading {
  const placeOf = createPlaceFinder(text);
  const parsed = parseText(text);
  if ("fault" in parsed) {
    return { problems: [{ source, place: placeOf(parsed.fault.offset), message: parsed.fault.message }] };
  }
  const reader = new NodeReader(variables);
  const value = reader.read(parsed.root, { path: [], key: [], nameOffset: parsed.root.offset });
  if (reader.forbidden.length > 0) {
    const message = "no setting can have this name";
    return {
      problems: reader.forbidden.map(({ key, nameOffset }) => ({
        source,
        place: placeOf(nameOffset),
        key,
        message,
      })),
    };
  }
  const { spots, duplicates, leftOut, unset } = reader;
  return { document: { source, value, placeOf, spots, duplicates, leftOut, unset } };
}

/** Where a node is: in the resulting value, and under which name in the file. */
interface Position {
  path: Path;
  key: Path;
  nameOffset: number;
}

class NodeReader {
  readonly spots = new Map<string, Spot>();
  readonly duplicates: NamedPlace[] = [];
  readonly forbidden: NamedPlace[] = [];
  readonly leftOut: string[] = [];
  readonly unset = new Map<string, string[]>();

  constructor(private readonly variables: VariableUse) {}

  read(node: TextNode, position: Position): unknown {
    const value = this.readValue(node, position);
    this.spots.set(formatKey(position.path), { ...toSpot(node, position), value });
    return value;
  }

  private readValue(node: TextNode, position: Position): unknown {
    if (node.type === "object") return this.readObject(node, position);
    if (node.type === "array") return this.readArray(node, position);
    const value: unknown = node.value;
    return typeof value === "string" ? this.fill(value, position) : value;
  }

  private readObject(node: TextNode, { path, key }: Position): Record<string, unknown> {
    const members = new Map<string, { valueNode: TextNode; position: Position }>();
    for (const { children: [nameNode, valueNode] = [] } of node.children ?? []) {
      if (nameNode === undefined || valueNode === undefined) continue;
      const name = String(nameNode.value);
      const position = { path: [...path, name], key: [...key, name], nameOffset: nameNode.offset };
      if (name === "__proto__") this.forbidden.push(toSpot(valueNode, position));
      else if (members.has(name)) this.duplicates.push(toSpot(valueNode, position));
      members.set(name, { valueNode, position });
    }
    // Without a prototype, `constructor` and the like are names as any other.
    const object: Record<string, unknown> = Object.create(null);
    for (const [name, { valueNode, position }] of members) {
      if (!this.leavesOut(valueNode, position)) object[name] = this.read(valueNode, position);
    }
    return object;
  }

  private readArray(node: TextNode, { path, key }: Position): unknown[] {
    const elements: unknown[] = [];
    for (const [index, child] of (node.children ?? []).entries()) {
      const position = { path: [...path, elements.length], key: [...key, index], nameOffset: child.offset };
      if (!this.leavesOut(child, position)) elements.push(this.read(child, position));
    }
    return elements;
  }

  private fill(text: string, { key }: Position): string {
    if (this.variables.kind !== "fill") return text;
    return substituteVariables(text, this.variables.environment, (name) => {
      const keys = this.unset.get(name);
      if (keys) keys.push(formatKey(key));
      else this.unset.set(name, [formatKey(key)]);
    });
  }

  private leavesOut(node: TextNode, { key }: Position): boolean {
    if (this.variables.kind !== "leave_out") return false;
    const isText = node.type === "string" && holdsVariable(String(node.value));
    if (!isText && !(isWhole(key) && holdsVariableWithin(node))) return false;
    this.leftOut.push(formatKey(key));
    return true;
  }
}

function toSpot(node: TextNode, { key, nameOffset }: Position): NamedPlace {
  return { key: formatKey(key), offset: node.offset, nameOffset };
}

/** Elements of lists and compatible servers have settings they cannot be without, so they are left out as a whole. */
function isWhole(key: Path): boolean {
  return (
    typeof key.at(-1) === "number" || (key.length === 3 && key[0] === "provider" && key[1] === "compatible")
  );
}

function holdsVariableWithin(node: TextNode): boolean {
  if (node.type === "string") return holdsVariable(String(node.value));
  if (node.type === "property") return node.children?.slice(1).some(holdsVariableWithin) ?? false;
  return node.children?.some(holdsVariableWithin) ?? false;
}
