import { closeSync, openSync, statSync } from "node:fs";
import { systemErrorText } from "../system-error.ts";
import { registerEnding } from "./all-processes.ts";
import { CommandReport, type ReportFormat } from "./command-report.ts";
import { findInMountNamespace, isMountNamespaceUsed } from "./mount-namespace.ts";
import { OrphanWatch } from "./orphan-watch.ts";
import { hasUnreadBytes, type OutputPipe, openOutputPipe } from "./output-pipe.ts";
import {
  endTree,
  endTreeNow,
  isGroupAlive,
  isTreeAlive,
  type ProcessGroup,
  type ProcessRole,
  type ProcessTree,
  readCpuMs,
  readMemoryBytes,
  readTreeCpuMs,
  readTreeMemoryBytes,
} from "./tree.ts";

/** How a child is started; its stdin is empty, unless it `hasInput`. */
export interface ProcessOptions {
  /** The program as an absolute path, and its arguments. */
  argv: readonly string[];
  cwd: string;
  /** The complete environment of the child; a mark is added by which its descendants are found. */
  environment: Readonly<Record<string, string>>;
  /** True for a child that is written to; see `ChildProcess.input`. */
  hasInput?: boolean;
  /** True: stdout and stderr are two streams, in this order. */
  hasSeparateOutputs?: boolean;
  /** Opens the pipe for the output; without one, sockets are used. */
  openPipe?: () => Promise<OutputPipe | undefined>;
  /**
   * The format in which it reports about the command that it runs; left out for a program that is the command itself.
   */
  report?: ReportFormat | undefined;
  /** The process table for a command with its own mount namespace that shares a process namespace. */
  processTable?: string | undefined;
  /** Its role when everything is ended; by default `worker`, or `keeper` if it reports. */
  role?: ProcessRole | undefined;
  /** Files that are open for reading in the child, as its descriptors from 4 on. */
  inheritedFiles?: readonly string[];
}

/** Exactly one of the two is set. */
export interface ProcessExit {
  exitCode: number | null;
  /** Such as `SIGKILL`. */
  signal: string | null;
}

/** The stdin of a child. Types of Bun cannot be named here: the library is also used without them. */
interface ChildInput {
  write(text: string): number | Promise<number>;
  flush(): number | Promise<number>;
  /** Writes what is left and closes it. */
  end(): number | Promise<number>;
}

/** A running child with all its descendants. */
export interface ChildProcess {
  pid: number;
  /** Stdout and stderr: one stream in writing order, or two if no pipe was available. Read them to the end. */
  outputs: readonly ReadableStream<Uint8Array>[];
  /** Its stdin, for a child that has input. */
  input: ChildInput | undefined;
  /** True when there is unread output; false if that is unknown. */
  hasUnreadOutput(): boolean;
  /** Closes the descriptors for reading; call it once the outputs are no longer read. */
  closeOutputs(): void;
  /** Resolves when the program, or the foreground command that it reports about, has ended. */
  exited: Promise<ProcessExit>;
  /** Resolves when none of its processes runs any more. */
  gone: Promise<unknown>;
  /** The report about the command that it runs, if there is one. */
  report: CommandReport | undefined;
  /**
   * Ends the process and all its descendants: TERM, then KILL after a second. Resolves when all of them are gone, or
   * after two seconds with false if a process could not be ended.
   */
  end(): Promise<boolean>;
  /** Processor time of what runs of it now. */
  cpuTimeMs(): number;
  /** Bytes of memory of what runs of it now; undefined where the system does not say. */
  memoryBytes(): number | undefined;
  /** Kills the process itself, at once. */
  kill(): void;
  /** From now on it does not keep this program alive. */
  release(): void;
  /** After `exited`: false for a reporting program that has not started its command. */
  hasBegun(): boolean;
  /**
   * After `exited`: true while a background process of it still runs. `isClosed` is false if outputs have not ended.
   */
  hasSurvivors(isClosed?: boolean): boolean;
}

