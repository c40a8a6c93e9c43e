import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inheritEnvironment, readPromptImage, resolveExecutable } from "@diligent/core/interactive";
import type { Environment } from "@diligent/core/run";
import { describeError } from "../../errors.ts";
import { ATTENDED_VARIABLES } from "./user-program.ts";

/** Where to look for the programs that read the clipboard, and where images are kept. */
interface ClipboardOptions {
  environment: Environment;
  platform: NodeJS.Platform;
  /** The project's real path: none of its programs is run. */
  root: string;
  /** The session's private temporary directory. */
  directory: string;
}

/** The file of the image, or why no file was written, as a message for the user. */
type ClipboardImage = { path: string } | { error: string };

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 50 * 1024 * 1024;
let imageCount = 0;

/** Saves the image that the clipboard holds as a file, for which a program of the desktop is run. Never throws. */
export async function saveClipboardImage(options: ClipboardOptions): Promise<ClipboardImage> {
  const { environment, root, directory } = options;
  const [name, ...args] = chooseProgram(options);
  if (name === undefined)
    return {
      error: "No clipboard: neither WAYLAND_DISPLAY nor DISPLAY is set. Give the path of an image instead",
    };
  const program = resolveExecutable(name, { environment, outside: root });
  if (program === undefined)
    return { error: `Install ${name} to paste images, or give the path of an image` };
  try {
    const bytes = await readOutput([program, ...args], environment);
    const image = bytes && (await readPromptImage("The clipboard", bytes));
    if (!bytes || !image) return { error: "The clipboard holds no image" };
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    imageCount += 1;
    const path = join(directory, `clipboard-${process.pid}-${imageCount}.png`);
    writeFileSync(path, bytes, { mode: 0o600, flag: "wx" });
    return { path };
  } catch (error) {
    return { error: `The clipboard could not be read: ${describeError(error)}` };
  }
}

/** Each prints the image of the clipboard as PNG, and fails if the clipboard holds no image. */
function chooseProgram({ environment, platform }: ClipboardOptions): string[] {
  if (platform === "darwin") return ["pngpaste", "-"];
  if (environment.WAYLAND_DISPLAY) return ["wl-paste", "--no-newline", "--type", "image/png"];
  if (environment.DISPLAY) return ["xclip", "-selection", "clipboard", "-t", "image/png", "-o"];
  return [];
}

/** Undefined if the program failed, or printed nothing or too much. */
async function readOutput(argv: string[], environment: Environment): Promise<Uint8Array | undefined> {
  const child = Bun.spawn(argv, {
    env: inheritEnvironment(environment, ATTENDED_VARIABLES),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
    timeout: TIMEOUT_MS,
    killSignal: "SIGKILL",
    maxBuffer: MAX_BYTES,
  });
  const bytes = await child.stdout.bytes();
  return (await child.exited) === 0 && bytes.length > 0 ? bytes : undefined;
}

/** The mention of a file in a prompt. */
export function toMention(path: string): string {
  return /[\s"'`,;<>@]/.test(path) ? `@"${path}"` : `@${path}`;
}
