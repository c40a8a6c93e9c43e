import { findRipgrep, resolveExecutable } from "@diligent/core/interactive";
import type { CliIo } from "../../cli-io.ts";
import { describeError } from "../../describe-error.ts";
import { type Check, ok, problem, warning } from "./check.ts";
import { isExecutable } from "./check-program.ts";

const TIMEOUT_MS = 3_000;

/** Where the programs are looked for. */
export interface ToolPlace extends Pick<CliIo, "environment"> {
  /** The project: what it brings is not run. */
  root: string;
}

/** The programs that the tools run. */
export async function checkTools({ environment, root }: ToolPlace): Promise<Check[]> {
  const search = { environment, outside: root };
  const bash = resolveExecutable("bash", search);
  const git = resolveExecutable("git", search);
  return [
    await checkRipgrep(search),
    bash === undefined ? problem("bash", "there is none in PATH") : ok("bash", bash),
    git === undefined ? warning("git", "there is none in PATH") : ok("git", git),
  ];
}

/** To be found, the ripgrep inside an executable would be unpacked: nothing is written here. */
async function checkRipgrep(search: { environment: CliIo["environment"]; outside: string }): Promise<Check> {
  if (isExecutable()) return ok("ripgrep", "inside this program; unpacked at the first search");
  const ripgrep = await findRipgrep(search).catch(() => undefined);
  return ripgrep === undefined
    ? warning("ripgrep", "there is none: searching works with bash only", "install ripgrep")
    : checkRun("ripgrep", [ripgrep, "--version"]);
}

/** Runs a program with nothing to read and nothing to say to it. */
function checkRun(name: string, command: readonly [string, ...string[]]): Check {
  try {
    const run = Bun.spawnSync([...command], { env: {}, stdin: "ignore", timeout: TIMEOUT_MS, cwd: "/" });
    const [first = ""] = run.stdout.toString().split("\n", 1);
    if (run.success) return ok(name, [command[0], first].filter((part) => part !== "").join(": "));
    const reason = run.stderr.toString().trim() || `exit code ${run.exitCode}`;
    return warning(name, `${command[0]} does not work: ${reason}`);
  } catch (error) {
    return warning(name, `${command[0]} does not start: ${describeError(error)}`);
  }
}
