import { existsSync } from "node:fs";
import { join } from "node:path";
import { readSessionFile } from "@diligent/core/sessions";
import { bareEnvironment, PROGRAM } from "../../../cli/test/support/run-diligent.ts";
import { findLost, isFinished, type PrintedLine } from "../kill/find-lost.ts";
import { findInvalidRequest } from "../kill/next-request.ts";
import { pick } from "./chance.ts";
import { savedSessions } from "./random-run.ts";
import type { TrialStage } from "./trial.ts";

/** What a run has left: everything that it had shown is in its file, and a service would take the next request. */
export async function checkSession(stage: TrialStage, printed: readonly PrintedLine[]): Promise<void> {
  const id = sessionIdOf(printed);
  if (id === undefined) return;
  const { place, check } = stage;
  const path = join(place.project, ".diligent", "sessions", `${id}.jsonl`);
  const isShown = printed.some(isFinished);
  if (!existsSync(path)) {
    check("saved", isShown ? `there is no file of session ${id}` : undefined);
    return;
  }
  const lost = findLost(printed, readSessionFile(path).entries);
  check("saved", lost.length === 0 ? undefined : `lost from ${id}: ${lost.join("; ")}`);
  for (const refusal of printed.flatMap(refusalOf)) check("opens", refusal);
  await checkNextRequest(stage, id);
}

/** Goes on with the session on a service that checks what it is sent; with the newest one when none is named. */
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

/** What the scripted provider, which is as strict as the services, said against a request of the run itself. */
function refusalOf({ type, error }: PrintedLine): string[] {
  const text = JSON.stringify(error ?? "");
  return type === "error" && text.includes("refuses this request") ? [text] : [];
}

function sessionIdOf([first]: readonly PrintedLine[]): string | undefined {
  return typeof first?.sessionId === "string" ? first.sessionId : undefined;
}
