import { certificateProblem } from "../../certificate-files.ts";
import type { CliIo } from "../../cli-io.ts";
import { type ModelProvider, placeOf } from "../models-table.ts";
import { type Check, ok, problem, skipped, warning } from "./check.ts";

// A provider answers within one; more is a network nobody can work with.
const TIMEOUT_MS = 5_000;

const SERVER_FAULT = 500;
// A server that does not know what HEAD is says so, and works.
const NOT_IMPLEMENTED = 501;

/** Where a provider is reached when nothing else is configured, as its SDK has it. */
const USUAL_PLACES: Readonly<Record<string, string>> = {
  anthropic: "https://api.anthropic.com",
  openai: "https://api.openai.com/v1",
};

/**
 * Asks whether somebody answers where the model's provider is: one request without content and without key. Any answer says
 * that the way there is open, which is all that it can say without a key; one that speaks of a fault of the server's own is
 * a warning.
 */
export async function checkEndpoint(
  { name, baseUrl }: ModelProvider,
  { isOffline, environment }: { isOffline: boolean; environment: CliIo["environment"] },
): Promise<Check> {
  const certificates = certificateProblem(environment);
  if (certificates !== undefined) return problem("endpoint", certificates);
  const url = baseUrl ?? USUAL_PLACES[name];
  if (url === undefined) return skipped("endpoint", `no address of ${name} is known`);
  const place = placeOf(url);
  if (isOffline) return skipped("endpoint", `${place} was not asked`);
  const startedAt = performance.now();
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const { status } = await fetch(place, { method: "HEAD", redirect: "manual", signal });
    const facts = `${place} answered ${status} after ${Math.round(performance.now() - startedAt)} ms`;
    return status >= SERVER_FAULT && status !== NOT_IMPLEMENTED
      ? warning(
          "endpoint",
          facts,
          "the service itself has a fault now, or what stands before it: try again later",
        )
      : ok("endpoint", facts);
  } catch (error) {
    return problem(
      "endpoint",
      `${place} does not answer: ${describe(error)}`,
      "look at the network and at HTTPS_PROXY",
    );
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return `silent for ${TIMEOUT_MS / 1_000} s`;
  return error.message;
}
