import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { BUSY_MS } from "../../core/test/support/busy-machine.ts";
import { REPOSITORY } from "../scripts/shipped-program.ts";
import { startInPty } from "./support/pty-program.ts";
import { bareEnvironment, CHECKOUT_PROGRAM } from "./support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

/** Lines that are not started here, each with the reason. */
const NOT_STARTED: Readonly<Record<string, string>> = {
  "npx --yes bun@1.4.5 run demo": "fetches Bun; .ci/run starts it",
  "npx --yes bun@1.4.5 run check": "runs this test; .ci/run starts it",
};

/** Lines that open the screen, which is left with /quit. */
const ON_A_SCREEN = /^diligent(?: --continue| --fork .*| "[^"]*")?$/;

const MODEL = "scripted/script.json";
const ANSWERS = [{ toolCalls: [{ name: "write", input: { file_path: "a.txt", content: "a\n" } }] }];

let place: TemporaryProject;
let environment: Record<string, string>;

/**
 * One project for all lines, like that of a reader of README.md: with two sessions, and a change that git
 * does not know.
 */
beforeAll(async () => {
  place = createTemporaryProject();
  place.write("script.json", { version: 1, turns: [...ANSWERS, { text: "Done." }] });
  // In PATH as README.md describes it, and as `bun install` installs it in the checkout.
  for (const directory of [join(place.home, ".local", "bin"), join(place.project, "node_modules", ".bin")]) {
    mkdirSync(directory, { recursive: true });
    symlinkSync(CHECKOUT_PROGRAM, join(directory, "diligent"));
  }
  const bare = bareEnvironment(place);
  const path = `${join(place.home, ".local", "bin")}:${bare.PATH}`;
  environment = { ...bare, PATH: path, DILIGENT_MODEL: MODEL };
  const git = "git init -q && git add -A && git -c user.name=me -c user.email=me@example.org commit -qm one";
  for (const line of [git, "diligent -p one", "diligent -p two", "echo >> script.json"])
    expect(await runInShell(line)).toMatchObject({ exitCode: 0 });
}, BUSY_MS * 4);

afterAll(() => place.remove());

/** The indented lines without their comments; a block that begins with a brace is a configuration. */
function readCommandLines(): string[] {
  const blocks = readFileSync(join(REPOSITORY, "README.md"), "utf8").split(/\n(?! {4})/);
  return blocks
    .map((block) => block.split("\n").filter((line) => line.startsWith("    ")))
    .filter(([first]) => first !== undefined && !first.trim().startsWith("{"))
    .flatMap((lines) => lines.map((line) => line.replace(/\s+# .*$/, "").trim()));
}

async function runInShell(line: string) {
  const argv = ["bash", "-o", "pipefail", "-c", line];
  const child = Bun.spawn(argv, { cwd: place.project, env: environment, stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { line, stdout, stderr, exitCode: await child.exited };
}

const commandLines = readCommandLines();

test("README.md contains the command lines listed in NOT_STARTED", () => {
  expect(commandLines).toEqual(expect.arrayContaining(Object.keys(NOT_STARTED)));
});

for (const line of commandLines.filter((each) => !(each in NOT_STARTED))) {
  test(`the command line of README.md works: ${line}`, async () => {
    if (line.endsWith(" login")) {
      await using login = startInPty(place, [], { program: ["bash", "-c", line], environment });
      await login.waitFor("Which provider?");
      login.send("\r");
      expect(await login.exitCode).toBe(2);
      return;
    }
    if (!ON_A_SCREEN.test(line)) {
      expect(await runInShell(line)).toMatchObject({ exitCode: 0 });
      return;
    }
    await using screen = startInPty(place, [], { program: ["bash", "-c", line], environment });
    await screen.waitFor(/^scripted\/script\.json/m);
    screen.send("/quit");
    await screen.waitFor("/quit");
    screen.send("\r");
    expect(await screen.exitCode).toBe(0);
  });
}
