import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { decideApproval } from "../../src/approval/policy.ts";
import { executeToolCall } from "../../src/tool/execute.ts";
import { createToolRegistry } from "../../src/tool/registry.ts";
import type { Tool } from "../../src/tool/types.ts";
import { createTools } from "../../src/tools/index.ts";
import { createToolWorkspace } from "../support/tool-workspace.ts";

// Enough for each of the moments between looking and opening to be hit many times over where it is open.
const ATTEMPTS = 200;
const MAX_MS = 2_000;

const NONCE = "outside-5f0c1d";

let swapper: Bun.Subprocess<"ignore", "pipe", "inherit"> | undefined;

// Before the directories are removed, which is what making them sees to.
afterAll(async () => {
  swapper?.kill("SIGKILL");
  await swapper?.exited;
});

const workspace = createToolWorkspace();
const { root } = workspace;
const inside = join(root, "sub");
const outside = join(root, "..", "elsewhere");
const tools = createTools(workspace);

beforeAll(async () => {
  for (const [directory, text] of [
    [inside, "within"],
    [outside, NONCE],
  ] as const) {
    mkdirSync(join(directory, "deep"), { recursive: true });
    writeFileSync(join(directory, "deep", "file.txt"), `${text}\n`);
    writeFileSync(join(directory, `${text}.txt`), `${text}\n`);
    writeFileSync(join(directory, "twin.txt"), "the same\n");
  }
  await call("read", { file_path: "sub/twin.txt" });
  const script = join(import.meta.dir, "..", "support", "swap-directory.ts");
  symlinkSync(outside, join(root, "link"));
  swapper = Bun.spawn([process.execPath, script, inside, join(root, "link")], {
    stdin: "ignore",
    stdout: "pipe",
  });
  await swapper.stdout.getReader().read();
});

/** As a run does it in print mode: what would have to be asked is refused. */
async function call(name: string, input: Record<string, unknown>): Promise<{ output: string; ran: boolean }> {
  const { message, rejection } = await executeToolCall(
    { type: "tool_call", id: "call_1", name, input },
    createToolRegistry(tools as Tool[]),
    {
      signal: new AbortController().signal,
      decide: async (request) => {
        const { action, withholds } = await decideApproval(request, { root, cwd: root });
        return action === "allow" ? { response: "once", withholds } : { response: "reject" };
      },
    },
  );
  return { output: message.output, ran: !rejection && !message.isError };
}

/** Names, contents and times: a file that was only there for a moment changes the time of its directory. */
function look(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .concat(".")
    .sort()
    .map((name) => {
      const stats = lstatSync(join(directory, name), { bigint: true });
      const content = stats.isFile() ? readFileSync(join(directory, name), "utf8") : "";
      return `${name} ${stats.mtimeNs} ${stats.ino} ${content}`;
    });
}

interface Ends {
  ran: number;
  refused: number;
}

const metBoth = ({ ran, refused }: Ends) => ran > 0 && refused > 0;

async function repeat(
  attempt: (round: number) => Promise<{ output: string; ran: boolean }>,
  isMet: (ends: Ends) => boolean,
) {
  const before = look(outside);
  const ends: Ends = { ran: 0, refused: 0 };
  const outputs: string[] = [];
  const startedAt = performance.now();
  const isEnough = (round: number) => round >= ATTEMPTS && isMet(ends);
  for (let round = 0; !isEnough(round) && performance.now() - startedAt < MAX_MS; round++) {
    const { output, ran } = await attempt(round);
    ends[ran ? "ran" : "refused"] += 1;
    outputs.push(output);
  }
  return { isUntouched: Bun.deepEquals(look(outside), before), ends, outputs };
}

const CALLS: Record<string, (round: number) => [string, Record<string, unknown>]> = {
  "a new file": (round) => ["write", { file_path: `sub/new-${round}.txt`, content: "x" }],
  "a new file in new directories": (round) => [
    "write",
    { file_path: `sub/made-${round}/below/new.txt`, content: "x" },
  ],
  "a new file deep in it": (round) => ["write", { file_path: `sub/deep/new-${round}.txt`, content: "x" }],
  "an edit of a file that is the same outside": (round) => [
    "edit",
    {
      file_path: "sub/twin.txt",
      old_string: "the same",
      new_string: `the same ${round}`.slice(0, 8) + round,
    },
  ],
  "reading a file": () => ["read", { file_path: "sub/deep/file.txt" }],
  "reading a file that is not there": () => ["read", { file_path: "sub/none.txt" }],
  "listing it": () => ["ls", { path: "sub" }],
  "finding files in it": () => ["glob", { pattern: "*.txt", path: "sub" }],
  "searching it": () => ["grep", { pattern: ".", path: "sub", output_mode: "content" }],
  "finding files above it": () => ["glob", { pattern: "**/*.txt" }],
  "searching above it": () => ["grep", { pattern: ".", output_mode: "content" }],
  "searching a file": () => ["grep", { pattern: ".", path: "sub/deep/file.txt", output_mode: "content" }],
};

// Nothing is there to be read in the one, and the directory that is asked for in the other is never swapped.
const ALWAYS_THE_SAME = ["reading a file that is not there", "finding files above it", "searching above it"];

describe.skipIf(process.platform !== "linux")(
  "while another process replaces a directory of the path by a link out of the project",
  () => {
    for (const [name, toCall] of Object.entries(CALLS)) {
      test(`${name} changes nothing outside and reveals nothing of it`, async () => {
        const isMet = ALWAYS_THE_SAME.includes(name) ? () => true : metBoth;
        const { isUntouched, ends, outputs } = await repeat((round) => call(...toCall(round)), isMet);
        expect(outputs.filter((output) => output.includes(NONCE))).toEqual([]);
        expect(isUntouched).toBe(true);
        // Else the swapping would not have met the calls.
        expect(isMet(ends)).toBe(true);
      });
    }
  },
);
