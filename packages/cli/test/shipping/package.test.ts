import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packAll } from "../../scripts/pack.ts";
import { VERSION } from "../../src/version.ts";
import { plantTraps } from "../support/bun-traps.ts";
import { type LocalRegistry, startLocalRegistry } from "../support/local-registry.ts";
import { startInPty } from "../support/pty-program.ts";
import { CHECKOUT_PROGRAM, runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

const BUNX = [process.execPath, "x", "--no-install", "diligent"];
const SCRIPT = {
  version: 1,
  turns: [
    { toolCalls: [{ name: "grep", input: { pattern: "needle", glob: "*.txt" } }] },
    { toolCalls: [{ name: "bash", input: { command: "echo one && echo two | cat" } }] },
    { text: "All found." },
  ],
};

let packed: string;
let place: TemporaryProject;
let registry: LocalRegistry;

/** An empty directory in an empty home, with the package installed in it. */
beforeAll(async () => {
  packed = mkdtempSync(join(tmpdir(), "diligent-packed-"));
  place = createTemporaryProject();
  registry = startLocalRegistry();
  const [tarball = ""] = await packAll(packed, ["diligent"]);
  place.write("package.json", { name: "somebody-elses", private: true });
  mkdirSync(join(place.home, "tmp"));
  const add = Bun.spawn([process.execPath, "add", tarball], {
    cwd: place.project,
    env: registry.environment(place.home),
    stdout: "pipe",
    stderr: "pipe",
  });
  if ((await add.exited) !== 0) throw new Error(`bun add: ${await add.stderr.text()}`);
}, 60_000);

afterAll(async () => {
  await registry[Symbol.asyncDispose]();
  place.remove();
  rmSync(packed, { recursive: true, force: true });
});

function installed(path: string): string {
  return join(place.project, "node_modules", "diligent", path);
}

function readInstalledPackage(): Record<string, unknown> {
  return JSON.parse(readFileSync(installed("package.json"), "utf8"));
}

describe("the packed program", () => {
  test("downloads only ripgrep from the registry, and contains no install script", () => {
    expect([...new Set(registry.asked)].filter((name) => !name.startsWith("@vscode/ripgrep"))).toEqual([]);
    expect(registry.asked).toContain("@vscode/ripgrep");
    expect(readInstalledPackage()).toEqual({
      name: "diligent",
      version: VERSION,
      description: expect.any(String),
      license: "MIT",
      type: "module",
      bin: { diligent: "diligent.js" },
      dependencies: { "@vscode/ripgrep": expect.stringMatching(/^\d+\.\d+\.\d+$/) },
      engines: { bun: expect.any(String) },
    });
  });

  test("starts with the options that ignore a repository's files, and includes its licences", () => {
    const firstLine = (path: string) => readFileSync(path, "utf8").split("\n", 1)[0];
    expect(firstLine(installed("diligent.js"))).toBe(firstLine(CHECKOUT_PROGRAM));
    expect(readFileSync(installed("LICENSE"), "utf8")).toContain("MIT");
    expect(readFileSync(installed("THIRD-PARTY.md"), "utf8")).toContain("## zod 4");
    const links = readFileSync(installed("README.md"), "utf8").matchAll(/\]\((?!https?:)([^)#]+)/g);
    // Things that only a checkout has are not mentioned.
    expect(readFileSync(installed("README.md"), "utf8")).not.toMatch(
      /bun run (?!diligent)|(this|the) (checkout|repository)\b(?!'s)/,
    );
    expect([...links].map(([, link = ""]) => link).filter((link) => !existsSync(installed(link)))).toEqual(
      [],
    );
  });

  test("imports only its own files, Bun's modules and its dependencies", () => {
    const names = [...new Bun.Glob("**/*.js").scanSync(installed("."))].flatMap((file) =>
      new Bun.Transpiler({ loader: "js" }).scanImports(
        readFileSync(installed(file), "utf8").replace(/^#!.*/, ""),
      ),
    );
    const foreign = names.map(({ path }) => path).filter((path) => !/^(\.|node:|bun:|bun$)/.test(path));
    expect([...new Set(foreign)].filter((name) => !isBuiltin(name))).toEqual(["@vscode/ripgrep"]);
  });

  test("prints its version and answers with a scripted model, whatever is in the directory", async () => {
    place.write("script.json", SCRIPT);
    place.write("hay.txt", "a needle\n");
    const traps = plantTraps(place);
    const version = await runDiligent(place, ["--version"], { program: BUNX });
    expect(version.stdout).toMatch(new RegExp(`^diligent ${VERSION}( \\([0-9a-f]{7}(, changed)?\\))?\n$`));
    const args = ["-p", "--model", "scripted/script.json", "--output-format", "stream-json", "find it"];
    const { stdout, stderr, exitCode } = await runDiligent(place, args, { program: BUNX });
    expect([stderr, exitCode]).toEqual(["", 0]);
    expect(stdout).toContain('"output":"hay.txt"');
    expect(stdout).toContain('"output":"one\\ntwo"');
    const withoutKey = await runDiligent(place, ["-p", "hi"], { program: BUNX });
    expect([withoutKey.stderr, traps.sprung()]).toEqual([
      expect.stringContaining("set ANTHROPIC_API_KEY"),
      [],
    ]);
  }, 60_000);

  test("draws its screen in a terminal", async () => {
    place.write("hello.json", { version: 1, turns: [{ text: "Hello from the package." }] });
    await using program = startInPty(place, ["--model", "scripted/hello.json", "hi"], { program: BUNX });
    await program.waitFor("Hello from the package.");
    program.send("\x04");
    expect(await program.exitCode).toBe(0);
  }, 60_000);
});

function isBuiltin(name: string): boolean {
  return process.getBuiltinModule(name) !== undefined;
}
