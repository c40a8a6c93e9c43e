import { join, relative } from "node:path";
import { readDirectory } from "../../infrastructure/fs/directory.ts";
import { locateFile } from "../../infrastructure/fs/read.ts";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import { nearestNames } from "../../infrastructure/nearest-name.ts";
import { isSecretFile } from "../../infrastructure/paths/secret-files.ts";
import { readFrontmatter } from "../../infrastructure/text/frontmatter.ts";
import { revealInvisible } from "../../infrastructure/text/unicode.ts";
import type { ToolResult } from "../../tool/types.ts";
import type { SkillSource } from "../../tools/index.ts";
import { readFile } from "../../tools/read/read-file.ts";
import type { Workspace } from "../../tools/workspace.ts";
import { PLUGIN_ROOT_VARIABLE } from "../definitions/plugin.ts";
import { readDefinition } from "../definitions/read-definition.ts";
import { fillTemplate, type TemplateStyle } from "../prompt-commands/fill-template.ts";
import type { Skill } from "./skill-index.ts";

const MAX_FOUND = 10;

/** A skill's body as it is given to the model. */
export interface LoadedSkill {
  skill: Skill;
  /** Without the head. */
  body: string;
}

/** The skills of one session. */
export class SessionSkills implements SkillSource {
  private readonly byName: ReadonlyMap<string, Skill>;
  /** Skills whose body is in the model's context. */
  private readonly given = new Set<string>();

  constructor(
    readonly skills: readonly Skill[],
    private readonly workspace: Pick<Workspace, "cwd" | "root" | "environment" | "files" | "sessionId">,
  ) {
    this.byName = new Map(skills.map((skill) => [skill.name, skill]));
  }

  /** Bodies that were given may no longer be in the context: they are given again when they are needed. */
  forgetGiven(): void {
    this.given.clear();
  }

  /** The skill that the model means, if it may load it. */
  findForModel(name: string): Skill | undefined {
    const skill = this.find(name);
    return skill?.isModelInvocable ? skill : undefined;
  }

  async load(name: string): Promise<ToolResult> {
    const skill = this.find(name);
    if (skill === undefined) return this.search(name);
    assertForModel(skill);
    if (this.given.has(skill.name))
      return { output: `The skill ${skill.name} is loaded already; its text is above in this conversation.` };
    // At once: calls of one turn run side by side.
    this.given.add(skill.name);
    try {
      const { body } = await readBody(skill);
      return { output: describe(skill, fillVariables(body, skill, this.workspace.sessionId)) };
    } catch (error) {
      this.given.delete(skill.name);
      throw error;
    }
  }

  async read(name: string, file: string, signal: AbortSignal): Promise<ToolResult> {
    const skill = this.find(name);
    if (skill === undefined) return this.search(name);
    assertForModel(skill);
    const path = join(skill.directory, file);
    const { realPath, stats } = locateFile(path);
    if (!isInside(realPath, skill.directory))
      throw new Error(`${file} is outside of the skill ${skill.name}. Use read for other files.`);
    if (isSecretFile(realPath) || isSecretFile(path))
      throw new Error(`${file} may hold secrets. Use read, which asks the user.`);
    const workspace = { ...this.workspace, outputDirectory: () => undefined };
    return readFile(workspace, { path, realPath, stats }, { args: { file_path: path }, signal });
  }

  /** The prompt by which the user starts a skill. @throws Error that says why it cannot be used. */
  async toPrompt(skill: Skill, args: string): Promise<string> {
    const { body } = await readBody(skill);
    this.given.add(skill.name);
    const { parts } = fillTemplate(
      {
        text: body,
        style: STYLE,
        argumentNames: skill.argumentNames,
        variables: variablesOf(skill, this.workspace.sessionId),
      },
      args,
    );
    const text = parts.map((part) => (part.kind === "text" ? part.text : `!\`${part.command}\``)).join("");
    return `Use this skill.\n\n<skill name="${skill.name}" directory="${skill.directory}">\n${text.trim()}\n</skill>`;
  }

  private find(name: string): Skill | undefined {
    return (
      this.byName.get(name.trim()) ??
      this.byName.get(
        name
          .trim()
          .toLowerCase()
          .replace(/^(?:\/?skill:|\$)/, ""),
      )
    );
  }

