import { basename, join, resolve } from "node:path";
import { readFrontmatter, readTextField } from "../../infrastructure/text/frontmatter.ts";
import { readDefinition } from "../definitions/read-definition.ts";
import { parseSkillHead, type SkillHead } from "./parse-skill.ts";

const MAX_COMPATIBILITY = 500;

/** How a directory fares as a skill. */
export type SkillCheck =
  | { kind: "skill"; head: SkillHead; warnings: readonly string[] }
  /** It would not be loaded; a clause without a full stop. */
  | { kind: "unusable"; reason: string };

/** Checks the skill in a directory against the open specification. */
export async function checkSkill(directory: string): Promise<SkillCheck> {
  const path = join(resolve(directory), "SKILL.md");
  const reading = await readDefinition(path, { boundary: undefined });
  if (reading.kind === "missing") return { kind: "unusable", reason: "it has no SKILL.md" };
  if (reading.kind === "refused") return { kind: "unusable", reason: reading.reason };
  const head = parseSkillHead(reading.text, basename(resolve(directory)));
  if ("problem" in head) return { kind: "unusable", reason: head.problem };
  const file = readFrontmatter(reading.text);
  const compatibility = readTextField(file, "compatibility") ?? "";
  const warnings = [
    ...head.warnings,
    ...(compatibility.length > MAX_COMPATIBILITY
      ? [`its compatibility has ${compatibility.length} characters, more than ${MAX_COMPATIBILITY}`]
      : []),
    ...(file.body.trim() === "" ? ["it has no text below its frontmatter"] : []),
  ];
  return { kind: "skill", head, warnings };
}

/** The whole text of a skill, for the user. @throws Error that says why it cannot be read. */
export async function readSkillText(path: string): Promise<string> {
  const reading = await readDefinition(path, { boundary: undefined });
  if (reading.kind === "text") return reading.text;
  throw new Error(
    reading.kind === "missing" ? `${path} is missing.` : `Cannot read ${path}: ${reading.reason}.`,
  );
}
