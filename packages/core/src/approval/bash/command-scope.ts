import type { WidenableGrant } from "../types.ts";
import {
  type FurtherWords,
  PROGRAM_COMMANDS,
  SCRIPT,
  SINGLE_PURPOSE,
  TOOL_COMMANDS,
} from "./further-words.ts";

/** The text of a script in the `package.json` of the command's directory; undefined for others. */
export type FindScript = (name: string) => string | undefined;

const NO_SCRIPTS: FindScript = () => undefined;

/**
 * The first words that a wider grant for a command can fix. Empty for programs that are not known, and for those of which
 * a further word could run another command.
 */
export function findCommandScopes(
  words: readonly string[],
  findScript: FindScript,
): Omit<WidenableGrant, "grant"> {
  const reaches = (length: number) => {
    const prefix = words.slice(0, length);
    const isFixed = prefix.length === length && readFurtherWords(prefix, words, findScript) !== undefined;
    return isFixed ? prefix : undefined;
  };
  const program = reaches(1);
  const longer = [2, 3, 4, 5].map(reaches).find((found) => found !== undefined);
  return { ...(longer && { prefix: longer }), ...(program && { program }) };
}

/**
 * The words after `prefix` that name files, for a command that a grant for `prefix` covers; undefined for any other
 * command. Words are without quotes.
 */
export function readFurtherWords(
  prefix: readonly string[],
  words: readonly string[],
  findScript: FindScript,
): string[] | undefined {
  if (prefix.some((word, index) => word !== words[index])) return undefined;
  const allowed = findAllowedWords(prefix);
  if (allowed === undefined) return undefined;
  const further = words.slice(prefix.length);
  return readWords(further, allowed) ?? readScriptWords(further, { allowed, prefix, findScript });
}

/** A script of `package.json` whose whole text is a call of a known tool takes the words of that tool. */
function readScriptWords(
  words: readonly string[],
  {
    allowed,
    prefix,
    findScript,
  }: { allowed: FurtherWords; prefix: readonly string[]; findScript: FindScript },
): string[] | undefined {
  if (allowed.package === undefined) return undefined;
  const name = prefix.at(-1) ?? "";
  const script = (findScript(name === "t" ? "test" : name) ?? "").trim().split(/ +/);
  const isPlain = script.every((word) => SCRIPT_WORD.test(word)) && !script.includes("--");
  const tool = [4, 3, 2, 1].map((length) => findAllowedWords(script.slice(0, length))).find(Boolean);
  if (!isPlain || tool === undefined || tool.package !== undefined) return undefined;
  if (allowed.package === "after_dashes")
    return readWords(words, { ...allowed, ...(tool.operands && { operands: tool.operands }), rest: tool });
  return readWords(words[0] === "--" ? words.slice(1) : words, tool);
}

const SCRIPT_WORD = /^[\w@%+=:,./-]+$/;

/** A few commands that a grant for the first words covers, the one that was asked about first. */
export function listCoveredCommands(
  prefix: readonly string[],
  asked: readonly string[],
): (readonly string[])[] {
  const { flags = "" } = findAllowedWords(prefix) ?? {};
  const longFlags = flags.split(" ").filter((flag) => flag.startsWith("--"));
  const further = [[], ["src"], ["./src/main"], ...longFlags.map((flag) => [flag])];
  const commands = [asked, ...further.map((words) => [...prefix, ...words])];
  const covered = commands.filter(
    (command) => command === asked || readFurtherWords(prefix, command, NO_SCRIPTS) !== undefined,
  );
  return [...new Map(covered.map((command) => [command.join("\0"), command])).values()];
}

const MODULE_BINARY = /^(?:\.\/)?node_modules\/\.bin\/(?=[\w-]+$)/;
/** Programs that run the tool which the next word names, with all words after it. */
const LAUNCHERS: readonly string[] = ["npx", "bunx", "pnpm exec", "uv run", "poetry run", "bundle exec"];
const PLAIN_WORD = /^[\w.:/-]+$/;
const COMMAND_WORD = /^[A-Za-z][\w:.-]*$/;

