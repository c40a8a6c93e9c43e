import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTools, FileTracker, type Tool } from "@diligent/core/run";
import { between, pick } from "../chance.ts";
import type { FaultTrial, TrialStage } from "../trial.ts";

const LINE_ENDS = ["\n", "\n", "\r\n", "\r"] as const;
const WORDS = [
  "const",
  "$&",
  "$1",
  "grüße",
  "日本語",
  "🎉",
  "\t",
  "  ",
  "'",
  "`",
  "\\",
  "end",
  "\u00a0",
  "e\u0301",
] as const;
const MODES = [0o644, 0o600, 0o755, 0o664] as const;
const EDITS_A_TRIAL = 10;

/** Files with marks, mixed line ends and modes; what an edit does not name stays as it was, byte for byte. */
export const EDITS: FaultTrial = {
  name: "edits",
  about: "edits in files with byte order marks, mixed line ends, patterns of replacement and modes",
  async run(stage) {
    for (let count = 0; count < EDITS_A_TRIAL; count++) await editOnce(stage, count);
  },
};

async function editOnce({ place, random, check }: TrialStage, count: number): Promise<void> {
  const path = join(place.project, `file-${count}.txt`);
  const [before, after] = [createText(random), createText(random)];
  const mark = random() < 0.3 ? "\uFEFF" : "";
  const [old, fresh] = [`<<${count}>>`, `[${createText(random).replace(/[\r\n]/g, "")}]`];
  writeFileSync(path, `${mark}${before}${old}${after}`);
  const mode = pick(random, MODES);
  chmodSync(path, mode);
  const tools = createTools({
    cwd: place.project,
    root: place.project,
    files: new FileTracker(),
    outputDirectory: () => place.temporary,
    environment: { PATH: process.env.PATH, HOME: place.home },
    sessionId: "20260225103000-abcdef",
  });
  await call(tools, "read", { file_path: path });
  const result = await call(tools, "edit", { file_path: path, old_string: old, new_string: fresh });
  const isExact = readFileSync(path, "utf8") === `${mark}${before}${fresh}${after}`;
  check("exact", isExact ? undefined : `${JSON.stringify({ before, old, after, fresh })}: ${result}`);
  check("exact", (statSync(path).mode & 0o777) === mode ? undefined : `the mode was ${mode.toString(8)}`);
}

async function call(tools: readonly Tool[], name: string, input: object): Promise<string> {
  const tool = tools.find((each) => each.name === name);
  if (!tool) throw new Error(`There is no tool ${name}.`);
  const context = {
    toolCallId: "call_1",
    signal: AbortSignal.timeout(10_000),
    approve: async () => "once" as const,
  };
  const { output } = await tool.execute(tool.parameters.parse(input), context);
  return output;
}

function createText(random: () => number): string {
  return Array.from(
    { length: between(random, 0, 12) },
    () => `${pick(random, WORDS)} ${pick(random, WORDS)}${random() < 0.6 ? pick(random, LINE_ENDS) : ""}`,
  ).join("");
}
