import { statSync } from "node:fs";
import { basename, join } from "node:path";
import { readDirectory } from "../../infrastructure/fs/directory.ts";
import {
  type DefinitionDirectory,
  type DefinitionPlace,
  findDefinitionDirectories,
  SKILL_LOCATIONS,
} from "../definitions/directories.ts";
import { leadsInside } from "../definitions/list-files.ts";
import type { readSkill } from "./read-skill.ts";
import { type Skill, type SkillFile, SkillIndex, type SkippedSkill, showDirectory } from "./skill-index.ts";

/** The skills of a session and of its user, the strongest of each name first. */
export interface FoundSkills {
  /** One of each name. */
  skills: Skill[];
  skipped: SkippedSkill[];
}

/** Finds the skills for a session; those of the project are not trusted yet. It reads files and runs nothing. */
export async function findSkills(
  place: DefinitionPlace,
  options: Pick<ReadOptions, "isPersistent">,
): Promise<FoundSkills> {
  return readSkills(findDefinitionDirectories(place, SKILL_LOCATIONS), {
    ...options,
    environment: place.environment,
  });
}

interface ReadOptions {
  environment: DefinitionPlace["environment"];
  /** False: nothing is written, not even to the index. */
  isPersistent: boolean;
}

/**
 * Reads the skills in these directories, the strongest first.
 * @param options.keepsEqualNames true: a skill does not hide a weaker one with the same name.
 */
export async function readSkills(
  directories: readonly DefinitionDirectory[],
  { keepsEqualNames = false, ...options }: ReadOptions & { keepsEqualNames?: boolean },
): Promise<FoundSkills> {
  const found = await Promise.all(directories.map((directory) => readSkillsOf(directory, options)));
  const skills = new Map<string, Skill>();
  const skipped = found.flatMap((each) => each.skipped);
  const realPaths = new Set<string>();
  for (const skill of found.flatMap((each) => each.skills)) {
    // The same file under two names, by a link between the directories of two agents.
    if (realPaths.has(skill.path)) continue;
    realPaths.add(skill.path);
    const stronger = skills.get(skill.name);
    if (keepsEqualNames) skills.set(skill.path, skill);
    else if (stronger === undefined) skills.set(skill.name, skill);
    else skipped.push({ shown: skill.shown, reason: `${stronger.shown} has the same name` });
  }
  return { skills: [...skills.values()], skipped };
}

async function readSkillsOf(
  directory: DefinitionDirectory,
  { environment, isPersistent }: ReadOptions,
): Promise<FoundSkills> {
  const { files, links, isCut } = listSkillFiles(directory);
  const index = SkillIndex.open(directory, environment);
  const read = await Promise.all(
    files.map((file) => index.find(file.path, file.stamp) ?? readUnknown(file, directory, index)),
  );
  if (isPersistent) await index.save();
  const skipped = [
    ...read.flatMap((each) => ("reason" in each ? [each] : [])),
    ...links.map((link) => ({
      shown: showDirectory(link, directory),
      reason: "it is a link out of the project",
    })),
  ];
  if (isCut)
    skipped.push({
      shown: directory.shown,
      reason: `it has more than ${MAX_DIRECTORIES} directories; the rest is left out`,
    });
  return { skills: read.flatMap((each) => ("reason" in each ? [] : [each])), skipped };
}

/** The index has nearly all of them, so the code that reads one is loaded with the first. */
async function readUnknown(...skill: Parameters<typeof readSkill>): ReturnType<typeof readSkill> {
  const { readSkill } = await import("./read-skill.ts");
  return readSkill(...skill);
}

const MAX_DEPTH = 6;
// Of each directory of skills.
const MAX_DIRECTORIES = 2_000;
const SKIPPED = new Set(["node_modules"]);

interface SkillFiles {
  files: SkillFile[];
  /** Links that lead out of the project, which are not followed. */
  links: string[];
  /** True if there are more directories than are searched. */
  isCut: boolean;
}

/** The files called `SKILL.md`, sorted by path; nothing below one of them is searched. */
function listSkillFiles({ path: root, boundary, only }: DefinitionDirectory): SkillFiles {
  const found: SkillFiles = { files: [], links: [], isCut: false };
  let level = [root];
  let budget = MAX_DIRECTORIES;
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth++) {
    const next: string[] = [];
    for (const { path, isLink } of level.flatMap(listCandidates)) {
      if (only !== undefined && depth === 0 && basename(path) !== only) continue;
      if (budget-- === 0) return { ...found, isCut: true };
      if (isLink && boundary !== undefined && !leadsInside(path, boundary)) {
        found.links.push(path);
        continue;
      }
      const file = findSkillFile(path);
      if (file) found.files.push(file);
      else next.push(path);
    }
    level = next;
  }
  return found;
}

/** The directories in a directory and its links, sorted. */
function listCandidates(directory: string): { path: string; isLink: boolean }[] {
  try {
    return readDirectory(directory)
      .filter(
        ({ name, kind }) =>
          kind !== "file" && kind !== "other" && !name.startsWith(".") && !SKIPPED.has(name),
      )
      .map(({ name, kind }) => ({ path: join(directory, name), isLink: kind === "link" }))
      .sort((left, right) => (left.path < right.path ? -1 : 1));
  } catch {
    return []; // Not a directory, or not readable.
  }
}

function findSkillFile(directory: string): SkillFile | undefined {
  const path = join(directory, "SKILL.md");
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined || stats.isDirectory()) return undefined;
    return { path, stamp: `${stats.ino}:${stats.size}:${stats.ctimeMs}` };
  } catch {
    return undefined; // A file with this name's parent is no directory, or it may not be searched.
  }
}
