import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startInPty } from "../../../../cli/test/support/pty-program.ts";
import { pick } from "../chance.ts";
import { checkChildren } from "../children-left.ts";
import { checkNextRequest } from "../look-after.ts";
import { savedSessions } from "../random-run.ts";
import type { FaultTrial, TrialStage } from "../trial.ts";

const PROMPT = "Do what is needed, right now.";
/** The model thinks for longer than any trial takes. */
const NEVER_MS = 600_000;
const LONGEST_WAIT_MS = 60;

/** The screen goes right behind Enter: of what was asked nothing is lost, whatever way it went. */
export const ENTER: FaultTrial = {
  name: "enter",
  about: "the screen is killed, signalled or closed right behind Enter, before any reply",
  async run(stage) {
    const { place, random, check } = stage;
    place.write("script.json", { version: 1, turns: [{ delayMs: NEVER_MS, text: "never" }] });
    await using program = startInPty(place, ["--model", "scripted/script.json"]);
    await program.waitFor("% context");
    program.send(PROMPT);
    await program.waitFor(PROMPT);
    program.send("\r");
    // The key is taken in its turn, as the user sees then.
    await program.waitFor("Esc to stop");
    await Bun.sleep(random() * LONGEST_WAIT_MS);
    const end = pick(random, ["SIGKILL", "SIGTERM", "SIGHUP", "close"]);
    if (end === "close") program.process.terminal?.close();
    else program.process.kill(end);
    await program.exitCode;
    const isKilled = end === "SIGKILL";
    check("saved", hasPrompt(stage, { isKilled }) ? undefined : `the prompt is lost after ${end}`);
    await checkNextRequest(stage);
    await checkChildren(stage);
  },
};

/** In the session's file, or, after what no program can answer, in the input history at least. */
function hasPrompt({ place }: TrialStage, { isKilled }: { isKilled: boolean }): boolean {
  const sessions = savedSessions({ place }).map((id) =>
    join(place.project, ".diligent", "sessions", `${id}.jsonl`),
  );
  const history = join(place.home, ".local", "state", "diligent", "history.jsonl");
  const places = isKilled ? [...sessions, history] : sessions;
  return places.some((path) => existsSync(path) && readFileSync(path, "utf8").includes(PROMPT));
}
