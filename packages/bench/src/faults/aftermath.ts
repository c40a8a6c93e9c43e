import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { readSessionFile } from "@diligent/core/sessions";
import { bareEnvironment, PROGRAM } from "../../../cli/test/support/run-diligent.ts";
import { findInvalidRequest, findLost, isFinished, type PrintedLine } from "../kill.ts";
import { savedSessions } from "./disturbed-run.ts";
import { pick, type TrialStage } from "./trial.ts";

/**
 * The state after a run: the file contains everything that was shown, and a service would accept the next
 * request.
 */
export async function checkSession(stage: TrialStage, printed: readonly PrintedLine[]): Promise<void> {
  const id = sessionIdOf(printed);
  if (id === undefined) return;
  const { place, check } = stage;
  const path = join(place.project, ".diligent", "sessions", `${id}.jsonl`);
  const isShown = printed.some(isFinished);
  if (!existsSync(path)) {
    check("saved", isShown ? `there is no file for session ${id}` : undefined);
    return;
  }
  const lost = findLost(printed, readSessionFile(path).entries);
  check("saved", lost.length === 0 ? undefined : `lost from ${id}: ${lost.join("; ")}`);
  for (const refusal of printed.flatMap(refusalOf)) check("opens", refusal);
  await checkNextRequest(stage, id);
}

/** Continues the session on a service that checks its requests; by default the newest session. */
export async function checkNextRequest(
  { place, random, check }: TrialStage,
  sessionId = savedSessions({ place }).at(-1),
): Promise<void> {
  if (sessionId === undefined) return;
  const service = pick(random, ["anthropic", "openai"]);
  const environment = bareEnvironment(place);
  const run = { cwd: place.project, environment, program: PROGRAM, sessionId, service };
  const [problem] = await findInvalidRequest(run);
  check("opens", problem && `the next request of ${sessionId} to ${service}: ${problem}`);
}

/** The refusal of a request by the scripted provider, which is as strict as the services. */
function refusalOf({ type, error }: PrintedLine): string[] {
  const text = JSON.stringify(error ?? "");
  return type === "error" && text.includes("refuses this request") ? [text] : [];
}

function sessionIdOf([first]: readonly PrintedLine[]): string | undefined {
  return typeof first?.sessionId === "string" ? first.sessionId : undefined;
}

/** How long processes started by a program may outlive it. */
const PATIENCE_MS = 2_000;

/**
 * Two seconds after the program has ended, no process may still run in the directory or have it in its
 * environment.
 */
export async function checkChildren({ place, check }: Pick<TrialStage, "place" | "check">): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  let left = findProcesses(place.top);
  while (left.length > 0 && performance.now() < deadline) {
    await Bun.sleep(20);
    left = findProcesses(place.top);
  }
  check("traceless", left.length === 0 ? undefined : `still running: ${left.join(", ")}`);
}

/** The command lines of processes whose working directory or environment names a directory. */
function findProcesses(directory: string): string[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name) || name === String(process.pid)) return [];
    try {
      const mentions = (file: string) => readFileSync(`/proc/${name}/${file}`, "latin1");
      const isThere =
        readlinkSync(`/proc/${name}/cwd`).startsWith(directory) || mentions("environ").includes(directory);
      return isThere && !/ Z \d/.test(mentions("stat"))
        ? [mentions("cmdline").replaceAll("\0", " ").trim()]
        : [];
    } catch {
      return []; // It has just ended, or belongs to another user.
    }
  });
}

/** Call it after a program that was asked to end: its session's temporary directory must be gone. */
export function checkTemporary({ place, check }: Pick<TrialStage, "place" | "check">): void {
  const left = readdirSync(place.temporary).filter((name) => name.startsWith("diligent-session-"));
  check("traceless", left.length === 0 ? undefined : `left in the temporary directory: ${left.join(", ")}`);
}
