import { closeSync, openSync, statSync } from "node:fs";
import { systemErrorText } from "../system-error.ts";
import { registerEnding } from "./all-processes.ts";
import { hasUnreadBytes, type OutputPipe, openOutputPipe } from "./output-pipe.ts";
import {
  endTree,
  endTreeNow,
  isGroupAlive,
  isTreeAlive,
  type ProcessGroup,
  type ProcessTree,
} from "./tree.ts";

/** How a child is started; its stdin is empty. */
export interface ProcessOptions {
  /** The program as an absolute path, and its arguments. */
  argv: readonly string[];
  cwd: string;
  /** The whole environment of the child; a mark by which its descendants are found again is added. */
  environment: Readonly<Record<string, string>>;
  /** Where the pipe for the output comes from; without one, sockets take its place. */
  openPipe?: () => Promise<OutputPipe | undefined>;
  /** True for a program that stays while something it started runs, and reports the end of the foreground; see `EndReport`. */
  reportsEnd?: boolean;
  /** Files that it finds open for reading as its descriptors from 4 on. */
  inheritedFiles?: readonly string[];
}

/** Exactly one of both is set. */
export interface ProcessExit {
  exitCode: number | null;
  /** Such as `SIGKILL`. */
  signal: string | null;
}

/** A child that runs, with everything it has started. */
export interface ChildProcess {
  pid: number;
  /** Stdout and stderr: one stream in the order of writing, or two where no pipe could be had. Read them to the end. */
  outputs: readonly ReadableStream<Uint8Array>[];
  /** Whether there is unread output; false if that is unknown. */
  hasUnreadOutput(): boolean;
  /** Gives back what reading held open; called once the outputs are no longer read. */
  closeOutputs(): void;
  /** Resolves when the program, or the foreground that it reports about, has ended. */
  exited: Promise<ProcessExit>;
  /** Resolves when the program itself has ended. */
  gone: Promise<unknown>;
  /**
   * Ends the process and everything that descends from it: TERM, and KILL after a second. Resolves when all of it is gone,
   * or after two seconds with false when something could not be ended.
   */
  end(): Promise<boolean>;
  /** After `exited`: false for a program that reports what it does and has not begun with what it was given. */
  hasBegun(): boolean;
  /** After `exited`: true while something it started in the background still runs. `isClosed` is false where outputs have not ended. */
  hasSurvivors(isClosed?: boolean): boolean;
}

const MARK_VARIABLE = "DILIGENT_PROCESS";
const ownMark = `${process.pid}-${crypto.randomUUID()}`;

/** The groups that may still have members. */
const processRegistry = new Set<ProcessGroup>();
let started = 0;

/**
 * Starts a program in a session and process group of its own, so without a controlling terminal, with an empty stdin.
 * The caller must expect that descendants outlive it; they are ended by `end` or, at the latest, `endAllProcesses`.
 *
 * @throws when it cannot be started, in words for the model.
 */
export async function startProcess(options: ProcessOptions): Promise<ChildProcess> {
  const { argv, cwd, environment, openPipe = openOutputPipe } = options;
  const { mark, marked } = markEnvironment(environment);
  const pipe = await openPipe();
  const target = pipe?.writeEnd ?? "pipe";
  const report = options.reportsEnd ? await openPipe() : undefined;
  const inherited: number[] = [];
  try {
    for (const path of options.inheritedFiles ?? []) inherited.push(openSync(path, "r"));
    const child = Bun.spawn([...argv], {
      cwd,
      env: marked,
      stdio: ["ignore", target, target, report?.writeEnd ?? null, ...inherited],
      detached: true,
    });
    return toChildProcess(child, { mark, readEnd: pipe?.readEnd, report: report && readEndReport(report) });
  } catch (error) {
    for (const opened of [pipe, report]) if (opened) closeSync(opened.readEnd);
    throw new Error(startFailure(argv[0] ?? "", cwd, error));
  } finally {
    for (const opened of [pipe, report]) if (opened) closeSync(opened.writeEnd);
    for (const descriptor of inherited) closeSync(descriptor);
  }
}

/**
 * An environment whose bearers, and all that they start, `endAllProcesses` finds and ends. `mark` is in no other one.
 */
export function markEnvironment(environment: Readonly<Record<string, string>>) {
  if (started === 0) {
    registerEnding(() => endTree(everything));
    process.on("exit", endAllProcessesNow);
  }
  const mark = `/${ownMark}/${++started}/`;
  // A diligent inside a diligent keeps the outer mark, so that the outer one finds these children too.
  const marked = { ...environment, [MARK_VARIABLE]: (environment[MARK_VARIABLE] ?? "") + mark };
  return { mark, marked };
}