const MARK_VARIABLE = "DILIGENT_PROCESS";
const ownMark = `${process.pid}-${crypto.randomUUID()}`;

/** The groups that may still have members. */
const processRegistry = new Set<ProcessGroup>();
/** Of those that do not end with this program by themselves. */
const orphanWatch = new OrphanWatch(`/${ownMark}/`);
let started = 0;

/**
 * Starts a program in its own session and process group, without a controlling terminal.
 * Descendants may outlive it; they are ended by `end` or, at the latest, by `endAllProcesses`.
 *
 * @throws when it cannot be started, with a message for the model.
 */
export async function startProcess(options: ProcessOptions): Promise<ChildProcess> {
  const { argv, cwd, environment, openPipe = openOutputPipe } = options;
  const { mark, marked } = markEnvironment(environment);
  const pipe = options.hasSeparateOutputs ? undefined : await openPipe();
  const target = pipe?.writeEnd ?? "pipe";
  const report = options.report ? await openPipe() : undefined;
  const inherited: number[] = [];
  try {
    for (const path of options.inheritedFiles ?? []) inherited.push(openSync(path, "r"));
    // Before the child starts: this program may be killed at any moment after.
    if (!report) orphanWatch.prepare();
    const child = Bun.spawn([...argv], {
      cwd,
      env: marked,
      stdio: [options.hasInput ? "pipe" : "ignore", target, target, report?.writeEnd ?? null, ...inherited],
      detached: true,
    });
    return toChildProcess(child, {
      mark,
      readEnd: pipe?.readEnd,
      report: report && options.report && new CommandReport(options.report, report.readEnd),
      role: options.role ?? (report ? "keeper" : "worker"),
      processTable: options.processTable,
    });
  } catch (error) {
    for (const opened of [pipe, report]) if (opened) closeSync(opened.readEnd);
    throw new Error(startFailure(argv[0] ?? "", cwd, error));
  } finally {
    for (const opened of [pipe, report]) if (opened) closeSync(opened.writeEnd);
    for (const descriptor of inherited) closeSync(descriptor);
  }
}

/**
 * An environment that marks its processes, and all their descendants, for `endAllProcesses`. No other environment
 * contains `mark`.
 */
export function markEnvironment(environment: Readonly<Record<string, string>>) {
  if (started === 0) {
    registerEnding(() => endTree(everything));
    process.on("exit", endAllProcessesNow);
  }
  const mark = `/${ownMark}/${++started}/`;
  // A diligent process inside another one keeps the outer mark, so that the outer one finds these children too.
  const marked = { ...environment, [MARK_VARIABLE]: (environment[MARK_VARIABLE] ?? "") + mark };
  return { mark, marked };
}

/** Kills everything when waiting is no longer possible. Runs automatically when the process exits. */
function endAllProcessesNow(): void {
  if (started > 0) endTreeNow(everything);
}

/** Every group that may still have members, and every process with this process's mark. */
function everything(): ProcessTree {
  for (const group of processRegistry) if (!isGroupAlive(group)) processRegistry.delete(group);
  return toTree([...processRegistry], `/${ownMark}/`);
}

function toTree(groups: readonly ProcessGroup[], mark: string): ProcessTree {
  const leadersOf = (role: ProcessRole) =>
    groups.filter((group) => group.role === role).map(({ leader }) => leader);
  return {
    groups: groups.map(({ leader }) => leader),
    mark,
    keepers: leadersOf("keeper"),
    holders: leadersOf("holder"),
  };
}

interface ChildDeps extends Pick<ProcessOptions, "processTable"> {
  mark: string;
  readEnd: number | undefined;
  report: CommandReport | undefined;
  role: ProcessRole;
}

