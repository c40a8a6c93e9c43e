import { join } from "node:path";
import type { DefinitionDirectory } from "../definitions/directories.ts";
import { updatePrivateFile } from "../infrastructure/fs/private-files.ts";
import { readCheckedFile } from "../infrastructure/fs/read.ts";
import { userStateDirectory } from "../infrastructure/paths/user.ts";
import type { Environment } from "../infrastructure/runtime.ts";
import type { SkillHead } from "./parse-skill.ts";

/** What the index keeps of a skill. */
export interface IndexedSkill extends SkillHead {
  /** The real path of its directory. */
  directory: string;
  /** The real path of its `SKILL.md`. */
  path: string;
  /** Of its `SKILL.md`, hexadecimal. */
  sha256: string;
}

interface IndexEntry {
  stamp: string;
  skill: IndexedSkill;
}

const VERSION = 1;
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * The heads of the skills in one directory, as they were read last: opening 500 files takes longer than a session may
 * take to start. An entry counts only as long as the file's device, inode, size and times are the same. A missing or
 * damaged index is an empty one.
 */
export class SkillIndex {
  private readonly current = new Map<string, IndexEntry>();
  private isChanged = false;

  private constructor(
    private readonly path: string | undefined,
    private readonly before: ReadonlyMap<string, IndexEntry>,
  ) {}

  /** Opens the index of a directory, in the user's state directory, where a project cannot write. */
  static async open(directory: DefinitionDirectory, environment: Environment): Promise<SkillIndex> {
    const state = userStateDirectory(environment);
    if (state === undefined) return new SkillIndex(undefined, new Map());
    const id = Bun.SHA256.hash(JSON.stringify([directory.path, directory.boundary]), "hex").slice(0, 16);
    const path = join(state, "skills", `${id}.json`);
    return new SkillIndex(path, await readIndex(path));
  }

  /** The skill, if its file has not changed since it was read. */
  find(path: string, stamp: string): IndexedSkill | undefined {
    const entry = this.before.get(path);
    if (entry?.stamp !== stamp) return undefined;
    this.current.set(path, entry);
    return entry.skill;
  }

  add(path: string, stamp: string, skill: IndexedSkill): void {
    this.current.set(path, { stamp, skill });
    this.isChanged = true;
  }

  /** Saves what was found and added; nothing if that is what is saved already. */
  async save(): Promise<void> {
    if (this.path === undefined) return;
    if (!this.isChanged && this.current.size === this.before.size) return;
    const text = JSON.stringify({ version: VERSION, entries: [...this.current] });
    // Without the index, the next session reads the files again.
    await updatePrivateFile(this.path, () => new TextEncoder().encode(text)).catch(() => {});
  }
}

async function readIndex(path: string): Promise<Map<string, IndexEntry>> {
  const reading = await readCheckedFile(path, MAX_BYTES);
  if (reading.kind !== "file" || reading.file.concern !== undefined) return new Map();
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(reading.file.content));
    if (!isRecord(value) || value.version !== VERSION || !Array.isArray(value.entries)) return new Map();
    const entries: unknown[] = value.entries;
    return new Map(entries.filter(isEntry));
  } catch {
    return new Map(); // Damaged: it is written anew.
  }
}

function isEntry(value: unknown): value is [string, IndexEntry] {
  if (!Array.isArray(value) || typeof value[0] !== "string" || !isRecord(value[1])) return false;
  const { stamp, skill } = value[1];
  return typeof stamp === "string" && isSkill(skill);
}

function isSkill(value: unknown): value is IndexedSkill {
  if (!isRecord(value)) return false;
  const texts = [value.name, value.description, value.directory, value.path, value.sha256];
  const flags = [value.isModelInvocable, value.isUserInvocable];
  const lists = [value.allowedTools, value.argumentNames, value.warnings];
  return (
    texts.every((text) => typeof text === "string") &&
    flags.every((flag) => typeof flag === "boolean") &&
    lists.every((list) => Array.isArray(list) && list.every((entry) => typeof entry === "string")) &&
    ["string", "undefined"].includes(typeof value.argumentHint)
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
