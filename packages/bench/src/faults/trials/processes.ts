import { PROGRAM, type RunningDiligent, startDiligent } from "../../../../cli/test/support/run-diligent.ts";
import { between, pick } from "../chance.ts";
import { checkChildren } from "../children-left.ts";
import { checkSession } from "../look-after.ts";
import { toPrintedLines } from "../random-run.ts";
import type { FaultTrial } from "../trial.ts";

/** Commands whose processes go wrong in every way in which a process can. */
const FAULTS = [
  "kill -SEGV $$",
  "kill -9 $$",
  "kill -STOP $$",
  "ulimit -v 20000; exec head -c 1000000000 /dev/zero | tail -n 1",
  "exec /no/such/program",
  "ulimit -n 3; cat /etc/hostname",
  "trap '' TERM INT HUP; while :; do sleep 0.1; done",
  "setsid sleep 60 & setsid sleep 60 & echo left",
  "(trap '' TERM; sleep 60) & disown; exit 3",
  "exec >&- 2>&-; sleep 0.2",
  "for n in 1 2 3 4 5 6 7 8; do (sleep 60 &) ; done; wait",
  'printf x > /dev/full; cd /; rm -rf "$PWD/no-such-file"',
] as const;
const MOST_CALLS = 3;
/** Less than a command that hangs would wait. */
const COMMAND_LIMIT_MS = 300;
/** Files the program itself may have open: enough for it, nothing to spare. */
const FEW_FILES = 48;
const LIMIT_MS = 20_000;

/** Processes that crash, stop, hang, fork or run out of something, and the program itself with few files, or suspended. */
export const PROCESSES: FaultTrial = {
  name: "processes",
  about: "commands that crash, stop, hang, flee or starve; few open files; the program suspended in mid-run",
  async run(stage) {
    const { place, random, check } = stage;
    const turns = Array.from({ length: between(random, 1, MOST_CALLS) }, (_, index) => ({
      toolCalls: Array.from({ length: between(random, 1, 2) }, (_, number) => ({
        name: "bash",
        input: { command: `: ${index}.${number}; ${pick(random, FAULTS)}`, timeout: COMMAND_LIMIT_MS },
      })),
    }));
    place.write("script.json", { version: 1, turns: [...turns, { text: "Done." }] });
    const options = ["-m", "scripted/script.json", "--approval", "auto", "--output-format", "stream-json"];
    const files = random() < 0.4 ? `ulimit -n ${FEW_FILES}; ` : "";
    const run = startDiligent(place, ["-p", ...options, "Go."], {
      program: ["bash", "-c", `${files}exec "$0" "$@"`, PROGRAM],
      timeoutMs: LIMIT_MS,
    });
    if (random() < 0.4) await suspendBriefly(run, random);
    const { stdout, stderr, exitCode } = await run.ended;
    const printed = toPrintedLines(stdout);
    const isEnded = exitCode === 0 && printed.at(-1)?.result === "Done.";
    check(
      "patient",
      isEnded ? undefined : `exit code ${exitCode}: ${stdout.slice(-300)} ${stderr.slice(0, 300)}`,
    );
    await checkSession(stage, printed);
    await checkChildren(stage);
  },
};

/** As a laptop that is closed for a moment does it. */
async function suspendBriefly(run: RunningDiligent, random: () => number): Promise<void> {
  await Promise.race([run.shown("\n"), run.ended]).catch(() => undefined);
  await Promise.race([Bun.sleep(random() * COMMAND_LIMIT_MS), run.ended]);
  run.process.kill("SIGSTOP");
  await Bun.sleep(COMMAND_LIMIT_MS);
  run.process.kill("SIGCONT");
}
