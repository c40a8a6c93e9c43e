import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTools, FileTracker, type Tool } from "@diligent/core/run";
import fc from "fast-check";
import { createTarget } from "../target.ts";

const LINE_ENDS = ["\n", "\n", "\r\n", "\r", ""] as const;
// No editor writes these and none of our texts contains them, so the text to replace occurs nowhere else.
const [OPEN, CLOSE] = ["⟪", "⟫"];

const word = fc.constantFrom(
  ...[
    "const",
    "$&",
    "$1",
    "$$",
    "grüße",
    "日本語",
    "🎉",
    "\t",
    "  ",
    "'",
    "`",
    "\\",
    "\u00a0",
    "e\u0301",
    "",
  ],
);
const line = fc.tuple(fc.array(word, { maxLength: 6 }), fc.constantFrom(...LINE_ENDS));
const text = fc
  .array(line, { maxLength: 8 })
  .map((lines) => lines.map(([words, end]) => words.join(" ") + end).join(""));
const oneLine = fc.array(word, { maxLength: 4 }).map((words) => words.join("_"));

/** Bytes that are not UTF-8: Latin-1, a truncated character, an overlong one, a surrogate half. */
const stray = fc.constantFrom([0xfc], [0xe2, 0x82], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xff]);

/** An edit of a file with everything that real files contain: only the requested text changes, or nothing. */
export const EDITS = createTarget({
  name: "edits",
  about: "an edit changes what it names and no other byte, or nothing at all",
  runs: { usual: 10_000, short: 150 },
  values: fc.record({
    hasMark: fc.boolean(),
    /** The text between the places to replace. */
    parts: fc.array(text, { minLength: 1, maxLength: 4 }),
    stray: fc.option(stray, { freq: 6, nil: undefined }),
    old: oneLine,
    fresh: fc.oneof(oneLine, text),
    replacesAll: fc.boolean(),
  }),
  async findProblem({ hasMark, parts, stray, old, fresh, replacesAll }, makeDirectory) {
    const directory = makeDirectory();
    const path = join(directory, "file.txt");
    const named = OPEN + old + CLOSE;
    const whole = Buffer.concat([
      Buffer.from((hasMark ? "\uFEFF" : "") + parts.join(named)),
      Buffer.from(stray ?? []),
    ]);
    writeFileSync(path, whole);
    const tools = createEditor(directory);
    const input = { file_path: path, old_string: named, new_string: fresh, replace_all: replacesAll };
    const failure =
      (await failureOf(tools, "read", { file_path: path })) ?? (await failureOf(tools, "edit", input));
    const found = readFileSync(path);
    if (failure !== undefined) {
      if (!found.equals(whole)) return `it failed and changed the file: ${failure}`;
      return mayFail() ? undefined : failure;
    }
    if (parts.length === 1) return "it replaced missing text";
    if (parts.length > 2 && !replacesAll) return "it replaced one of several matches";
    const isExact = stray
      ? keepsAround(found, { hasMark, parts, stray })
      : isWith(found, { hasMark, parts, fresh });
    return isExact ? undefined : `the file became ${JSON.stringify(found.toString("latin1"))}`;

    function mayFail(): boolean {
      return stray !== undefined || parts.length === 1 || (parts.length > 2 && !replacesAll);
    }
  },
});

interface Expected {
  hasMark: boolean;
  parts: readonly string[];
  fresh: string;
}

/** The unchanged parts, and between them the requested text, with the line ends of the file. */
function isWith(found: Buffer, { hasMark, parts, fresh }: Expected): boolean {
  let rest = found.toString("utf8");
  if (hasMark && !rest.startsWith("\uFEFF")) return false;
  rest = hasMark ? rest.slice(1) : rest;
  const pattern = parts.map(escapePattern).join(`(?:${toLooseLineEnds(fresh)})`);
  return new RegExp(`^${pattern}$`, "u").test(rest);
}

/**
 * The unchanged bytes in order, with anything between them: in which encoding the requested text is written depends on
 * what the other bytes look like.
 */
function keepsAround(
  found: Buffer,
  { hasMark, parts, stray }: Omit<Expected, "fresh"> & { stray: readonly number[] },
): boolean {
  const pieces = parts.map((part) => Buffer.from(part));
  const first = Buffer.concat([Buffer.from(hasMark ? "\uFEFF" : ""), pieces[0] ?? Buffer.of()]);
  const last = Buffer.concat([pieces.at(-1) ?? Buffer.of(), Uint8Array.from(stray)]);
  if (!found.subarray(0, first.length).equals(first)) return false;
  let from = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const at = found.indexOf(piece, from);
    if (at === -1) return false;
    from = at + piece.length;
  }
  return found.length >= from + last.length && found.subarray(found.length - last.length).equals(last);
}

function toLooseLineEnds(text: string): string {
  return text
    .split(/\r\n|\r|\n/)
    .map(escapePattern)
    .join("(?:\\r\\n|\\r|\\n)");
}

function escapePattern(text: string): string {
  return text.replace(/[$()*+.?[\\\]^{|}/]/g, "\\$&");
}

function createEditor(directory: string): Tool[] {
  return createTools({
    cwd: directory,
    root: directory,
    files: new FileTracker(),
    outputDirectory: () => undefined,
    environment: { PATH: "/usr/bin:/bin", HOME: directory },
    sessionId: "20260225103000-abcdef",
  });
}

/** A tool's error for a call; undefined on success. */
async function failureOf(tools: readonly Tool[], name: string, input: object): Promise<string | undefined> {
  const tool = tools.find((each) => each.name === name);
  if (!tool) throw new Error(`There is no tool ${name}.`);
  const approve = async () => "once" as const;
  try {
    const signal = new AbortController().signal;
    await tool.execute(tool.parameters.parse(input), { toolCallId: "call_1", signal, approve });
    return undefined;
  } catch (error) {
    return `${name}: ${error instanceof Error ? error.message : String(error)}`;
  }
}
