import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { readInstructionFile } from "../../config/instruction-file.ts";
import {
  type DiscoveredInstruction,
  discoverInstructions,
  INSTRUCTION_FILES,
} from "../../config/instructions.ts";
import type { ProjectTrust, TrustItem, TrustKind } from "../../config/trust-items.ts";
import { findRealPath, isInside } from "../../infrastructure/fs/real-path.ts";
import { type Environment, homeDirectory } from "../../infrastructure/runtime.ts";
import { findNestedDirectories } from "../definitions/directories.ts";
import { describeGuards } from "./describe-guard.ts";
import { compileOwn, compileText, resolveContradictions, uniqueName } from "./rule-list.ts";
import type { Rule } from "./types.ts";

/** Where rules are looked for. */
export interface RulePlace {
  /** Absolute and real. */
  cwd: string;
  /** The root of the project, absolute and real. */
  root: string;
  environment: Environment;
  /** The configured ones by name; false switches one off. */
  settings?: Readonly<Record<string, string | false>> | undefined;
}

/** A rule in its place. */
export interface PlacedRule extends Rule {
  /** The directory that its paths are relative to; absolute. */
  directory: string;
  /** True for a rule of a directory below the working directory: it concerns what is below. */
  isNested: boolean;
  /** `untrusted`: of the project, and the user has not trusted it in this form. `off`: switched off by name. */
  state: "active" | "untrusted" | "off";
}

/** The rules of one file of the project, as they need trust. */
interface RuleItem extends TrustItem {
  file: RuleFile;
}

interface RuleFile {
  path: string;
  directory: string;
  isProject: boolean;
  isNested: boolean;
  rules: Rule[];
}

/** The rules of projects, as they need trust. */
export const RULE_TRUST: TrustKind = {
  kind: "rules",
  title: "Rules that calls of the model are held to",
  noun: ["file of rules", "files of rules"],
  async find({ root, environment }) {
    const files = [
      ...(await findFiles({ cwd: root, root, environment })),
      ...(await findNested({ cwd: root, root, environment })),
    ];
    return { items: files.flatMap((file) => toItem(file, root) ?? []), warnings: [] };
  },
};

function toItem(file: RuleFile, root: string): RuleItem | undefined {
  const bound = file.rules.filter(({ guards }) => guards.length > 0);
  if (!file.isProject || bound.length === 0) return undefined;
  const path = relative(root, file.path);
  const texts = bound.map(({ name, text, guards }) => [name, `${text} → ${describeGuards(guards)}`] as const);
  const sha256 = Bun.SHA256.hash(JSON.stringify(bound.map(({ text, guards }) => [text, guards])), "hex");
  return { kind: RULE_TRUST.kind, name: path, path, details: Object.fromEntries(texts), sha256, file };
}

export async function findRules(
  place: RulePlace,
  trust: Pick<ProjectTrust, "selectTrusted">,
  { nested = false } = {},
): Promise<PlacedRule[]> {
  const found = await PlaceRules.open(place, trust);
  if (nested) await found.addDirectories(findDirectoriesBelow(place.cwd));
  return found.rules;
}

/**
 * The rules of a place: of the configuration, of the user's instruction files, and of the project's. Those of directories
 * below the working directory are added when something is done there.
 */
export class PlaceRules {
  private readonly seen = new Set<string>();

  private constructor(
    private readonly place: RulePlace,
    private readonly trust: Pick<ProjectTrust, "selectTrusted">,
    private readonly files: RuleFile[],
    /** All of them, also those that do not bind. */
    public rules: PlacedRule[],
  ) {}

  static async open(place: RulePlace, trust: Pick<ProjectTrust, "selectTrusted">): Promise<PlaceRules> {
    const files = await findFiles(place);
    return new PlaceRules(place, trust, files, await arrangeRules(files, place, trust));
  }

  /** Also the rules of the instruction files in these directories of the project. */
  async addDirectories(directories: readonly string[]): Promise<void> {
    const added = directories.filter((directory) => !this.seen.has(directory));
    for (const directory of added) this.seen.add(directory);
    const found = added.length === 0 ? [] : await readFilesIn(added, this.place);
    if (found.length === 0) return;
    this.files.push(...found);
    this.rules = await arrangeRules(this.files, this.place, this.trust);
  }

  /** The directories from the one below the working directory down to those that contain these paths. */
  listDirectories(paths: readonly string[]): string[] {
    const { cwd } = this.place;
    const found = new Set<string>();
    for (const path of paths.filter((each) => isInside(each, cwd)))
      for (
        let directory = path;
        directory !== cwd && directory !== dirname(directory);
        directory = dirname(directory)
      )
        found.add(directory);
    return [...found];
  }
}

