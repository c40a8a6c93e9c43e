import { basename, dirname } from "node:path";
import { type DefinitionDirectory, toQualifiedName } from "../definitions/directories.ts";
import { readDefinition } from "../definitions/read-definition.ts";
import { parseSkillHead } from "./parse-skill.ts";
import {
  type Skill,
  type SkillFile,
  type SkillIndex,
  type SkippedSkill,
  showDirectory,
} from "./skill-index.ts";

/** Reads the head of a skill and adds it to the index. */
export async function readSkill(
  { path, stamp }: SkillFile,
  directory: DefinitionDirectory,
  index: SkillIndex,
): Promise<Skill | SkippedSkill> {
  const shown = showDirectory(dirname(path), directory);
  const reading = await readDefinition(path, directory);
  if (reading.kind === "missing") return { shown, reason: "it has just been removed" };
  if (reading.kind === "refused") return { shown, reason: reading.reason };
  const head = parseSkillHead(reading.text, basename(dirname(path)));
  if ("problem" in head) return { shown, reason: head.problem };
  const { realPath, sha256 } = reading;
  const { boundary, plugin } = directory;
  const name = toQualifiedName(head.name, plugin);
  const skill = {
    ...{ ...head, name, directory: dirname(realPath), path: realPath },
    ...{ shown, boundary, plugin, sha256 },
  };
  index.add(path, stamp, skill);
  return skill;
}