/** The words that may follow the first words of a command; undefined when no grant can fix exactly these. */
function findAllowedWords(prefix: readonly string[]): FurtherWords | undefined {
  const [program = "", command = ""] = prefix;
  if (!prefix.every((word) => PLAIN_WORD.test(word))) return undefined;
  if (isOwnScript(program))
    return prefix.length === 1 || (prefix.length === 2 && COMMAND_WORD.test(command)) ? SCRIPT : undefined;
  const text = prefix.join(" ");
  const launcher = LAUNCHERS.find((name) => text.startsWith(`${name} `));
  if (launcher !== undefined) return findToolWords(text.slice(launcher.length + 1));
  const scripted = COMMAND_WORD.test(prefix.at(-1) ?? "") ? [...prefix.slice(0, -1), "*"].join(" ") : "";
  const key = [text, scripted].find((each) => Object.hasOwn(PROGRAM_COMMANDS, each));
  return key === undefined ? findToolWords(text.replace(MODULE_BINARY, "")) : PROGRAM_COMMANDS[key];
}

function findToolWords(text: string): FurtherWords | undefined {
  const key = text.replace(/^python3?(?:\.\d+)? /, "python ");
  const table = key.includes(" ") ? TOOL_COMMANDS : SINGLE_PURPOSE;
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

const OWN_SCRIPT = /^(?:\.\/)?(?:\w[\w.-]*\/)*\w[\w.-]*\.(?:sh|bash|py|js|mjs|cjs|ts|rb|pl)$/;

/** True for a script by its relative path; those in `node_modules` and hidden directories belong to others. */
function isOwnScript(program: string): boolean {
  return program.includes("/") && OWN_SCRIPT.test(program) && !program.includes("node_modules/");
}

type OptionKind = "flag" | "attached" | "name" | "text" | "path";

const tables = new WeakMap<FurtherWords, ReadonlyMap<string, OptionKind>>();

function optionsOf(allowed: FurtherWords): ReadonlyMap<string, OptionKind> {
  const list = (names: string | undefined, kind: OptionKind) =>
    (names?.split(" ") ?? []).map((name) => [name, kind] as const);
  const table =
    tables.get(allowed) ??
    new Map([
      ...list(allowed.flags, "flag"),
      ...list(allowed.attached, "attached"),
      ...list(allowed.names, "name"),
      ...list(allowed.texts, "text"),
      ...list(allowed.paths, "path"),
    ]);
  tables.set(allowed, table);
  return table;
}

/** The paths among the words; undefined when one of the words is not covered. */
function readWords(words: readonly string[], allowed: FurtherWords): string[] | undefined {
  const options = optionsOf(allowed);
  const paths: string[] = [];
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === "--") {
      const after = readWords(
        rest,
        allowed.rest ?? { ...(allowed.operands && { operands: allowed.operands }) },
      );
      return after && [...paths, ...after];
    }
    if (!word.startsWith("-")) {
      if (!allowed.operands?.test(word)) return undefined;
      paths.push(word);
      continue;
    }
    const option = readOption(word, { options, isWhole: allowed.wholeWords === true });
    if (option === undefined) return undefined;
    if (option.kind === "flag" || option.kind === "attached") continue;
    const value = option.value ?? rest.shift();
    // A program that reads the next word as an option would not take it as the value.
    if (value === undefined || (option.value === undefined && value.startsWith("-"))) return undefined;
    if (option.kind === "name" && !NAME.test(value)) return undefined;
    if (option.kind === "path") paths.push(value);
  }
  return paths;
}

/** One word with options; of joined letters the last one may have a value. */
function readOption(
  word: string,
  { options, isWhole }: { options: ReadonlyMap<string, OptionKind>; isWhole: boolean },
): { kind: OptionKind; value?: string } | undefined {
  const whole = options.get(word);
  if (whole !== undefined) return { kind: whole };
  const [, name = "", value] = /^(--?[^=]+)=(.*)$/s.exec(word) ?? [];
  const named = options.get(name);
  if (value !== undefined && named !== undefined) {
    const isAllowed = named === "attached" ? ATTACHED_VALUE.test(value) : named !== "flag";
    return isAllowed ? { kind: named, value } : undefined;
  }
  if (word.startsWith("--") || word === "-") return undefined;
  if (isWhole) {
    const isAttached = [...options].some(
      ([each, kind]) =>
        kind === "attached" && word.startsWith(each) && ATTACHED_VALUE.test(word.slice(each.length)),
    );
    return isAttached ? { kind: "attached" } : undefined;
  }
  for (let at = 1; at < word.length; at++) {
    const kind = options.get(`-${word.charAt(at)}`);
    const after = word.slice(at + 1);
    if (kind === undefined) return undefined;
    if (kind === "flag") continue;
    if (kind === "attached") return ATTACHED_VALUE.test(after) ? { kind } : undefined;
    return after === "" ? { kind } : { kind, value: after };
  }
  return { kind: "flag" };
}

const NAME = /^\w[\w.,:/+-]*$/;
const ATTACHED_VALUE = /^[\w.,]*$/;
