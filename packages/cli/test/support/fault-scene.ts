import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SseServer } from "../../../core/test/support/sse-server.ts";
import { writeUserConfig } from "./compatible-service.ts";
import { runDiligent } from "./run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "./temporary-project.ts";
import { environmentFor, type VendorAnswer, type VendorService } from "./vendor-service.ts";

/** Long enough for a run on a busy machine. */
export const LIMIT_MS = 90_000;

// Long enough for an answer on a busy machine.
const IDLE_TIMEOUT_MS = 4_000;

/** A project, and the user's configuration for a service that fails. */
export interface Scene extends Disposable {
  place: TemporaryProject;
  /** The user's configuration from now on. */
  configure(settings: object): void;
  run(server: SseServer, ...args: string[]): ReturnType<typeof runDiligent>;
  /** The traces left by the calls, in order. */
  trace(): string;
}

/** @param settings the user's configuration. */
export function setScene(service: VendorService, settings: object = {}): Scene {
  const place = createTemporaryProject();
  const configure = (settings: object) => void writeUserConfig(place, settings);
  configure(settings);
  const log = join(place.project, "log");
  return {
    place,
    configure,
    run: (server, ...args) =>
      runDiligent(place, ["-p", "--approval", "auto", ...args], {
        environment: environmentFor(service, server.url),
        timeoutMs: LIMIT_MS,
      }),
    trace: () => (existsSync(log) ? readFileSync(log, "utf8") : ""),
    [Symbol.dispose]: () => place.remove(),
  };
}

/** The settings of a user with a short time limit for silent services. */
export function impatience({ name }: VendorService, idleTimeoutMs = IDLE_TIMEOUT_MS) {
  return { provider: { [name]: { idleTimeoutMs } } };
}

/** A call that leaves a trace each time it runs. */
function traceCall(number: number) {
  return { id: `call_${number}`, name: "bash", input: { command: `echo ${number} >> log` } };
}

/** An answer with two calls, so that a cut in the second one leaves the first one complete. */
export function step(number: number): VendorAnswer {
  const calls = [traceCall(2 * number - 1), traceCall(2 * number)];
  return { text: `This is step number ${number}.`, calls };
}

/** The traces of the first calls. */
export function countedTo(last: number): string {
  return Array.from({ length: last }, (_, index) => `${index + 1}\n`).join("");
}
