import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createTools, FileTracker, type Tool } from "@diligent/core/run";
import { readSessionFile } from "@diligent/core/sessions";
import { findLost, isFinished } from "../../kill.ts";
import { checkChildren, checkNextRequest } from "../aftermath.ts";
import { prepareRandomRuns, savedSessions, startRandomRun, toPrintedLines } from "../disturbed-run.ts";
import { between, type FaultTrial, pick, type TrialStage } from "../trial.ts";

/**
 * A session file damaged by a bad disk, an editor or a sync program. It opens, and nothing in it is
 * rewritten.
 */
export const DAMAGED_FILE: FaultTrial = {
  name: "damaged-file",
  subject: "program",
  about: "random damage to a session file: cut, zeroed, overwritten, lines lost, duplicated or swapped",
  async run(stage) {
    const { place, random, check } = stage;
    prepareRandomRuns(stage);
    await startRandomRun(stage, ["--max-turns", "4"]).ended;
    const [sessionId] = savedSessions(stage);
    if (sessionId === undefined) throw new Error("The run has saved nothing.");
    const path = join(place.project, ".diligent", "sessions", `${sessionId}.jsonl`);
    const damaged = damage(readFileSync(path), random);
    writeFileSync(path, damaged);
    check(
      "opens",
      failureOf(() => readSessionFile(path)),
    );
    await checkNextRequest(stage, sessionId);
    const isKept = readFileSync(path).subarray(0, damaged.length).equals(damaged);
    check("exact", isKept ? undefined : "the content of the file was rewritten");
  },
};

/** The first line stays: a file without it is not a session, which is another case. */
function damage(whole: Buffer, random: () => number): Buffer {
  const first = whole.indexOf("\n") + 1;
  const at = between(random, first, whole.length);
  switch (pick(random, ["cut", "zeros", "bytes", "lost", "doubled", "swapped"])) {
    case "cut":
      return whole.subarray(0, at);
    case "zeros":
      return Buffer.concat([whole.subarray(0, at), Buffer.alloc(between(random, 1, 5_000))]);
    case "bytes": {
      const bytes = Buffer.from(whole);
      for (let count = between(random, 1, 20); count > 0; count--) {
        bytes[between(random, first, bytes.length - 1)] = between(random, 0, 255);
      }
      return bytes;
    }
    default:
      return mixLines(whole, random);
  }
}

function mixLines(whole: Buffer, random: () => number): Buffer {
  const [header = "", ...lines] = whole.toString("utf8").split("\n").slice(0, -1);
  const at = between(random, 0, lines.length - 1);
  const chosen = lines[at] ?? "";
  const mixed = pick(random, [
    lines.toSpliced(at, 1),
    lines.toSpliced(at, 0, chosen),
    [...lines.toSpliced(at, 1), chosen],
  ]);
  return Buffer.from([header, ...mixed].map((line) => `${line}\n`).join(""));
}

function failureOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return String(error);
  }
}

type Place = TrialStage["place"];

/**
 * Problems that exist before the run; the superuser may write in spite of modes, so those are tried as they
 * come.
 */
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

/** Directories that vanish during a run. */
const DURING_RUN: readonly [(place: Place) => string, ...((place: Place) => string)[]] = [
  ({ project }) => join(project, ".diligent"),
  ({ project }) => join(project, "src"),
  ({ home }) => home,
  ({ temporary }) => temporary,
];

const PLACES_LONGEST_RUN_MS = 300;
const LIMIT_MS = 20_000;

/**
 * Directories that cannot be written, are something else, or vanish. The run continues to its end and reports
 * the problem.
 */
