import { join } from "node:path";
import { type ConfigPlace, makeConfigPlace, put } from "./config-place.ts";

/** Writes files of definitions, by their paths in a home directory that holds the project `project`. */
export function makeDefinitionPlace(files: Readonly<Record<string, string>>): ConfigPlace {
  const place = makeConfigPlace();
  for (const [path, text] of Object.entries(files)) put(join(place.home, path), text);
  return place;
}

/** The text of a `SKILL.md`. */
export function toSkillText(head: Readonly<Record<string, string>>, body = "The body."): string {
  const fields = Object.entries(head).map(([key, value]) => `${key}: ${value}`);
  return `---\n${fields.join("\n")}\n---\n${body}\n`;
}