  private search(words: string): ToolResult {
    const listed = this.skills.filter(({ isModelInvocable }) => isModelInvocable);
    const found = searchSkills(listed, words).slice(0, MAX_FOUND);
    if (found.length === 0)
      return { output: `No skill is called or about ${JSON.stringify(words.slice(0, 100))}.` };
    const lines = found.map(({ name, description }) => `- ${name}: ${description}`);
    return { output: `No skill has this name. The nearest are:\n${lines.join("\n")}` };
  }
}

const STYLE: TemplateStyle = {
  missing: "keep",
  marks: "backticks",
  shell: "after_space",
  appended: "labelled",
};

function assertForModel({ name, isModelInvocable }: Skill): void {
  if (!isModelInvocable) throw new Error(`Only the user can start the skill ${name}, with /skill:${name}.`);
}

/** @throws Error if the file has changed since the session was opened, or cannot be read any more. */
async function readBody(skill: Skill): Promise<LoadedSkill> {
  const reading = await readDefinition(skill.path, skill);
  if (reading.kind === "missing") throw new Error(`The skill ${skill.name} was removed: ${skill.path}.`);
  if (reading.kind === "refused")
    throw new Error(`The skill ${skill.name} cannot be read: ${reading.reason}.`);
  // Trust in a project applies to the content that the user has seen.
  if (skill.boundary !== undefined && reading.sha256 !== skill.sha256)
    throw new Error(
      `The skill ${skill.name} has changed since this session was opened. The user can review it with /trust and /reload.`,
    );
  return { skill, body: readFrontmatter(reading.text).body };
}

function variablesOf({ directory, plugin }: Skill, sessionId: string): Record<string, string> {
  return {
    ...{ CLAUDE_SKILL_DIR: directory, CLAUDE_SESSION_ID: sessionId, DILIGENT_SKILL_DIR: directory },
    ...(plugin && { [PLUGIN_ROOT_VARIABLE]: plugin.root }),
  };
}

function fillVariables(body: string, skill: Skill, sessionId: string): string {
  const variables = variablesOf(skill, sessionId);
  return body.replace(/\$\{(\w+)\}/g, (written, name: string) => variables[name] ?? written);
}

const MAX_FILES = 40;
const MAX_DEPTH = 3;

function describe({ name, directory }: Skill, body: string): string {
  const files = listFiles(directory);
  const listed = files.length === 0 ? [] : [`Files, for \`skill\` with file: ${files.join(", ")}`];
  return [`Skill ${name}. Base directory: ${directory}`, ...listed, "", body.trim()].join("\n");
}

/** The files of a skill, at most forty, three levels down. */
function listFiles(directory: string): string[] {
  const files: string[] = [];
  let level = [directory];
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const next: string[] = [];
    for (const parent of level) {
      for (const { name, kind } of readEntries(parent)) {
        const path = join(parent, name);
        if (kind === "directory") next.push(path);
        else if (path !== join(directory, "SKILL.md")) files.push(revealInvisible(relative(directory, path)));
        if (files.length === MAX_FILES) return [...files, "…"];
      }
    }
    level = next;
  }
  return files;
}

function readEntries(directory: string) {
  try {
    return readDirectory(directory)
      .filter(({ name, kind }) => !name.startsWith(".") && kind !== "other")
      .sort((left, right) => (left.name < right.name ? -1 : 1));
  } catch {
    return []; // Not readable: there is nothing to list.
  }
}

/** The skills that have most of the words in their names and descriptions, the best first. */
export function searchSkills(skills: readonly Skill[], query: string): Skill[] {
  const words = new Set(query.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? []);
  const scored = skills.map((skill) => ({ skill, score: scoreSkill(skill, words) }));
  const found = scored.filter(({ score }) => score > 0).sort((left, right) => right.score - left.score);
  if (found.length > 0) return found.map(({ skill }) => skill);
  const names = nearestNames(
    query.trim(),
    skills.map(({ name }) => name),
  );
  return names.flatMap((name) => skills.find((skill) => skill.name === name) ?? []);
}

function scoreSkill({ name, description }: Skill, words: ReadonlySet<string>): number {
  const text = description.toLowerCase();
  return [...words].reduce(
    (sum, word) => sum + (name.includes(word) ? 3 : 0) + (text.includes(word) ? 1 : 0),
    0,
  );
}
