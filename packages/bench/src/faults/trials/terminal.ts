import { join } from "node:path";
import { readSessionFile } from "@diligent/core/sessions";
import { startInPty } from "../../../../cli/test/support/pty-program.ts";
import { checkChildren } from "../children-left.ts";
import { checkNextRequest } from "../look-after.ts";
import { prepareRandomRuns, savedSessions } from "../random-run.ts";
import { checkTemporary } from "../temporary-left.ts";
import type { FaultTrial } from "../trial.ts";

const PROMPT = "Do what is needed.";
const LONGEST_RUN_MS = 700;
const LIMIT_MS = 4_000;

/** The window is closed, or the connection lost, while the model works. */
export const TERMINAL: FaultTrial = {
  name: "terminal",
  about: "the terminal is closed at a random moment of an interactive run",
  async run(stage) {
    const { place, random, check } = stage;
    prepareRandomRuns(stage);
    await using program = startInPty(place, ["-m", "scripted/script.json", "--approval", "auto", PROMPT]);
    // A quick run, or a machine that looks seldom: the prompt may have left the screen before it is looked at.
    await program.waitUntil((_, terminal) => terminal.scrollback().some((row) => row.includes(PROMPT)));
    await Bun.sleep(random() * LONGEST_RUN_MS);
    const begin = performance.now();
    program.process.terminal?.close();
    await Promise.race([program.exitCode, Bun.sleep(LIMIT_MS)]);
    const tookMs = performance.now() - begin;
    check("patient", tookMs < LIMIT_MS ? undefined : "it runs on without a terminal");
    checkTemporary(stage);
    const [sessionId] = savedSessions(stage);
    check("saved", sessionId === undefined ? "nothing was saved" : lostPrompt(place.project, sessionId));
    await checkNextRequest(stage);
    await checkChildren(stage);
  },
};

function lostPrompt(project: string, sessionId: string): string | undefined {
  const { entries } = readSessionFile(join(project, ".diligent", "sessions", `${sessionId}.jsonl`));
  const isThere = entries.some((entry) => entry.type === "message" && entry.message.role === "user");
  return isThere ? undefined : `the prompt is not in ${sessionId}`;
}
