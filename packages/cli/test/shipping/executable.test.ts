import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildExecutable, currentHost } from "../../scripts/build.ts";
import { chooseTargets, findHostTarget } from "../../scripts/build-targets.ts";
import { REPOSITORY } from "../../scripts/shipped-program.ts";
import { VERSION } from "../../src/version.ts";
import { plantTraps } from "../support/bun-traps.ts";
import { startInPty } from "../support/pty-program.ts";
import { runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import { allowPages, readPages, servePages } from "../support/web-pages.ts";

const SCRIPT = {
  version: 1,
  turns: [
    { toolCalls: [{ name: "grep", input: { pattern: "needle", glob: "*.txt" } }] },
    { toolCalls: [{ name: "bash", input: { command: "echo one && echo two | cat" } }] },
    { text: "All found." },
  ],
};
const RUN = ["-p", "--model", "scripted/script.json", "--output-format", "stream-json", "find it"];
// Contains nothing from the repository.
const ENVIRONMENT = { PATH: "/usr/bin:/bin" };

test("a build target is named, host or all; Windows is refused", () => {
  const host = { platform: "linux", arch: "arm64", isMusl: true };
  expect(chooseTargets("host", host).map(({ bun }) => bun)).toEqual(["bun-linux-arm64-musl"]);
  expect(chooseTargets("darwin-arm64", host).map(({ name }) => name)).toEqual(["darwin-arm64"]);
  expect(chooseTargets("all", host)).toHaveLength(6);
  expect(() => chooseTargets("host", { platform: "win32", arch: "x64", isMusl: false })).toThrow(
    "Unknown target host on win32 x64",
  );
});

const target = findHostTarget(currentHost());

describe.skipIf(target === undefined)(
  "the executable (skipped if there is no target for this machine)",
  () => {
    let directory: string;
    let program: string[];
    const places: TemporaryProject[] = [];

    beforeAll(async () => {
      directory = mkdtempSync(join(tmpdir(), "diligent-executable-"));
      if (target) program = [await buildExecutable(target, directory)];
    }, 180_000);

    afterAll(() => {
      for (const place of places) place.remove();
      rmSync(directory, { recursive: true, force: true });
    });

    function createPlace(): TemporaryProject {
      const place = createTemporaryProject();
      places.push(place);
      place.write("script.json", SCRIPT);
      place.write("hello.json", { version: 1, turns: [{ text: "Hello from one file." }] });
      place.write("hay.txt", "a needle\n");
      return place;
    }

    test("is one file, next to its third-party notices", () => {
      expect(readdirSync(directory).sort()).toEqual(["THIRD-PARTY.md", "diligent"]);
      expect(readFileSync(join(directory, "THIRD-PARTY.md"), "utf8")).toMatch(
        /## @vscode\/ripgrep-\w+-\w+ 1/,
      );
      const notices = readFileSync(join(directory, "THIRD-PARTY.md"), "utf8");
      for (const name of ["@mozilla/readability", "linkedom", "turndown", "unpdf"])
        expect(notices).toContain(`## ${name} `);
      expect(notices).toContain("It contains pdf.js, © Mozilla Foundation, Apache License 2.0");
    });

    test("prints its version and uses its own ripgrep, whatever is in the directory", async () => {
      const place = createPlace();
      const traps = plantTraps(place);
      const options = { program, environment: ENVIRONMENT };
      const { stdout: version } = await runDiligent(place, ["--version"], options);
      expect(version).toMatch(new RegExp(`^diligent ${VERSION}( \\([0-9a-f]{7}(, changed)?\\))?\n$`));
      const { stdout, stderr, exitCode } = await runDiligent(place, RUN, options);
      expect([stderr, exitCode]).toEqual(["", 0]);
      expect(stdout).toContain('"output":"hay.txt"');
      expect(stdout).toContain('"output":"one\\ntwo"');
      const { exitCode: withoutKey } = await runDiligent(place, ["-p", "hi"], options);
      expect([withoutKey, traps.sprung()]).toEqual([2, []]);
    }, 60_000);

    test("replaces a copy of ripgrep that somebody has changed or may change", async () => {
      const place = createPlace();
      const programs = join(place.home, ".local", "state", "diligent", "programs");
      const search = async () => {
        const { stdout } = await runDiligent(place, RUN, { program, environment: ENVIRONMENT });
        expect(stdout).toContain('"output":"hay.txt"');
        return readdirSync(programs).map((name) => join(programs, name));
      };
      const [copy = "", ...more] = await search();
      expect([more, statSync(copy).mode & 0o777, statSync(programs).mode & 0o777]).toEqual([
        [],
        0o700,
        0o700,
      ]);
      const size = statSync(copy).size;
      writeFileSync(copy, "#!/bin/sh\necho owned\n");
      expect(await search()).toEqual([copy]);
      expect(statSync(copy).size).toBe(size);
      chmodSync(copy, 0o777);
      await search();
      expect(statSync(copy).mode & 0o777).toBe(0o700);
    }, 60_000);

    test("loads an extension of the user, which is a TypeScript file", async () => {
      const place = createPlace();
      const extension = join(REPOSITORY, "packages", "core", "examples", "extension.ts");
      place.configure({ sandbox: "off", extensions: [extension] });
      const call = { name: "count_words", input: { text: "one two three" } };
      place.write("count.json", { version: 1, turns: [{ toolCalls: [call] }, { text: "Counted." }] });
      const args = ["-p", "-m", "scripted/count.json", "--output-format", "stream-json", "count"];
      const { stdout, stderr } = await runDiligent(place, args, { program, environment: ENVIRONMENT });
      expect(stderr).toBe("");
      expect(stdout).toContain('"output":"3 words"');
    }, 60_000);

    test("runs doctor without unpacking anything", async () => {
      const place = createPlace();
      const environment = { ...ENVIRONMENT, DILIGENT_MODEL: "scripted/hello.json" };
      const { stdout, exitCode } = await runDiligent(place, ["doctor"], { program, environment });
      expect([exitCode, stdout]).toEqual([
        0,
        expect.stringMatching(/^ok +ripgrep +bundled; unpacked at the first search$/m),
      ]);
      const made = [place.home, place.temporary].flatMap((directory) => readdirSync(directory));
      expect(made.filter((name) => name !== ".bun")).toEqual([]);
    }, 60_000);

    test("converts web pages and PDF documents, with nothing from the directory", async () => {
      const place = createPlace();
      const server = servePages();
      try {
        place.configure(allowPages(server));
        const at = (path: string) => `http://127.0.0.1:${server.port}${path}`;
        place.write("script.json", readPages([at("/guide"), at("/paper")]));
        place.write("node_modules/canvas/index.js", "throw new Error('loaded');");
        const traps = plantTraps(place);
        const { stdout, exitCode } = await runDiligent(place, RUN, { program, environment: ENVIRONMENT });
        expect([exitCode, traps.sprung()]).toEqual([0, []]);
        expect(stdout).toContain("Title: The guide");
        expect(stdout).toContain("The second page");
      } finally {
        await server.stop(true);
      }
    }, 60_000);

    test("draws its screen in a terminal", async () => {
      const place = createPlace();
      const options = { program, environment: ENVIRONMENT };
      await using running = startInPty(place, ["--model", "scripted/hello.json", "hi"], options);
      await running.waitFor("Hello from one file.");
      running.send("\x04");
      expect(await running.exitCode).toBe(0);
    }, 60_000);
  },
);
