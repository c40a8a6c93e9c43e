import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { isInside, resolveExecutable, systemErrorText } from "@diligent/core/interactive";
import type { Environment } from "@diligent/core/run";
import { cleanText } from "./clean-text.ts";
import { readCommandWords } from "./command-words.ts";

export interface ExternalEditorOptions {
  environment: Environment;
  cwd: string;
  /** The project, real: no program and no temporary file of ours in it. */
  root: string;
  /** Hands the terminal over; what is called before the editor starts, and after it has ended whatever happened. */
  suspend(): void | Promise<void>;
  resume(): void | Promise<void>;
  /** Where temporary files go, by default the system's place for them. */
  temporaryDirectory?: string;
}

/** The text as it was left in the editor, or why it stays as it was, in words for the user. */
export type EditedText = { text: string } | { error: string };

const UNSET = "Set $VISUAL or $EDITOR to an editor, such as EDITOR=nano";

/**
 * Lets the user write a text in `$VISUAL` or `$EDITOR`: in a private temporary file that is removed afterwards. An editor
 * that ends with a code above 0 has changed nothing.
 */
export async function editExternally(text: string, options: ExternalEditorOptions): Promise<EditedText> {
  const { environment, root } = options;
  const line = environment.VISUAL?.trim() || environment.EDITOR?.trim();
  if (!line) return { error: UNSET };
  const [name, ...args] = readCommandWords(line) ?? [];
  if (name === undefined)
    return { error: `${line} cannot be read as a command: a quotation mark is left open` };
  const program = name.includes("/") ? name : resolveExecutable(name, { environment, outside: root });
  if (program === undefined) return { error: `The editor ${name} was not found in PATH. ${UNSET}` };
  let directory: string | undefined;
  try {
    directory = makeDirectory(options);
    const path = join(directory, "prompt.md");
    writeFileSync(path, text, { mode: 0o600, flag: "wx" });
    const failure = await runEditor([program, ...args, path], options);
    return failure === undefined ? { text: readText(path) } : { error: failure };
  } catch (error) {
    return { error: `The editor ${name} could not be used: ${systemErrorText(error)}` };
  } finally {
    if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
  }
}

function makeDirectory({ root, temporaryDirectory = tmpdir() }: ExternalEditorOptions): string {
  const parent = realpathSync(temporaryDirectory);
  if (isInside(parent, root))
    throw new Error(`the directory for temporary files, ${parent}, is in the project`);
  return mkdtempSync(join(parent, "diligent-prompt-"));
}

/** Undefined when the editor ended well. */
async function runEditor(
  argv: string[],
  { environment, cwd, suspend, resume }: ExternalEditorOptions,
): Promise<string | undefined> {
  await suspend();
  try {
    const child = Bun.spawn(argv, {
      cwd,
      env: withoutKeys(environment),
      stdin: "inherit",
      stdout: "inherit",
      stderr: "inherit",
    });
    const code = await child.exited;
    if (code === 0) return undefined;
    const end = child.signalCode ? `was ended by ${child.signalCode}` : `ended with code ${code}`;
    return `${basename(argv[0] ?? "")} ${end}; the prompt is as it was`;
  } finally {
    await resume();
  }
}

const KEY_NAME = /(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)S?(?:_|$)|APIKEY/i;

/** Everything an editor may need, but no key: editors start language servers and plugins of many makers. */
function withoutKeys(environment: Environment): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment))
    if (value !== undefined && !KEY_NAME.test(name)) kept[name] = value;
  return kept;
}

/** Most editors end the last line, which is no part of the prompt. What is no UTF-8 is marked, not lost. */
function readText(path: string): string {
  return cleanText(new TextDecoder().decode(readFileSync(path))).replace(/\n$/, "");
}
