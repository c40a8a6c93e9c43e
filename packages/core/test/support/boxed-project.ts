import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { SessionJobs } from "../../src/jobs/session-jobs.ts";
import type { SandboxedShell } from "../../src/sandbox/box/sandboxed-command.ts";
import { findSandboxProgram } from "../../src/sandbox/detect.ts";
import { type OpenBoxOptions, openBox } from "../../src/sandbox/open-sandbox.ts";
import type { ToolContext, ToolResult } from "../../src/tool/types.ts";
import { createBashTool } from "../../src/tools/bash.ts";
import { FileTracker, type Workspace } from "../../src/tools/workspace.ts";
import { makeTempDir } from "./temp-dir.ts";
import { runTool } from "./tool-workspace.ts";

export interface BoxedProject {
  top: string;
  root: string;
  home: string;
  /** The session's temporary directory. */
  session: string;
  quarantine: string;
  box: SandboxedShell;
  workspace: Workspace;
  jobs: SessionJobs;
  files: FileTracker;
  /** What the user was told. */
  told: string[];
  at(path: string): string;
  put(path: string, content?: string): string;
  text(path: string): string | undefined;
  run(command: string, options?: RunOptions): Promise<ToolResult>;
}

export interface RunOptions {
  timeout?: number;
  signal?: AbortSignal;
  /** True: beside the box. */
  outside?: boolean;
  /** Answers what the command asks while it runs; always "once" when left out. */
  approve?: ToolContext["approve"];
}

export interface BoxedOptions
  extends Partial<
    Pick<OpenBoxOptions, "writable" | "mayLeave" | "sharedTemporary" | "maxProcesses" | "network">
  > {
  /** The name of the project's directory, and where it begins from there. */
  name?: string;
  /** Called before the box is made. */
  prepare?(place: Pick<BoxedProject, "top" | "root" | "home" | "session">): void;
  environment?: Record<string, string>;
}

/**
 * A project, a home directory and a session's temporary directory below one directory that is none of the shared temporary
 * ones to the box, so that the home can be seen but for what is hidden in it. Paths of `put` and `text` start at the top.
 */
export async function makeBoxedProject(options: BoxedOptions = {}): Promise<BoxedProject> {
  const top = makeTempDir();
  const [root, home, session] = [
    join(top, options.name ?? "project"),
    join(top, "home"),
    join(top, "session"),
  ];
  for (const directory of [root, home, session]) mkdirSync(directory, { recursive: true });
  const at = (path: string) => join(top, path);
  const put = (path: string, content = "original\n") => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), content);
    return at(path);
  };
  put("home/.gitconfig", "[user]\n\tname = Me\n\temail = me@example.org\n[init]\n\tdefaultBranch = main\n");
  options.prepare?.({ top, root, home, session });
  const environment = { PATH: process.env.PATH, HOME: home, LANG: "C.UTF-8", ...options.environment };
  const told: string[] = [];
  const opened = await openBox(requireProgram(root), {
    environment,
    root,
    writable: options.writable,
    directory: () => session,
    mayLeave: options.mayLeave ?? true,
    network: options.network,
    notify: (message) => told.push(message),
    sharedTemporary: options.sharedTemporary ?? ["/var/tmp"],
    ...(options.maxProcesses !== undefined && { maxProcesses: options.maxProcesses }),
  });
  if (!("box" in opened)) throw new Error(opened.problem);
  const { box } = opened;
  const files = new FileTracker();
  const jobs = new SessionJobs();
  const workspace: Workspace = {
    cwd: root,
    root,
    files,
    outputDirectory: () => session,
    jobs,
    environment,
    sessionId: "20260225103000-abcdef",
    sandboxState: async () => ({ kind: "boxed", wrapper: box, mayLeave: options.mayLeave ?? true }),
  };
  return {
    ...{ top, root, home, session, box, workspace, jobs, files, told, at, put },
    quarantine: join(home, ".local", "state", "diligent", "quarantine"),
    text: (path) => (existsSync(at(path)) ? readFileSync(at(path), "utf8") : undefined),
    run: (command, { timeout, signal, outside, approve } = {}) =>
      runTool(
        createBashTool(workspace),
        { command, ...(timeout && { timeout }), ...(outside && { outside_sandbox: true }) },
        { ...(signal && { signal }), ...(approve && { approve }) },
      ),
  };
}

function requireProgram(root: string) {
  const program = findSandboxProgram({ environment: { PATH: process.env.PATH }, root });
  if ("problem" in program) throw new Error(program.problem);
  return program;
}

/** Why there are no boxes on this machine; undefined where there are. Says it, for whoever wonders about skipped tests. */
export async function findBoxProblem(): Promise<string | undefined> {
  // A directory in the temporary one, which is not the project.
  const root = join(makeTempDir(), "project");
  mkdirSync(root);
  const program = findSandboxProgram({ environment: { PATH: process.env.PATH }, root });
  const options = { environment: { PATH: process.env.PATH, HOME: "/nowhere" }, root, mayLeave: true };
  const opened =
    "problem" in program ? program : await openBox(program, { ...options, directory: () => undefined });
  if (!("problem" in opened)) return undefined;
  console.log(`Tests of the sandbox are skipped: ${opened.problem}`);
  return opened.problem;
}

/** The output without the notes that follow it. */
export function plainOutput({ output }: ToolResult): string {
  return output.replace(/\n\[(?:exit code|it ran in).*$/s, "");
}