async function arrangeRules(
  files: readonly RuleFile[],
  place: RulePlace,
  trust: Pick<ProjectTrust, "selectTrusted">,
): Promise<PlacedRule[]> {
  const { root, settings = {} } = place;
  const items = files.flatMap((file) => toItem(file, root) ?? []);
  const trusted = new Set((await trust.selectTrusted(RULE_TRUST, items)).map(({ file }) => file));
  const taken = new Set<string>();
  const own = Object.entries(settings).flatMap(([name, text]) =>
    text === false ? [] : [compileOwn(uniqueName(name, taken), text, "configuration")],
  );
  const placeOf = (file: RuleFile) =>
    file.rules.map((rule): PlacedRule => {
      const name = uniqueName(rule.name, taken);
      const isTrusted = !file.isProject || trusted.has(file);
      const state = settings[name] === false ? "off" : isTrusted ? "active" : "untrusted";
      return { ...rule, name, directory: file.directory, isNested: file.isNested, state };
    });
  const users = files.filter(({ isProject }) => !isProject).flatMap(placeOf);
  const projects = files.filter(({ isProject }) => isProject).flatMap(placeOf);
  const configured = own.map(
    (rule): PlacedRule => ({ ...rule, directory: root, isNested: false, state: "active" }),
  );
  const groups = [configured, users, projects];
  const binding = groups.map((group) => group.filter(({ state }) => state === "active"));
  const resolved = new Map(
    resolveContradictions(binding).flatMap((rules, index) =>
      rules.map((rule, at) => [binding[index]?.[at], rule] as const),
    ),
  );
  return groups.flat().map((rule) => ({ ...rule, ...resolved.get(rule) }));
}

/** Those that the model is told at the beginning: from the working directory up to the root, and the user's. */
async function findFiles({ cwd, root, environment }: RulePlace): Promise<RuleFile[]> {
  const found = await discoverInstructions(cwd, { environment });
  return found.toReversed().map((instruction) => toFile(instruction, { root, environment, isNested: false }));
}

/** Those of the directories below the working directory. */
async function findNested({ cwd, root, environment }: RulePlace): Promise<RuleFile[]> {
  return readFilesIn(findDirectoriesBelow(cwd), { root, environment });
}

function findDirectoriesBelow(cwd: string): string[] {
  const directories = findNestedDirectories(cwd, ["."]).map(({ path }) => path);
  return directories.filter((directory) => directory !== cwd);
}

/** The rules of the instruction files in these directories of the project, each without its imports. */
async function readFilesIn(
  directories: readonly string[],
  { root, environment }: Pick<RulePlace, "root" | "environment">,
): Promise<RuleFile[]> {
  const paths = directories.flatMap((directory) => INSTRUCTION_FILES.map((name) => join(directory, name)));
  const files: RuleFile[] = [];
  for (const path of paths.filter((each) => existsSync(each))) {
    const { file } = await readInstructionFile(path, [root]);
    if (file) files.push(toFile(file, { root, environment, isNested: true }));
  }
  return files;
}

function toFile(
  { path, content, importedBy }: DiscoveredInstruction,
  { root, environment, isNested }: Pick<RulePlace, "root" | "environment"> & { isNested: boolean },
): RuleFile {
  const from = importedBy ?? path;
  const isProject = isInside(findRealPath(from, "/") ?? from, root);
  const rules = compileText({ content, source: showPath(path, { root, environment }) });
  return { path, directory: isProject ? dirname(from) : root, isProject, isNested, rules };
}

function showPath(path: string, { root, environment }: Pick<RulePlace, "root" | "environment">): string {
  if (isInside(path, root)) return relative(root, path);
  const home = homeDirectory(environment);
  return home !== undefined && isInside(path, home) ? `~/${relative(home, path)}` : path;
}

/** The rules of one file, without regard to trust. @throws Error with a sentence if it cannot be read. */
export async function checkRuleFile(path: string, shown: string): Promise<Rule[]> {
  const { file, warnings } = await readInstructionFile(path, undefined);
  if (file === undefined && warnings[0] !== undefined) throw new Error(warnings[0].message);
  if (file === undefined && !existsSync(path)) throw new Error(`There is no file ${shown}.`);
  const [rules = []] = resolveContradictions([compileText({ content: file?.content ?? "", source: shown })]);
  return rules;
}