function toChildProcess(
  child: Bun.Subprocess,
  { mark, readEnd, report, role, processTable }: ChildDeps,
): ChildProcess {
  const group: ProcessGroup = { leader: child.pid, role, leaderExited: false };
  processRegistry.add(group);
  // A program that reports is bubblewrap, which dies with its parent, and everything in it.
  const hasOrphans = report === undefined;
  if (hasOrphans) orphanWatch.watch(group.leader);
  let isGone = false;
  let ending = Promise.withResolvers<void>();
  const tree = () => ({
    ...toTree(isGroupAlive(group) ? [group] : [], mark),
    // When no process lives in it, its number may be reused.
    mountNamespace: isGone ? undefined : report?.mountNamespace,
  });
  const ended = child.exited.then((): ProcessExit => {
    group.leaderExited = true;
    if (!isGroupAlive(group)) processRegistry.delete(group);
    return { exitCode: child.exitCode, signal: child.signalCode === null ? null : String(child.signalCode) };
  });
  // Its background processes keep a staying shell alive, but not a process that joins an existing namespace.
  const exited = report?.ended.then((): ProcessExit | Promise<ProcessExit> => {
    const { exitCode } = report;
    return exitCode === undefined || processTable !== undefined ? ended : { exitCode, signal: null };
  });
  const isRunning = ({ isUrgent = true } = {}) => {
    const id = report?.mountNamespace;
    if (processTable === undefined) return isGroupAlive(group) && isTreeAlive(tree());
    return id !== undefined && isMountNamespaceUsed(id, processTable, { isUrgent });
  };
  const gone = ended.then(async () => {
    // Its exit may be noticed before the report, without which its processes cannot be found.
    await report?.ended;
    // A staying shell has ended with the last of its processes.
    if (report !== undefined && processTable === undefined) return;
    // The last process of an ended command is often about to end, too.
    let isUrgent = true;
    for (let pauseMs = FIRST_LOOK_MS; isRunning({ isUrgent }); ) {
      const wasEnded = ending.promise.then(() => true);
      isUrgent = await Promise.race([pauseUnnoticed(pauseMs).then(() => false), wasEnded]);
      if (isUrgent) ending = Promise.withResolvers();
      pauseMs = Math.min(pauseMs * 2, LOOK_EVERY_MS);
    }
    isGone = true;
    processRegistry.delete(group);
    if (hasOrphans) orphanWatch.forget(group.leader);
  });
  return {
    pid: child.pid,
    input: typeof child.stdin === "object" ? child.stdin : undefined,
    outputs: readEnd === undefined ? streamsOf(child) : [Bun.file(readEnd).stream()],
    hasUnreadOutput: () => readEnd !== undefined && hasUnreadBytes(readEnd),
    closeOutputs: () => {
      if (readEnd !== undefined) closeSync(readEnd);
    },
    exited: exited ?? ended,
    gone,
    report,
    async end() {
      const isEnded = await endTree(tree);
      // The end is then seen at once.
      if (isEnded) ending.resolve();
      return isEnded;
    },
    cpuTimeMs: () => {
      const id = tree().mountNamespace;
      if (processTable === undefined) return readTreeCpuMs(tree());
      return id === undefined ? 0 : readCpuMs(findInMountNamespace(id, processTable), processTable);
    },
    memoryBytes: () => {
      const id = tree().mountNamespace;
      if (processTable === undefined) return readTreeMemoryBytes(tree());
      return id === undefined ? 0 : readMemoryBytes(findInMountNamespace(id, processTable), processTable);
    },
    kill: () => child.kill("SIGKILL"),
    release: () => child.unref(),
    // A program that a signal ended may not have reported its state.
    hasBegun: () => report === undefined || report.hasBegun || child.signalCode !== null,
    hasSurvivors: (isClosed = true) => {
      if (processTable !== undefined) return isRunning();
      return report?.leftRunning ?? (!isClosed || isRunning());
    },
  };
}

const FIRST_LOOK_MS = 20;
const LOOK_EVERY_MS = 1_000;

/** Between two looks at what runs in the background; keeps no program alive that has nothing else to do. */
export function pauseUnnoticed(pauseMs = LOOK_EVERY_MS): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, pauseMs).unref());
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