export const PLACES: FaultTrial = {
  name: "places",
  subject: "program",
  about: "directories that are read-only, files, dangling links, or vanish during a run",
  async run(stage) {
    const { place, random, check } = stage;
    prepareRandomRuns(stage);
    const isBefore = random() < 0.5;
    if (isBefore) pick(random, BEFORE)(place);
    const run = startRandomRun(stage, ["--max-turns", "5"], { timeoutMs: LIMIT_MS });
    if (!isBefore) {
      await Promise.race([run.shown("\n"), run.ended]).catch(() => undefined);
      await Promise.race([Bun.sleep(random() * PLACES_LONGEST_RUN_MS), run.ended]);
      rmSync(pick(random, DURING_RUN)(place), { recursive: true, force: true });
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

/** Why no file system can be mounted here; undefined if one can. */
function findMountObstacle(): string | undefined {
  if (process.platform !== "linux") return "a tmpfs can only be mounted on Linux";
  return process.getuid?.() === 0 && Bun.which("mount") ? undefined : "only root can mount a tmpfs";
}

/** A separate file system over a directory, initially empty, until it is disposed of. */
class SmallDisk implements Disposable {
  constructor(
    private readonly directory: string,
    kilobytes: number,
  ) {
    mkdirSync(directory, { mode: 0o700, recursive: true });
    this.mount(["-t", "tmpfs", "-o", `mode=700,size=${kilobytes}k`, "tmpfs"]);
  }

  /** @param options for `mount`, such as `size=8m` or `ro`. */
  remount(options: string): void {
    this.mount(["-o", `remount,${options}`]);
  }

  [Symbol.dispose](): void {
    Bun.spawnSync(["umount", "-l", this.directory]);
  }

  private mount(options: readonly string[]): void {
    const { exitCode, stderr } = Bun.spawnSync(["mount", ...options, this.directory]);
    if (exitCode !== 0) throw new Error(`mount ${options.join(" ")}: ${stderr.toString()}`);
  }
}

/** The sessions' directory is a small separate file system, which is full before the run has ended. */
export const FULL_DISK: FaultTrial = {
  name: "full-disk",
  subject: "program",
  about: "a disk that becomes full during a turn (a tmpfs of 16 to 64 KiB)",
  obstacle: findMountObstacle,
  async run(stage) {
    const { place, random, check } = stage;
    prepareRandomRuns(stage);
    const directory = join(place.project, ".diligent");
    using disk = new SmallDisk(directory, between(random, 4, 16) * 4);
    const { stdout, stderr, exitCode } = await startRandomRun(stage, ["--max-turns", "30"]).ended;
    const isEnded = [0, 3].includes(exitCode) && toPrintedLines(stdout).at(-1)?.type === "result";
    check("patient", isEnded ? undefined : `exit code ${exitCode}: ${stderr.slice(0, 400)}`);
    const [sessionId] = savedSessions(stage);
    if (sessionId === undefined) return;
    const path = join(directory, "sessions", `${sessionId}.jsonl`);
    const before = readFileSync(path);
    // Space is free again: the file is unchanged, and the session continues.
    disk.remount("size=8m");
    await checkNextRequest(stage, sessionId);
    const isKept = readFileSync(path).subarray(0, before.length).equals(before);
    check("saved", isKept ? undefined : "earlier lines were damaged");
  },
};

const READ_ONLY_DISK_LONGEST_RUN_MS = 300;
const FROM_THE_BEGINNING = 0.3;
const FOR_GOOD = 0.5;
const KILOBYTES = 64;

/** The sessions' directory becomes read-only and empty at some moment, for good or for a while. */
export const READ_ONLY_DISK: FaultTrial = {
  name: "read-only-disk",
  subject: "program",
  about: "a disk that is read-only and empty, before or during a run, for good or for a while",
  obstacle: findMountObstacle,
  async run(stage) {
    const { place, random, check } = stage;
    prepareRandomRuns(stage);
    const directory = join(place.project, ".diligent");
    const waitMs = random() < FROM_THE_BEGINNING ? undefined : random() * READ_ONLY_DISK_LONGEST_RUN_MS;
    let disk = waitMs === undefined ? coverReadOnly(directory) : undefined;
    const run = startRandomRun(stage, ["--max-turns", "8"]);
    const pause = (durationMs: number) => Promise.race([Bun.sleep(durationMs), run.ended]);
    try {
      await Promise.race([run.shown("\n"), run.ended]).catch(() => undefined);
      await pause(waitMs ?? 0);
      disk ??= coverReadOnly(directory);
      if (random() < FOR_GOOD) await run.ended;
      else await pause(random() * READ_ONLY_DISK_LONGEST_RUN_MS);
    } finally {
      disk?.[Symbol.dispose]();
    }
    const { stdout, stderr, exitCode } = await run.ended;
    const printed = toPrintedLines(stdout);
    const isEnded = [0, 3].includes(exitCode) && printed.at(-1)?.type === "result";
    check("patient", isEnded ? undefined : `exit code ${exitCode}: ${stderr.slice(0, 400)}`);
    const isReported = printed.some(({ code }) => code === "not_saved");
    const [sessionId] = savedSessions(stage);
    const path = join(directory, "sessions", `${sessionId}.jsonl`);
    const entries = existsSync(path) ? readSessionFile(path).entries : [];
    const lost = isReported ? [] : findLost(printed.filter(isFinished), entries);
    check(
      "saved",
      lost.length === 0 ? undefined : `lost without a message: ${lost.join("; ").slice(0, 400)}`,
    );
    if (sessionId === undefined) return;
    const before = readFileSync(path);
    await checkNextRequest(stage, sessionId);
    const isKept = readFileSync(path).subarray(0, before.length).equals(before);
    check("saved", isKept ? undefined : "earlier lines were damaged");
  },
};

function coverReadOnly(directory: string): SmallDisk {
  const disk = new SmallDisk(directory, KILOBYTES);
  disk.remount("ro");
  return disk;
}

const LINE_ENDS = ["\n", "\n", "\r\n", "\r"] as const;
const WORDS = [
  "const",
  "$&",
  "$1",
  "grüße",
  "日本語",
  "🎉",
  "\t",
  "  ",
  "'",
  "`",
  "\\",
  "end",
  "\u00a0",
  "e\u0301",
] as const;
const MODES = [0o644, 0o600, 0o755, 0o664] as const;
const EDITS_A_TRIAL = 10;

/**
 * Files with byte order marks, mixed line ends and modes; bytes that an edit does not name stay unchanged.
 */
export const EDITS_TRIAL: FaultTrial = {
  name: "edits",
  subject: "library",
  about: "edits in files with byte order marks, mixed line ends, replacement patterns and modes",
  async run(stage) {
    for (let count = 0; count < EDITS_A_TRIAL; count++) await editOnce(stage, count);
  },
};

async function editOnce({ place, random, check }: TrialStage, count: number): Promise<void> {
  const path = join(place.project, `file-${count}.txt`);
  const [before, after] = [createText(random), createText(random)];
  const mark = random() < 0.3 ? "\uFEFF" : "";
  const [old, fresh] = [`<<${count}>>`, `[${createText(random).replace(/[\r\n]/g, "")}]`];
  writeFileSync(path, `${mark}${before}${old}${after}`);
  const mode = pick(random, MODES);
  chmodSync(path, mode);
  const tools = createTools({
    cwd: place.project,
    root: place.project,
    files: new FileTracker(),
    outputDirectory: () => place.temporary,
    environment: { PATH: process.env.PATH, HOME: place.home },
    sessionId: "20260225103000-abcdef",
  });
  await call(tools, "read", { file_path: path });
  const result = await call(tools, "edit", { file_path: path, old_string: old, new_string: fresh });
  const isExact = readFileSync(path, "utf8") === `${mark}${before}${fresh}${after}`;
  check("exact", isExact ? undefined : `${JSON.stringify({ before, old, after, fresh })}: ${result}`);
  check("exact", (statSync(path).mode & 0o777) === mode ? undefined : `the mode was ${mode.toString(8)}`);
}

async function call(tools: readonly Tool[], name: string, input: object): Promise<string> {
  const tool = tools.find((each) => each.name === name);
  if (!tool) throw new Error(`There is no tool ${name}.`);
  const context = {
    toolCallId: "call_1",
    signal: AbortSignal.timeout(10_000),
    approve: async () => "once" as const,
  };
  const { output } = await tool.execute(tool.parameters.parse(input), context);
  return output;
}

function createText(random: () => number): string {
  return Array.from(
    { length: between(random, 0, 12) },
    () => `${pick(random, WORDS)} ${pick(random, WORDS)}${random() < 0.6 ? pick(random, LINE_ENDS) : ""}`,
  ).join("");
}
