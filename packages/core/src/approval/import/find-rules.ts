import { dirname, join, relative } from "node:path";
import { locateFile, readCheckedFile } from "../../infrastructure/fs/read.ts";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import { listNames } from "../../infrastructure/fs/stat.ts";
import { userConfigDirectory } from "../../infrastructure/paths/user.ts";
import { type Environment, homeDirectory } from "../../infrastructure/runtime.ts";
import { decodeUtf8 } from "../../infrastructure/text/text-file.ts";
import { fromClaudeSettings } from "./claude-rules.ts";
import { fromCodexRules } from "./codex-rules.ts";
import { fromOpencodeConfig } from "./opencode-rules.ts";
import { type ForeignRule, type ForeignRuleFile, toFields } from "./types.ts";

/** A file that may hold rules. */
interface Candidate extends Pick<ForeignRuleFile, "agent" | "path" | "shown" | "scope"> {
  read(text: string): ForeignRule[];
}

const MAX_BYTES = 1024 * 1024;
const MAX_RULE_FILES = 20;

/**
 * The rules in the files of other agents: those of the user, then those of the project. A file without rules is left out.
 * Nothing changes.
 * @param root the project root, absolute and real.
 */
export async function findForeignRules(environment: Environment, root: string): Promise<ForeignRuleFile[]> {
  const files = [...findUserFiles(environment), ...findProjectFiles(root)];
  const seen = new Set<string>();
  const found: ForeignRuleFile[] = [];
  for (const file of files) {
    const reading = await readCandidate(file, root);
    // In the home directory, a file of the user is not one of a project.
    if (reading === undefined || seen.has(reading.realPath)) continue;
    seen.add(reading.realPath);
    if (reading.found.rules.length > 0 || reading.found.problem !== undefined) found.push(reading.found);
  }
  return found;
}

function findUserFiles(environment: Environment): Candidate[] {
  const home = homeDirectory(environment);
  if (home === undefined) return [];
  const claude = environment.CLAUDE_CONFIG_DIR || join(home, ".claude");
  const config = dirname(userConfigDirectory(environment) ?? join(home, ".config", "diligent"));
  const show = (path: string) => (isInside(path, home) ? `~/${relative(home, path)}` : path);
  return [
    toClaude(join(claude, "settings.json"), "user"),
    ...["config.json", "opencode.json", "opencode.jsonc"].map((name) =>
      toOpencode(join(config, "opencode", name), "user"),
    ),
    ...listRuleFiles(join(environment.CODEX_HOME || join(home, ".codex"), "rules")).map((path) =>
      toCodex(path, "user"),
    ),
  ].map((file) => ({ ...file, shown: show(file.path) }));
}

function findProjectFiles(root: string): Candidate[] {
  const inProject = (name: string) => join(root, name);
  return [
    ...[".claude/settings.json", ".claude/settings.local.json"].map((name) =>
      toClaude(inProject(name), "project"),
    ),
    ...["opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"].map(
      (name) => toOpencode(inProject(name), "project"),
    ),
    ...listRuleFiles(inProject(".codex/rules")).map((path) => toCodex(path, "project")),
  ].map((file) => ({ ...file, shown: relative(root, file.path) }));
}

function listRuleFiles(directory: string): string[] {
  const names = listNames(directory).filter((name) => name.endsWith(".rules"));
  return names
    .sort()
    .slice(0, MAX_RULE_FILES)
    .map((name) => join(directory, name));
}

function toClaude(path: string, scope: Candidate["scope"]): Omit<Candidate, "shown"> {
  return {
    ...{ agent: "Claude Code", path, scope },
    read: (text) => fromClaudeSettings(toFields(Bun.JSONC.parse(text)), scope),
  };
}

function toOpencode(path: string, scope: Candidate["scope"]): Omit<Candidate, "shown"> {
  return {
    ...{ agent: "opencode", path, scope },
    read: (text) => fromOpencodeConfig(toFields(Bun.JSONC.parse(text))),
  };
}

function toCodex(path: string, scope: Candidate["scope"]): Omit<Candidate, "shown"> {
  return { agent: "Codex", path, scope, read: fromCodexRules };
}

/** Undefined without the file. */
async function readCandidate(
  { read, ...file }: Candidate,
  root: string,
): Promise<{ realPath: string; found: ForeignRuleFile } | undefined> {
  const reading = await readCheckedFile(file.path, MAX_BYTES + 1);
  if (reading.kind === "missing") return undefined;
  const refuse = (problem: string, realPath = file.path) => ({
    realPath,
    found: { ...file, rules: [], problem },
  });
  if (reading.kind === "unreadable") return refuse(`It cannot be read: ${reading.reason}.`);
  const { realPath, content, concern } = reading.file;
  if (file.scope === "project" && !isInside(locateFile(file.path).realPath, root))
    return refuse("It is a link out of the project.", realPath);
  if (concern !== undefined) return refuse(`Another user could have written it: ${concern}.`, realPath);
  if (content.length > MAX_BYTES) return refuse(`It is larger than ${MAX_BYTES} bytes.`, realPath);
  try {
    return { realPath, found: { ...file, rules: read(decodeUtf8(content).text) } };
  } catch (error) {
    const why = error instanceof SyntaxError ? error.message : "it is not text";
    // A denial that is not understood would get lost.
    return refuse(`Nothing of it can be used: ${why}.`, realPath);
  }
}
