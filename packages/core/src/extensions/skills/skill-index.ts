import { join } from "node:path";
import { updatePrivateFile } from "../../infrastructure/fs/private-files.ts";
import { readOwnHead } from "../../infrastructure/fs/read.ts";
import { userStateDirectory } from "../../infrastructure/paths/user.ts";
import type { Environment } from "../../infrastructure/runtime.ts";
import { revealInvisible } from "../../infrastructure/text/unicode.ts";
import type { DefinitionDirectory } from "../definitions/directories.ts";
import type { SkillHead } from "./parse-skill.ts";

/** A skill that can be loaded. */
export interface Skill extends SkillHead {
  /** The real path of its directory. */
  directory: string;
  /** The real path of its `SKILL.md`. */
  path: string;
  /** For people, such as `.claude/skills/deploy`. */
  shown: string;
  /** See `DefinitionDirectory`. */
  boundary?: string | undefined;
  /** See `DefinitionDirectory`. */
  plugin?: DefinitionDirectory["plugin"];
  /** Of its `SKILL.md`, hexadecimal. */
  sha256: string;
}

/** A directory that is not used as a skill. */
export interface SkippedSkill {
  /** For people. */
  shown: string;
  /** A clause without a full stop. */
  reason: string;
}

/** A `SKILL.md` as the file system shows it. */
export interface SkillFile {
  path: string;
  /** Changes whenever the file does. */
  stamp: string;
}

/** A directory of skills, for people. */
export function showDirectory(path: string, { path: root, shown }: DefinitionDirectory): string {
  return revealInvisible(shown + path.slice(root.length));
}

interface StoredSkill {
  stamp: string;
  skill: Skill;
}

/** By the place of the skill in its directory, which begins with a slash. */
type StoredSkills = Record<string, StoredSkill>;

// A file of another version is not read.
const VERSION = "skills 1";
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * The heads of the skills in one directory, as they were read last: opening 500 files takes longer than a session may
 * take to start. An entry counts only as long as the file's inode, size and change time are the same. A missing or
 * damaged index is an empty one.
 */
export class SkillIndex {
  private readonly current: StoredSkills = {};
  private count = 0;
  private isChanged = false;

  private constructor(
    private readonly root: string,
    private readonly path: string | undefined,
    private readonly before: Readonly<StoredSkills>,
  ) {}

  /** Opens the index of a directory, in the user's state directory, where a project cannot write. */
  static open(
    { path: root, boundary, plugin, only }: DefinitionDirectory,
    environment: Environment,
  ): SkillIndex {
    const state = userStateDirectory(environment);
    if (state === undefined) return new SkillIndex(root, undefined, {});
    const id = Bun.SHA256.hash(JSON.stringify([root, boundary, plugin?.name, only]), "hex").slice(0, 16);
    const path = join(state, "skills", `${id}.json`);
    return new SkillIndex(root, path, readIndex(path));
  }

  /** The skill of a `SKILL.md`, if the file has not changed since it was read. */
  find(file: string, stamp: string): Skill | undefined {
    const key = file.slice(this.root.length);
    const stored = this.before[key];
    if (stored?.stamp !== stamp) return undefined;
    this.keep(key, stored);
    return stored.skill;
  }

  add(file: string, stamp: string, skill: Skill): void {
    this.keep(file.slice(this.root.length), { stamp, skill });
    this.isChanged = true;
  }

  /** Saves what was found and added; nothing if that is what is saved already. */
  async save(): Promise<void> {
    if (this.path === undefined) return;
    if (!this.isChanged && this.count === Object.keys(this.before).length) return;
    const text = JSON.stringify(this.current);
    const content = `${VERSION} ${Bun.SHA256.hash(text, "hex")}\n${text}`;
    // Without the index, the next session reads the files again.
    await updatePrivateFile(this.path, () => new TextEncoder().encode(content)).catch(() => {});
  }

  private keep(key: string, stored: StoredSkill): void {
    this.current[key] = stored;
    this.count += 1;
  }
}

/** The file's first line has a hash of the rest: what has it was written here, and its fields need no check. */
function readIndex(path: string): StoredSkills {
  try {
    const text = new TextDecoder().decode(readOwnHead(path, MAX_BYTES));
    const [head = ""] = text.split("\n", 1);
    const rest = text.slice(head.length + 1);
    return head === `${VERSION} ${Bun.SHA256.hash(rest, "hex")}` ? JSON.parse(rest) : {};
  } catch {
    return {}; // Missing, or not only the user's to write: it is written anew.
  }
}
