import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  checkSkill,
  isSkillName,
  type ListedSkill,
  listSkills,
  openProjectTrust,
  readPlugins,
  readSkillText,
} from "@diligent/core/definitions";
import { loadConfig } from "@diligent/core/harness";
import { nearestNames } from "@diligent/core/light";
import { isSubcommandWord } from "../arguments/subcommands.ts";
import { EXIT_FAILURE, EXIT_SUCCESS, UsageError } from "../errors.ts";
import { type CliIo, writeLine } from "../io/io.ts";
import { resolveDirectory } from "../session/project-directory.ts";
import { toJsonText } from "../text/format.ts";
import { sanitizeTerminalText, toSingleLine } from "../text/terminal-text.ts";
import { readSubcommandArguments, unknownAction } from "./arguments.ts";

/**
 * @param directory as given with `-C`.
 * @throws UsageError for an unknown skill or a bad name.
 */
export async function runSkills(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const { words, switches } = readSubcommandArguments("skills", rest);
  const [action = "list", argument, ...others] = words;
  if (!isSubcommandWord("skills", action)) throw unknownAction("skills", action);
  const [extra] = action === "list" && argument !== undefined ? [argument] : others;
  if (extra !== undefined) throw new UsageError(`skills ${action}: unexpected argument ${extra}`);
  const call = { io, cwd: resolveDirectory(directory, io.cwd), isJson: switches.has("json") };
  if (action === "list") return list(call);
  if (argument === undefined) throw new UsageError(`skills ${action}: ${MISSING[action]} is missing`);
  if (action === "show") return show(argument, call);
  return action === "check" ? check(argument, call) : create(argument, call);
}

const MISSING = { show: "NAME", check: "DIR", new: "NAME" } as const;

interface SkillsCall {
  io: CliIo;
  cwd: string;
  isJson: boolean;
}

async function findAll({ io, cwd }: SkillsCall) {
  const { environment } = io;
  const loaded = await loadConfig(cwd, environment);
  const trust = () => openProjectTrust(loaded, { environment });
  const plugins = () => readPlugins(environment);
  return { loaded, ...(await listSkills({ cwd, environment, loaded, trust, plugins })) };
}

async function list(call: SkillsCall): Promise<number> {
  const { io, isJson } = call;
  const { skills, skipped } = await findAll(call);
  if (isJson) {
    const unusable = skipped.map(({ shown, reason }) => ({ path: shown, state: "skipped", reason }));
    io.stdout.write(toJsonText([...skills.map(toFacts), ...unusable]));
    return EXIT_SUCCESS;
  }
  if (skills.length + skipped.length === 0) writeLine(io.stdout, "No skills found.");
  for (const skill of skills) {
    const mark = skill.state === "untrusted" ? " (not trusted, see diligent trust)" : "";
    writeLine(io.stdout, `${skill.name}  ${toSingleLine(skill.shown, MAX_COLUMNS)}${mark}`);
    writeLine(io.stdout, `    ${toSingleLine(skill.description, MAX_COLUMNS)}`);
    for (const warning of skill.warnings)
      writeLine(io.stdout, `    warning: ${toSingleLine(warning, MAX_COLUMNS)}`);
  }
  for (const { shown, reason } of skipped)
    writeLine(
      io.stdout,
      `not loaded: ${toSingleLine(shown, MAX_COLUMNS)}: ${toSingleLine(reason, MAX_COLUMNS)}`,
    );
  return EXIT_SUCCESS;
}

const MAX_COLUMNS = 160;

function toFacts(skill: ListedSkill): object {
  const { name, description, path, shown, state, boundary, plugin, warnings, allowedTools } = skill;
  const { isModelInvocable, isUserInvocable } = skill;
  const source = plugin ? `plugin ${plugin.name}` : boundary === undefined ? "user" : "project";
  return {
    ...{ name, description, path, shown, source, state },
    ...{ isModelInvocable, isUserInvocable, allowedTools, warnings },
  };
}

async function show(name: string, call: SkillsCall): Promise<number> {
  const { skills } = await findAll(call);
  const skill = skills.find((each) => each.name === name);
  if (!skill) {
    const [nearest] = nearestNames(
      name,
      skills.map((each) => each.name),
    );
    const hint = nearest === undefined ? "see diligent skills list" : `did you mean ${nearest}?`;
    throw new UsageError(`no skill is called ${name} (${hint})`);
  }
  const text = await readSkillText(skill.path);
  if (call.isJson) call.io.stdout.write(toJsonText({ ...toFacts(skill), text }));
  else {
    writeLine(call.io.stdout, sanitizeTerminalText(skill.path));
    if (skill.state === "untrusted")
      writeLine(call.io.stdout, "Not trusted: it is not used. See diligent trust.");
    writeLine(call.io.stdout, `\n${sanitizeTerminalText(text.trimEnd())}`);
  }
  return EXIT_SUCCESS;
}

async function check(path: string, { io, cwd, isJson }: SkillsCall): Promise<number> {
  const directory = join(path.startsWith("/") ? "" : cwd, path);
  if (!existsSync(directory)) throw new UsageError(`skills check: ${path} does not exist`);
  const found = await checkSkill(directory);
  const isUsable = found.kind === "skill";
  if (isJson) {
    const warnings = isUsable ? found.warnings : [];
    const problem = isUsable ? null : found.reason;
    io.stdout.write(toJsonText({ name: isUsable ? found.head.name : null, isUsable, warnings, problem }));
  } else if (isUsable) {
    for (const warning of found.warnings)
      writeLine(io.stdout, `warning: ${toSingleLine(warning, MAX_COLUMNS)}`);
    writeLine(io.stdout, `${found.head.name}: ${toSingleLine(found.head.description, MAX_COLUMNS)}`);
  } else
    writeLine(
      io.stdout,
      `${toSingleLine(path, MAX_COLUMNS)} cannot be used: ${toSingleLine(found.reason, MAX_COLUMNS)}`,
    );
  return isUsable ? EXIT_SUCCESS : EXIT_FAILURE;
}

async function create(name: string, call: SkillsCall): Promise<number> {
  if (!isSkillName(name))
    throw new UsageError(`skills new: ${JSON.stringify(name)} is not 1 to 64 of a-z, 0-9 and single hyphens`);
  const { loaded, skills } = await findAll(call);
  const existing = skills.find((skill) => skill.name === name);
  const directory = join(loaded.projectRoot, ".diligent", "skills", name);
  if (existing || existsSync(directory))
    throw new UsageError(`skills new: ${name} exists already: ${existing?.path ?? directory}`);
  mkdirSync(directory, { recursive: true });
  const path = join(directory, "SKILL.md");
  writeFileSync(path, toTemplate(name), { flag: "wx" });
  writeLine(
    call.io.stdout,
    `Created ${sanitizeTerminalText(path)}. Write its text, then accept it with diligent trust.`,
  );
  return EXIT_SUCCESS;
}

function toTemplate(name: string): string {
  return `---
name: ${name}
description: What this skill does, and when to use it.
---

# ${name}

The steps of the task. Put longer texts and scripts in files beside this one and name them here.
`;
}
