import { linkSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Workspace } from "@diligent/core";
import { FileTracker, SessionSandbox } from "@diligent/core/run";
import { tryCommand } from "../../../core/src/extensions/dry-run/try-command.ts";
import { TRIED_COMMANDS, TRIED_PROJECT } from "../../../core/test/support/tried-commands.ts";
import type { Benchmark, Figure } from "../figure.ts";
import { quantile, Series, takeTurns } from "../measure/statistics.ts";
import type { Stage } from "../stage/stage.ts";
import { callMs, openSession } from "./box.ts";

const RUNS = 5;
const CALLS = 20;
const MANY_FILES = 5_000;
const BUDGET_MS = 150;
const LIMIT_MS = 10_000;

/** What 200 hostile commands leave behind outside of their views, and what a view costs. */
export const dryRun: Benchmark = {
  name: "try",
  about: "effects of 200 commands outside of their views, and the cost of a view of 5,000 files",
  async measure(stage) {
    return [await countEffects(stage), await measureCost(stage)];
  },
};

async function countEffects(stage: Stage): Promise<Figure> {
  const place = createPlace(stage);
  const sandbox = new SessionSandbox({ ...place, setting: "required", directory: () => place.session });
  let requests = 0;
  using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(`${++requests}`) });
  const job = Bun.spawn(["sleep", "3600"]);
  const workspace = toWorkspace(place, sandbox);
  const names = { OUTSIDE: place.outside, SERVER: `http://127.0.0.1:${server.port}`, JOB: String(job.pid) };
  const exports = Object.entries(names).map(([name, value]) => `export ${name}=${value}`);
  const watched = [place.root, place.outside, place.home, join(place.session, "tmp"), "/dev/shm", "/var/tmp"];
  // The first command makes what all of them share.
  await tryAndDrop("true", workspace);
  let effects = 0;
  for (const command of TRIED_COMMANDS) {
    const before = watched.map(fingerprint).join("\n");
    const requested = requests;
    await tryAndDrop(`${exports.join("; ")}; ${command}`, workspace);
    const isSame = watched.map(fingerprint).join("\n") === before && requests === requested;
    if (isSame && job.exitCode === null && job.signalCode === null) continue;
    effects++;
    process.stderr.write(`An effect outside of its view: ${command}\n`);
  }
  job.kill();
  await sandbox.endProcesses();
  await sandbox.close();
  const name = `commands with an effect, of ${TRIED_COMMANDS.length}`;
  return {
    name,
    unit: "%",
    rule: { kind: "amount" },
    measured: [(effects / TRIED_COMMANDS.length) * 100],
    budget: 0,
  };
}

interface Place {
  root: string;
  outside: string;
  home: string;
  session: string;
  environment: Record<string, string>;
}

function createPlace(stage: Stage): Place {
  const top = stage.scratch.makeDirectory("try");
  const [root, outside, home, session] = ["project", "outside", "home", "session"].map((name) =>
    join(top, name),
  );
  if (!root || !outside || !home || !session) throw new Error("unreachable");
  for (const directory of [root, outside, home, session]) mkdirSync(directory, { recursive: true });
  for (const [path, content] of Object.entries(TRIED_PROJECT)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  linkSync(join(root, "linked"), join(outside, "other-name"));
  writeFileSync(
    join(home, ".gitconfig"),
    "[user]\n\tname = Me\n\temail = me@example.org\n[init]\n\tdefaultBranch = main\n",
  );
  const environment = { ...stage.environment(), HOME: home };
  const git = "git init -q . && git add . && git commit -qm first && git commit -q --allow-empty -m second";
  Bun.spawnSync(["sh", "-c", git], { cwd: root, env: environment });
  return { root, outside, home, session, environment };
}

function toWorkspace(
  { root, session, environment }: Pick<Place, "root" | "session" | "environment">,
  sandbox: SessionSandbox,
): Workspace {
  return {
    cwd: root,
    root,
    files: new FileTracker(),
    outputDirectory: () => session,
    environment,
    sessionId: "bench",
    sandboxState: () => sandbox.sandboxState(),
  };
}

async function tryAndDrop(command: string, workspace: Workspace): Promise<void> {
  const context = {
    toolCallId: "bench",
    signal: AbortSignal.timeout(60_000),
    approve: async () => "once" as const,
  };
  const tried = await tryCommand({ command, timeout: LIMIT_MS }, workspace, context);
  await tried.drop();
}

/** Everything below a directory; any change of an entry gives it another time of change. */
function fingerprint(directory: string): string {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" }).sort();
  return ["", ...names].map((name) => describe(join(directory, name))).join("\n");
}

function describe(path: string): string {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return `${path} ${stats?.ino} ${stats?.mode} ${stats?.nlink} ${stats?.size} ${stats?.ctimeNs}`;
}

async function measureCost(stage: Stage): Promise<Figure> {
  const root = stage.scratch.makeDirectory("try-project");
  for (let index = 0; index < MANY_FILES; index++) {
    const path = join(root, `package-${index % 50}`, `module-${index}.ts`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "export {};\n");
  }
  const session = await openSession(stage, root, "required");
  const directory = stage.scratch.makeDirectory("try-session");
  const workspace = toWorkspace(
    { root, session: directory, environment: stage.environment() },
    session.sandbox,
  );
  const slowest = async (call: () => Promise<number>) => {
    const values: number[] = [];
    for (let count = 0; count < CALLS; count++) values.push(await call());
    return quantile(values, 0.95);
  };
  const tried = new Series(() => slowest(() => triedMs(workspace)));
  const run = new Series(() => slowest(() => callMs(session)));
  await takeTurns([tried, run], stage.runs(RUNS));
  rmSync(directory, { recursive: true, force: true });
  return {
    name: "dry run, 5,000 files, added at the 95th percentile",
    unit: "ms",
    rule: { kind: "per_item", items: 1 },
    measured: tried.values,
    reference: { name: "in the sandbox", values: run.values },
    budget: BUDGET_MS,
  };
}

async function triedMs(workspace: Workspace): Promise<number> {
  const begin = performance.now();
  await tryAndDrop("true", workspace);
  return performance.now() - begin;
}
