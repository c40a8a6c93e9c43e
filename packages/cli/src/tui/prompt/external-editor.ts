import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { isInside, systemErrorText } from "@diligent/core/interactive";
import type { CommandContext } from "../commands/types.ts";
import { cleanText } from "../editor/text-area.ts";
import { findUserProgram, type UserProgram } from "./user-program.ts";

/** Where to find the editor and who lends it the terminal; it is started in `cwd`. */
interface ExternalEditorOptions extends Pick<CommandContext, "environment" | "lendTerminal" | "onAnyExit"> {
  cwd: string;
  /** The project's real path: neither its programs nor temporary files in it are used. */
  root: string;
  /** Directory for temporary files; default: the system's. */
  temporaryDirectory?: string;
}

/** The edited text, or the reason why it is unchanged, as a message for the user. */
type EditedText = { text: string } | { error: string };

const UNSET = "Set $VISUAL or $EDITOR to an editor, such as EDITOR=nano";

/**
 * Lets the user edit a text in `$VISUAL` or `$EDITOR`, in a private temporary file that is deleted
 * afterwards, and when the program ends meanwhile. If the editor exits with a code above 0, nothing has
 * changed.
 */
export async function editExternally(text: string, options: ExternalEditorOptions): Promise<EditedText> {
  const { environment, root } = options;
  const line = environment.VISUAL?.trim() || environment.EDITOR?.trim();
  if (!line) return { error: UNSET };
  const found = findUserProgram(line, { kind: "editor", advice: UNSET, environment, root });
  if ("error" in found) return found;
  let directory: string | undefined;
  const remove = () => {
    if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
  };
  // Quitting does not wait for the editor.
  const forget = options.onAnyExit(remove);
  try {
    directory = makeDirectory(options);
    const path = join(directory, "prompt.md");
    writeFileSync(path, text, { mode: 0o600, flag: "wx" });
    const failure = await runEditor({ ...found, argv: [...found.argv, path] }, options);
    return failure === undefined ? { text: readEdited(path) } : { error: failure };
  } catch (error) {
    return { error: `The editor ${found.name} could not be started: ${systemErrorText(error)}` };
  } finally {
    remove();
    forget();
  }
}

function makeDirectory({ root, temporaryDirectory = tmpdir() }: ExternalEditorOptions): string {
  const parent = realpathSync(temporaryDirectory);
  if (isInside(parent, root)) throw new Error(`the temporary directory ${parent} is inside the project`);
  return mkdtempSync(join(parent, "diligent-prompt-"));
}

/** Undefined if the editor succeeded. */
async function runEditor(
  { argv, environment }: UserProgram,
  { cwd, lendTerminal }: ExternalEditorOptions,
): Promise<string | undefined> {
  const { code, signalCode } = await lendTerminal(async (ended) => {
    const child = Bun.spawn(argv, {
      cwd,
      env: environment,
      stdin: "inherit",
      stdout: "inherit",
      stderr: "inherit",
      signal: ended,
    });
    return { code: await child.exited, signalCode: child.signalCode };
  });
  if (code === 0) return undefined;
  const end = signalCode ? `was killed by ${signalCode}` : `exited with code ${code}`;
  return `${basename(argv[0] ?? "")} ${end}; the prompt is unchanged`;
}

/**
 * Most editors end the last line with a line feed, which is not part of the prompt. Invalid UTF-8 is replaced
 * by U+FFFD, not dropped.
 */
function readEdited(path: string): string {
  return cleanText(new TextDecoder().decode(readFileSync(path))).replace(/\n$/, "");
}
