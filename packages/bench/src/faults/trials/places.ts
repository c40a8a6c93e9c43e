import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pick } from "../chance.ts";
import { checkChildren } from "../children-left.ts";
import { prepareRandomRuns, startRandomRun, toPrintedLines } from "../random-run.ts";
import type { FaultTrial, TrialStage } from "../trial.ts";

type Place = TrialStage["place"];

/** What is wrong before the run begins; a superuser may write in spite of modes, so that those are tried as they come. */
const BEFORE: readonly [(place: Place) => void, ...((place: Place) => void)[]] = [
  ({ project }) => writeFileSync(join(project, ".diligent"), "a file"),
  ({ project, top }) => symlinkSync(join(top, "nowhere"), join(project, ".diligent")),
  ({ project }) => {
    mkdirSync(join(project, ".diligent"), { mode: 0o500 });
    writeFileSync(join(project, ".diligent", "sessions"), "a file");
  },
  ({ project }) => chmodSync(project, 0o500),
  ({ home }) => chmodSync(home, 0o500),
  ({ home }) => rmSync(home, { recursive: true }),
  ({ temporary }) => rmSync(temporary, { recursive: true }),
];

/** What vanishes in mid-run. */
const MEANWHILE: readonly [(place: Place) => string, ...((place: Place) => string)[]] = [
  ({ project }) => join(project, ".diligent"),
  ({ project }) => join(project, "src"),
  ({ home }) => home,
  ({ temporary }) => temporary,
];

const LONGEST_RUN_MS = 300;
const LIMIT_MS = 20_000;

/** Directories that cannot be written, are something else, or vanish. The run goes on to its end and says what is wrong. */
export const PLACES: FaultTrial = {
  name: "places",
  about: "directories that are read-only, files, dangling links, or gone in mid-run",
  async run(stage) {
    const { place, random, check } = stage;
    prepareRandomRuns(stage);
    const isBefore = random() < 0.5;
    if (isBefore) pick(random, BEFORE)(place);
    const run = startRandomRun(stage, ["--max-turns", "5"], { timeoutMs: LIMIT_MS });
    if (!isBefore) {
      await Promise.race([run.shown("\n"), run.ended]).catch(() => undefined);
      await Promise.race([Bun.sleep(random() * LONGEST_RUN_MS), run.ended]);
      rmSync(pick(random, MEANWHILE)(place), { recursive: true, force: true });
    }
    const { stdout, stderr, exitCode } = await run.ended;
    const isEnded = [0, 3].includes(exitCode) && toPrintedLines(stdout).at(-1)?.type === "result";
    check("patient", isEnded ? undefined : `exit code ${exitCode}: ${stderr.slice(0, 400)}`);
    check(
      "patient",
      /\n\s+at .*:\d+:\d+/.test(stderr) ? `a stack trace: ${stderr.slice(0, 400)}` : undefined,
    );
    for (const directory of [place.project, place.home]) mkdirSync(directory, { recursive: true });
    for (const directory of [place.project, place.home]) chmodSync(directory, 0o700);
    await checkChildren(stage);
  },
};
