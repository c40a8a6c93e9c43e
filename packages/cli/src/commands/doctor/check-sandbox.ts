import { probeSandbox } from "@diligent/core/interactive";
import { type LoadedConfig, SessionTempDir } from "@diligent/core/run";
import type { CliIo } from "../../cli-io.ts";
import { type Check, ok, problem, skipped, warning } from "./check.ts";

/** Where the box is tried. */
export interface SandboxPlace extends Pick<CliIo, "environment" | "platform"> {
  /** The project, absolute and real. */
  root: string;
}

type SandboxConfig = Pick<LoadedConfig["config"], "sandbox" | "sandboxWritable">;

const WITHOUT = "commands are asked about instead";

/** Whether commands can be kept in a box here: one is made as a session makes it, and a command runs in it. */
export async function checkSandbox(
  { sandbox = "auto", sandboxWritable: writable }: SandboxConfig,
  { environment, platform, root }: SandboxPlace,
): Promise<Check> {
  if (sandbox === "off") return skipped("sandbox", `the setting "sandbox" is "off": ${WITHOUT}`);
  const temporary = new SessionTempDir();
  try {
    const directory = () => temporary.path();
    const probe = await probeSandbox({ environment, root, platform, writable, directory });
    if (!("problem" in probe)) return ok("sandbox", `${probe.path} works`);
    if (sandbox === "required") {
      return problem("sandbox", `no command will run: it is "required", and ${probe.problem}`, probe.remedy);
    }
    return warning("sandbox", `${probe.problem}: ${WITHOUT}`, probe.remedy);
  } finally {
    temporary.remove();
  }
}
