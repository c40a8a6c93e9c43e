import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SessionSandbox } from "@diligent/core/run";
import { startSseServer } from "../../../core/test/support/sse-server.ts";
import { packAll } from "../../scripts/pack.ts";
import { readDeclaredNames } from "../support/declared-names.ts";
import { type LocalRegistry, startLocalRegistry } from "../support/local-registry.ts";
import { runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import { ANTHROPIC_SERVICE, wholeReply } from "../support/vendor-service.ts";

const REPOSITORY = join(import.meta.dir, "..", "..", "..", "..");
const CORE = join(REPOSITORY, "packages", "core");
const EXAMPLES = readdirSync(join(CORE, "examples"));
const PUBLIC = [".", "./config", "./providers", "./sessions", "./testing", "./tools"];

/** A program with the strictest compiler options and no types but those of the packages. */
const CONSUMER = `
import { type AgentEvent, type SandboxState, EventStream, ProviderError, SessionManager, type Tool, type Workspace } from "@diligent/core";
import * as core from "@diligent/core";
import * as config from "@diligent/core/config";
import * as providers from "@diligent/core/providers";
import * as sessions from "@diligent/core/sessions";
import * as testing from "@diligent/core/testing";
import { SessionSandbox } from "@diligent/core/tools";

export const all: object[] = [core, config, providers, sessions, testing];
export const stream = new EventStream<AgentEvent, string>((event) => event.type === "agent_end", () => "end");
export const kind: string = new ProviderError("busy", "overloaded").errorType;
export const window: number = core.resolveModel("sonnet").contextWindow;
export const sandbox = new SessionSandbox({ setting: "auto", environment: {}, root: "/", directory: () => undefined });
export const boxed: Pick<Workspace, "sandboxState"> = { sandboxState: (): Promise<SandboxState> => sandbox.sandboxState() };
export type Names = [Tool["name"], SessionManager["sessionId"]];
// @ts-expect-error A word that is no kind of error.
new ProviderError("busy", "tired");
`;

let packed: string;
let place: TemporaryProject;
let registry: LocalRegistry;

/** Another project with the library installed from its file. */
beforeAll(async () => {
  packed = mkdtempSync(join(tmpdir(), "diligent-packed-"));
  place = createTemporaryProject();
  registry = startLocalRegistry();
  const [tarball = ""] = await packAll(packed, ["core"]);
  const { dependencies } = JSON.parse(readFileSync(join(CORE, "package.json"), "utf8"));
  place.write("package.json", { name: "somebody-elses", private: true, type: "module" });
  mkdirSync(join(place.home, "tmp"));
  const add = Bun.spawn([process.execPath, "add", tarball, `zod@${dependencies.zod}`], {
    cwd: place.project,
    env: registry.environment(place.home),
    stdout: "pipe",
    stderr: "pipe",
  });
  if ((await add.exited) !== 0) throw new Error(`bun add: ${await add.stderr.text()}`);
  for (const name of EXAMPLES) copyFileSync(join(CORE, "examples", name), join(place.project, name));
}, 180_000);

afterAll(async () => {
  await registry[Symbol.asyncDispose]();
  place.remove();
  rmSync(packed, { recursive: true, force: true });
});

function installed(...path: string[]): string {
  return join(place.project, "node_modules", "@diligent", "core", ...path);
}

/** The compiler's messages; empty on success. */
function compile(files: readonly string[], options: object): string {
  const compilerOptions = {
    target: "ESNext",
    module: "NodeNext",
    lib: ["ESNext", "DOM"],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    verbatimModuleSyntax: true,
    noEmit: true,
    ...options,
  };
  place.write("tsconfig.json", { compilerOptions, files });
  const tsc = join(REPOSITORY, "node_modules", ".bin", "tsc");
  return Bun.spawnSync([tsc, "-p", place.project]).stdout.toString();
}

/** Whether commands can be sandboxed on this machine. */
async function hasBox(): Promise<boolean> {
  const sandbox = new SessionSandbox({
    setting: "auto",
    environment: { PATH: process.env.PATH, HOME: place.home },
    root: place.project,
    directory: () => undefined,
  });
  const { kind } = await sandbox.sandboxState();
  await sandbox.close();
  return kind === "boxed";
}

describe("the packed library", () => {
  test("installs from its file, and its dependencies are pinned", () => {
    expect(registry.asked.filter((name) => name.includes("diligent"))).toEqual([]);
    const { exports, dependencies, scripts } = JSON.parse(readFileSync(installed("package.json"), "utf8"));
    expect([Object.keys(exports).sort(), scripts]).toEqual([PUBLIC, undefined]);
    const loose = Object.values(dependencies).filter((version) => !/^\d+\.\d+\.\d+$/.test(String(version)));
    expect(loose).toEqual([]);
    const files = Object.values<{ types: string; default: string }>(exports).flatMap((face) =>
      Object.values(face),
    );
    expect(files.filter((file) => !existsSync(installed(file)))).toEqual([]);
  });

  test("compiles with the strictest options, without types of Bun and Node, checking library types", () => {
    place.write("consumer.ts", CONSUMER);
    expect(compile(["consumer.ts"], { types: [], skipLibCheck: false })).toBe("");
  }, 60_000);

  test("has a docstring for everything that it exports", () => {
    const { exports } = JSON.parse(readFileSync(installed("package.json"), "utf8"));
    for (const { types } of Object.values<{ types: string }>(exports)) {
      const names = readDeclaredNames(installed(types));
      expect(names.size).toBeGreaterThan(5);
      expect([...names].filter(([, isDocumented]) => !isDocumented).map(([name]) => name)).toEqual([]);
    }
  });

  test("contains the examples of its README, which compile and have at most 40 lines each", () => {
    const types = [join(REPOSITORY, "node_modules", "@types", "bun")];
    expect(compile(EXAMPLES, { types, skipLibCheck: true })).toBe("");
    const readme = readFileSync(installed("README.md"), "utf8");
    for (const name of EXAMPLES) {
      const text = readFileSync(join(place.project, name), "utf8");
      expect(readme).toContain(`<!-- examples/${name} -->\n\`\`\`ts\n${text}\`\`\``);
      expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(40);
    }
  }, 60_000);

  test("runs a custom tool with a scripted model", async () => {
    const program = [process.execPath, "custom-tool.ts"];
    const { stdout, stderr, exitCode } = await runDiligent(place, [], { program });
    expect([stdout, stderr, exitCode]).toEqual([expect.stringMatching(/^roll_die [1-6]\n$/), "", 0]);
  });

  test("lets sandboxed commands write to the project only; without a sandbox, none runs", async () => {
    const command = "echo in > made.txt; echo out > ../made.txt; cat made.txt";
    const bash = { id: "toolu_1", name: "bash", input: { command } };
    await using server = await startSseServer(
      wholeReply(ANTHROPIC_SERVICE, { text: "I try.", calls: [bash] }),
      wholeReply(ANTHROPIC_SERVICE, { text: "Done." }),
    );
    const environment = { ANTHROPIC_API_KEY: "test-key", ANTHROPIC_BASE_URL: server.url };
    const program = [process.execPath, "boxed-commands.ts"];
    const { stdout, stderr, exitCode } = await runDiligent(place, [], { program, environment });
    expect([stderr, exitCode, server.problems]).toEqual(["", 0, []]);
    const isBoxed = await hasBox();
    expect(/^bash .*made\.txt: Read-only file system\nin\n\[it ran in a sandbox: .*\]\n$/.test(stdout)).toBe(
      isBoxed,
    );
    expect(existsSync(join(place.project, "made.txt"))).toBe(isBoxed);
    expect([existsSync(join(place.top, "made.txt")), readdirSync(place.temporary)]).toEqual([false, []]);
  });

  test("runs the minimal agent, which searches with the included ripgrep and changes nothing", async () => {
    place.write("hay.txt", "a needle\n");
    const grep = { id: "toolu_1", name: "grep", input: { pattern: "needle", glob: "hay*" } };
    const write = { id: "toolu_2", name: "write", input: { file_path: ".env", content: "X=1" } };
    await using server = await startSseServer(
      wholeReply(ANTHROPIC_SERVICE, { text: "I look.", calls: [grep, write] }),
      wholeReply(ANTHROPIC_SERVICE, { text: "It is in hay.txt." }),
    );
    const environment = { ANTHROPIC_API_KEY: "test-key", ANTHROPIC_BASE_URL: server.url };
    const program = [process.execPath, "minimal-agent.ts", "where", "is", "it?"];
    const { stdout, stderr, exitCode } = await runDiligent(place, [], { program, environment });
    expect([stdout, exitCode, server.problems]).toEqual(["I look.\nIt is in hay.txt.\n", 0, []]);
    expect(stderr).toContain('grep {"pattern":"needle","glob":"hay*"}');
    expect(JSON.stringify(server.requests[1]?.body)).toContain("hay.txt");
    expect([
      JSON.stringify(server.requests[1]?.body).includes("writing files is not allowed in plan mode"),
      existsSync(join(place.project, ".env")),
    ]).toEqual([true, false]);
  });
});
