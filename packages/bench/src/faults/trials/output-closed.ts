import { bareEnvironment, PROGRAM } from "../../../../cli/test/support/run-diligent.ts";
import { between } from "../chance.ts";
import { checkChildren } from "../children-left.ts";
import { checkNextRequest } from "../look-after.ts";
import { prepareRandomRuns } from "../random-run.ts";
import type { FaultTrial } from "../trial.ts";

/** Whoever reads the output goes away: quiet, exit code 0, the session complete. */
export const OUTPUT_CLOSED: FaultTrial = {
  name: "output-closed",
  about: "`| head -n N`: stdout is closed after a few lines",
  async run(stage) {
    const { place, random, check } = stage;
    prepareRandomRuns(stage);
    const run = `"$0" -p --approval auto -m scripted/script.json --output-format stream-json --max-turns 4 "Go."`;
    const script = `${run} | head -n ${between(random, 0, 12)} > /dev/null; echo "code \${PIPESTATUS[0]}"`;
    const child = Bun.spawn(["bash", "-c", script, PROGRAM], {
      cwd: place.project,
      env: bareEnvironment(place),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: 20_000,
      killSignal: "SIGKILL",
    });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    // Where it had ended by itself before, the limit is what it says.
    const isQuiet = /^code (0|3)\n$/.test(stdout) && !/EPIPE|\n\s+at /.test(stderr);
    check("patient", isQuiet ? undefined : `${stdout.trim()}: ${stderr.slice(0, 400)}`);
    await checkNextRequest(stage);
    await checkChildren(stage);
  },
};
