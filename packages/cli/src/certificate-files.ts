import { accessSync, constants, statSync } from "node:fs";
import type { Environment } from "@diligent/core/run";
import { UsageError } from "./usage-error.ts";

// Bun reads them itself, and passes over a file it cannot read.
const VARIABLES = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"] as const;

/**
 * Checks that the files with certificates that the environment names can be read: without them, every request would
 * fail, or trust other authorities than the user wants.
 *
 * @throws UsageError that names the variable and the file.
 */
export function checkCertificateFiles(environment: Environment): void {
  const problem = certificateProblem(environment);
  if (problem !== undefined) throw new UsageError(problem);
}

/** What is wrong with the files, in a line for the user; undefined where nothing is. */
export function certificateProblem(environment: Environment): string | undefined {
  for (const variable of VARIABLES) {
    const path = environment[variable];
    const problem = path ? findProblem(path) : undefined;
    if (problem !== undefined)
      return `${variable} names no file of certificates: ${path} ${problem}. Correct or unset it.`;
  }
  return undefined;
}

function findProblem(path: string): string | undefined {
  const status = statSync(path, { throwIfNoEntry: false });
  if (!status) return "does not exist";
  if (status.isDirectory()) return "is a directory";
  try {
    accessSync(path, constants.R_OK);
    return undefined;
  } catch {
    // Whatever the reason, it is not readable for us.
    return "cannot be read";
  }
}