/** The last resort where nothing can be waited for any more: KILL. Runs by itself when the process exits. */
function endAllProcessesNow(): void {
  if (started > 0) endTreeNow(everything);
}

/** Every group that was not seen empty, and every process that carries this process's mark. */
function everything(): ProcessTree {
  for (const group of processRegistry) if (!isGroupAlive(group)) processRegistry.delete(group);
  const groups = [...processRegistry];
  return { groups: groups.map(({ leader }) => leader), mark: `/${ownMark}/`, keepers: findKeepers(groups) };
}

function findKeepers(groups: readonly ProcessGroup[]): number[] {
  return groups.filter(({ isKeeper }) => isKeeper).map(({ leader }) => leader);
}

interface ChildDeps {
  mark: string;
  readEnd: number | undefined;
  report: Promise<EndReport> | undefined;
}

function toChildProcess(child: Bun.Subprocess, { mark, readEnd, report }: ChildDeps): ChildProcess {
  const group: ProcessGroup = { leader: child.pid, isKeeper: report !== undefined, leaderExited: false };
  const tree = () => ({
    groups: isGroupAlive(group) ? [group.leader] : [],
    mark,
    keepers: findKeepers([group]),
  });
  processRegistry.add(group);
  let reported: EndReport | undefined;
  const gone = child.exited.then((): ProcessExit => {
    group.leaderExited = true;
    if (!isGroupAlive(group)) processRegistry.delete(group);
    return { exitCode: child.exitCode, signal: child.signalCode === null ? null : String(child.signalCode) };
  });
  const foreground = report?.then((said): ProcessExit | Promise<ProcessExit> => {
    reported = said;
    return said.end ? { exitCode: said.end.exitCode, signal: null } : gone;
  });
  return {
    pid: child.pid,
    outputs: readEnd === undefined ? streamsOf(child) : [Bun.file(readEnd).stream()],
    hasUnreadOutput: () => readEnd !== undefined && hasUnreadBytes(readEnd),
    closeOutputs: () => {
      if (readEnd !== undefined) closeSync(readEnd);
    },
    exited: foreground ?? gone,
    gone,
    end: () => endTree(tree),
    hasBegun: () => report === undefined || reported?.hasBegun === true,
    hasSurvivors: (isClosed = true) =>
      reported?.end ? reported.end.runsOn : !isClosed || (isGroupAlive(group) && isTreeAlive(tree())),
  };
}

function streamsOf({ stdout, stderr }: Bun.Subprocess): ReadableStream<Uint8Array>[] {
  return [stdout, stderr].filter((output) => output instanceof ReadableStream);
}

function startFailure(program: string, cwd: string, error: unknown): string {
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
    return `The working directory ${cwd} no longer exists, so no command can run in it.`;
  }
  return `${program} could not be started: ${systemErrorText(error)}.`;
}

/**
 * What a program that stays for its background says on its descriptor 3: the line `begun` before it runs what it was
 * given, and when that has ended a line with its exit code, a space, and 1 where something runs on, else 0.
 */
interface EndReport {
  hasBegun: boolean;
  /** Undefined from a program that ended without. */
  end?: { exitCode: number; runsOn: boolean };
}

const BEGUN = "begun\n";
const REPORT = /^begun\n(\d{1,3}) ([01])\n/;
// What is longer is no report.
const MAX_CHARACTERS = 64;

/** The report, once it is whole or the program has ended. The opener of the pipe closes its write end. */
async function readEndReport({ readEnd }: Pick<OutputPipe, "readEnd">): Promise<EndReport> {
  const reader = Bun.file(readEnd).stream().pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    while (!REPORT.test(text) && text.length <= MAX_CHARACTERS) {
      const { done, value } = await reader.read();
      if (done) break;
      text += value;
    }
  } catch {
    // Then the end of the program itself counts.
  } finally {
    await reader.cancel().catch(() => undefined);
    closeSync(readEnd);
  }
  const [, exitCode, runsOn] = REPORT.exec(text) ?? [];
  const hasBegun = text.startsWith(BEGUN);
  return exitCode === undefined
    ? { hasBegun }
    : { hasBegun, end: { exitCode: Number(exitCode), runsOn: runsOn === "1" } };
}
