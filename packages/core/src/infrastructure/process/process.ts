import { closeSync, openSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { sleep } from "../runtime.ts";
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

// What was written before the end is in the pipe already and arrives with the next turns of the event loop; on a machine
// with much else to do they come late, so the pipe is asked, too.
const QUIET_MS = 20;
const SETTLE_LIMIT_MS = 300;

// A background child that is no longer listened to may write 64 KB (a full pipe) this often: plenty for a server's log,
// and too little to keep a core busy.
const IDLE_PAUSE_MS = 100;

// A pipe that is always full would be read for ever without a key press or a timer getting its turn.
const YIELD_BYTES = 512 * 1024;

/**
 * Reads what a process and its children write, until all of them have closed it. `release` ends the listening: what comes
 * later is read and dropped, so that a background child neither blocks on a full pipe nor dies of a closed one.
 */
export class OutputReader {
  private readonly finished: Promise<void>;
  private onChunk: ((chunk: Uint8Array) => void) | undefined;
  private chunks = 0;

  constructor(
    private readonly child: Pick<ChildProcess, "outputs" | "hasUnreadOutput" | "closeOutputs">,
    onChunk: (chunk: Uint8Array) => void,
  ) {
    this.onChunk = onChunk;
    this.finished = Promise.all(child.outputs.map((output) => this.read(output))).then(() =>
      child.closeOutputs(),
    );
  }

  /**
   * Resolves with true at the end of the output or, while a background child holds it open, with false when nothing more
   * arrives.
   */
  async settle(): Promise<boolean> {
    const ended = this.finished.then(() => true);
    for (let waitedMs = 0; waitedMs < SETTLE_LIMIT_MS; waitedMs += QUIET_MS) {
      const before = this.chunks;
      if (await Promise.race([ended, sleep(QUIET_MS).then(() => false)])) return true;
      if (this.chunks === before && !this.child.hasUnreadOutput()) break;
    }
    return false;
  }

  release(): void {
    this.onChunk = undefined;
  }

  private async read(output: ReadableStream<Uint8Array>): Promise<void> {
    const reader = output.getReader();
    let unyielded = 0;
    for (;;) {
      // A pipe that cannot be read any more is at its end for us.
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (done || value === undefined) return;
      this.chunks++;
      if (!this.onChunk) {
        await sleep(IDLE_PAUSE_MS);
        continue;
      }
      this.onChunk(value);
      unyielded += value.length;
      if (unyielded < YIELD_BYTES) continue;
      unyielded = 0;
      await nextTurn();
    }
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
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

// More than this is no output that somebody reads: it would only fill the disk.
const MAX_SPOOL_BYTES = 100 * 1024 * 1024;

/** A new private file (0600) that takes an output too long to show, up to 100 MB; what comes after that is dropped. */
export class SpoolFile {
  private written = 0;
  private file: number | undefined;
  /** What kept it from being written to the end, in words. */
  failure: string | undefined;

  private constructor(
    readonly path: string,
    private readonly maxBytes: number,
  ) {
    this.file = openSync(path, "wx", 0o600);
  }

  /** @param name is made safe as a file name. Returns undefined when no file can be made there. */
  static create(directory: string, name: string, maxBytes: number = MAX_SPOOL_BYTES): SpoolFile | undefined {
    const safe = name.replace(/[^\w-]/g, "_").slice(0, 60);
    try {
      return new SpoolFile(join(directory, `${safe}-${crypto.randomUUID().slice(0, 8)}.txt`), maxBytes);
    } catch {
      // The output is then only cut, which its note says by naming no file.
      return undefined;
    }
  }

  write(chunk: Uint8Array): void {
    if (this.file === undefined) return;
    try {
      const part = chunk.subarray(0, this.maxBytes - this.written);
      this.written += writeSync(this.file, part);
      if (part.length < chunk.length)
        this.stop(`only its first ${Math.floor(this.maxBytes / 1024 / 1024)} MB`);
    } catch (error) {
      this.stop(`not all of it, ${systemErrorText(error)}`);
    }
  }

  close(): void {
    if (this.file !== undefined) closeSync(this.file);
    this.file = undefined;
  }

  private stop(failure: string): void {
    this.failure = failure;
    this.close();
  }
}

/** A command for a shell, as it would be started without a box. */
export interface ShellCommand {
  /** The shell as an absolute path, and its arguments. */
  argv: readonly string[];
  cwd: string;
  /** The whole environment of the command. */
  environment: Readonly<Record<string, string>>;
  /** Files that were written with the user's consent and still are as they were written, by real path: they may be there. */
  writtenFiles?(): readonly string[];
}

/** A command as it is to be started for running in a box. */
export interface WrappedCommand {
  argv: readonly string[];
  environment: Readonly<Record<string, string>>;
  /** True where the program stays while something that the command started runs, and reports the command's own end. */
  reportsEnd: boolean;
  /** Absolute paths of files that the program finds open for reading, as its descriptors from 4 on. */
  inheritedFiles: readonly string[];
  /** True when this is all that came of it: the box could not be made, and nothing of the command was run. */
  isFailure(output: string): boolean;
  /**
   * What the box is about, in a line for the model that follows a failure by which it was met; undefined otherwise.
   * @param hasFailed false where the command says that it went well: left out, it has not.
   */
  explain(output: string, hasFailed?: boolean): string | undefined;
  /** To be called once, when the command has returned: takes away what may not come about unasked, and says so. */
  finish(end: CommandReturn): { notes: string[] };
  /** To be called in place of `finish` where it could not be started. */
  abandon(): void;
}

/** How far a command is that has returned. */
export interface CommandReturn {
  /** True when something of it runs on, as far as it says so itself. */
  survivors: boolean;
  /** Resolves when the program that was started has ended. */
  gone: Promise<unknown>;
}

/** Where shell commands run that may touch little. */
export interface ShellWrapper {
  /** @throws Error when the command cannot be enclosed now: it is not run then. */
  wrapCommand(command: ShellCommand): WrappedCommand;
  /**
   * To be called before a command runs outside; what it returns, after: what has come about between may stay, unless something of the box
   * ran meanwhile. Then it is taken away, and a line says so for each.
   */
  leave(): () => readonly string[];
}

/** How the commands of a session run. */
export type SandboxState =
  /** In a box; one that asks for it and is allowed to runs outside, where `mayLeave`. */
  | { kind: "boxed"; box: ShellWrapper; mayLeave: boolean }
  /** As any program of the user's; `problem` says why, where a box was wanted. */
  | { kind: "open"; problem?: string | undefined }
  /** Not at all, since there has to be a box and is none; `problem` says why, half a sentence. */
  | { kind: "refused"; problem: string };
