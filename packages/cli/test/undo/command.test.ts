import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { findBoxProblem } from "../../../core/test/support/boxed-project.ts";
import { describeRepository, fillRepository } from "../../../core/test/support/git-repository.ts";
import { runDiligent, startDiligent } from "../support/run-diligent.ts";
import { savedMessages, sessionIds } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

const problem = await findBoxProblem();

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
  place.write("a.txt", "one\n");
  mkdirSync(join(place.project, "untracked"));
  place.write("untracked/work.bin", "\0\x01work");
});

afterEach(() => place.remove());

const read = (name: string) => readFileSync(join(place.project, name), "utf8");
const bash = (command: string) => ({ toolCalls: [{ name: "bash", input: { command } }] });
const DESTRUCTIVE = "rm -rf untracked && printf 'two\\n' > a.txt && mkdir made && touch made/new";

async function run(turns: object[], ...args: string[]) {
  place.write("script.json", { version: 1, turns: [...turns, { text: "Done." }] });
  return runDiligent(place, ["-p", "go", "-m", "scripted/script.json", "--approval", "auto", ...args]);
}

async function undo(...args: string[]) {
  const { stdout, stderr, exitCode } = await runDiligent(place, ["undo", ...args]);
  return { stdout, stderr, exitCode };
}

test("undo reverts the shell's changes of a run from outside, untracked files too, and redo restores them", async () => {
  expect((await run([bash(DESTRUCTIVE)])).exitCode).toBe(0);
  expect(existsSync(join(place.project, "untracked"))).toBe(false);
  expect(await undo()).toEqual({
    stdout: [
      "Undid the changes of the last prompt that changed files: 5 paths.",
      "  ± a.txt",
      "  − made",
      "  − made/new",
      "  + untracked",
      "  + untracked/work.bin",
      "",
    ].join("\n"),
    stderr: "",
    exitCode: 0,
  });
  expect([read("a.txt"), read("untracked/work.bin")]).toEqual(["one\n", "\0\x01work"]);
  expect(existsSync(join(place.project, "made"))).toBe(false);
  expect((await undo()).stdout).toBe("No session of this project has anything to undo.\n");
  expect((await undo("--redo")).stdout).toStartWith("Restored what was undone: 5 paths.\n");
  expect(read("a.txt")).toBe("two\n");
});

test("undo notifies the model with the session's next prompt", async () => {
  await run([bash(DESTRUCTIVE)]);
  await undo();
  const note = savedMessages(place).at(-1);
  expect(note?.role).toBe("user");
  expect(note?.content).toStartWith("[The user has undone your changes in these files.");
  expect(note?.content).toEndWith("\na.txt\nmade\nmade/new\nuntracked\nuntracked/work.bin");
  const resumed = await run([bash(DESTRUCTIVE), { text: "Again." }], "-c");
  expect([resumed.exitCode, sessionIds(place).length]).toEqual([0, 1]);
});

test("undo leaves later changes of the user unchanged and exits with 1", async () => {
  await run([bash(DESTRUCTIVE)]);
  place.write("a.txt", "mine\n");
  const { stdout, exitCode } = await undo();
  expect(stdout).toContain("\n  ! a.txt: changed since; left unchanged\n");
  expect([read("a.txt"), read("untracked/work.bin"), exitCode]).toEqual(["mine\n", "\0\x01work", 1]);
});

test("undo --dry-run changes nothing, --json is for programs, --session selects a session", async () => {
  await run([bash("printf 'two\\n' > a.txt")]);
  const [sessionId] = sessionIds(place);
  const planned = await undo("--dry-run", "--json", "--session", "1");
  // The duration of the command is printed from one second on, which it may take on a busy machine.
  expect({ ...JSON.parse(planned.stdout), callMs: undefined }).toEqual({
    sessionId,
    move: "undo",
    restored: [{ path: "a.txt", how: "changed" }],
    conflicts: [],
    notKept: [],
    failures: [],
    wasCutOff: false,
    isDryRun: true,
  });
  expect(read("a.txt")).toBe("two\n");
  expect((await undo("--session", sessionId ?? "none")).exitCode).toBe(0);
  expect(read("a.txt")).toBe("one\n");
  expect(await undo("--json", "--session", "1")).toEqual({ stdout: "null\n", stderr: "", exitCode: 0 });
});

describe("undo refuses", () => {
  const cases: [string, string[], string][] = [
    ["a session that there is not", ["--session", "9"], "diligent: no session 9"],
    ["a word", ["a.txt"], "diligent: undo takes no arguments: a.txt"],
    ["an unknown option", ["--rdeo"], "diligent: undo: unknown option --rdeo (did you mean --redo?)"],
  ];
  for (const [name, args, line] of cases) {
    test(`${name} with exit code 2`, async () => {
      await run([bash("touch b.txt")]);
      const { stderr, exitCode } = await undo(...args);
      expect([exitCode, stderr.split("\n").length]).toEqual([2, 2]);
      expect(stderr).toStartWith(line);
    });
  }
});

test("--no-session records nothing for undo, and a session that only reads leaves nothing behind", async () => {
  const state = join(place.home, ".local/state/diligent/checkpoints");
  await run([bash("touch b.txt")], "--no-session");
  expect(existsSync(state)).toBe(false);
  rmSync(join(place.project, "b.txt"));
  await run([{ toolCalls: [{ name: "ls", input: {} }], delayMs: 300 }]);
  const files = existsSync(state) ? readdirSync(state, { recursive: true, withFileTypes: true }) : [];
  expect(files.filter((entry) => entry.isFile()).map(({ name }) => name)).toEqual([]);
  expect((await undo()).stdout).toContain("No session of this project");
});

test("a file must be read again before the model edits it after an undo", async () => {
  const write = (content: string) => ({
    toolCalls: [{ name: "write", input: { file_path: "a.txt", content } }],
  });
  await run([{ toolCalls: [{ name: "read", input: { file_path: "a.txt" } }] }, write("two\n")]);
  await undo();
  expect(read("a.txt")).toBe("one\n");
});

/** Resolves when the working process has given a sign of life after the change of the file. */
async function signOfLife(): Promise<void> {
  const checkpoints = join(place.home, ".local/state/diligent/checkpoints");
  const changedMs = statSync(join(place.project, "a.txt")).ctimeMs;
  const logs = () => [...new Bun.Glob("**/*.jsonl").scanSync({ cwd: checkpoints, absolute: true })];
  // The file system's clock may be behind.
  while (!logs().some((log) => statSync(log).mtimeMs > changedMs + 100)) await Bun.sleep(10);
}

test("undo skips and names the changes of a killed turn, and reverts them on request", async () => {
  place.write("script.json", { version: 1, turns: [bash("echo two > a.txt; sleep 20")] });
  const args = ["-p", "go", "-m", "scripted/script.json", "--approval", "auto"];
  const killed = startDiligent(place, args);
  while (read("a.txt") !== "two\n") await Bun.sleep(10);
  await signOfLife();
  killed.process.kill("SIGKILL");
  await killed.process.exited;
  place.write("mine.txt", "mine\n");
  expect(await undo()).toEqual({
    stdout: [
      "Nothing was undone.",
      "A turn was interrupted, so its changes are unknown; it was skipped. Changed since it started: 2 paths.",
      "  ? a.txt",
      "  ? mine.txt",
      "diligent undo --cut-off undoes what changed before its last recorded activity.",
      "",
    ].join("\n"),
    stderr: "",
    exitCode: 1,
  });
  const asked = await undo("--cut-off");
  expect([asked.exitCode, asked.stdout]).toEqual([2, ""]);
  expect(asked.stderr).toBe("diligent: Undo that? No terminal to confirm; use --yes\n");
  expect(read("a.txt")).toBe("two\n");
  const { stdout } = await undo("--cut-off", "--yes");
  expect(stdout).toContain("  ± a.txt\n  ! mine.txt: changed after the run was cut off; left unchanged\n");
  expect([read("a.txt"), read("mine.txt")]).toEqual(["one\n", "mine\n"]);
});

test("the changes of a deleted session stay, and are not undone by mistake", async () => {
  await run([bash(DESTRUCTIVE)]);
  await runDiligent(place, ["sessions", "rm", "1", "--yes"]);
  expect((await undo()).stdout).toBe("No session of this project has anything to undo.\n");
  expect(read("a.txt")).toBe("two\n");
});

test("a repository destroyed by a script without a question is restored with its commits, stashes and reflogs", async () => {
  fillRepository(place.project);
  const isBoxed = problem === undefined;
  const wipe = "printf 'find .git -delete\\n' > wipe.sh; sh wipe.sh; rm wipe.sh; ls";
  const turns = [bash(wipe), { text: "Done." }];
  place.write("script.json", { version: 1, turns });
  appendFileSync(join(place.project, ".git/info/exclude"), ".diligent\n");
  const { objects: kept, ...before } = describeRepository(place.project);
  // Without a sandbox it would ask.
  const { exitCode } = await runDiligent(place, ["-p", "go", "-m", "scripted/script.json"]);
  expect(exitCode).toBe(isBoxed ? 0 : 4);
  if (isBoxed) expect((await undo()).stdout).toContain("± .git (");
  const { objects, ...after } = describeRepository(place.project);
  expect(after).toEqual(before);
  expect(kept.filter((line) => !objects.includes(line))).toEqual([]);
});

test("a repository destroyed by a script is named on stderr, then and by later runs, until it is restored", async () => {
  fillRepository(place.project);
  place.write("wipe.sh", "find .git -delete\n");
  const first = await run([bash("sh wipe.sh")]);
  const loss =
    /warning: A command removed HEAD, 4 refs \(main, topic, stash, tags\/v1\) and \d+ objects from \.git: diligent undo restores what it removed\.\n/;
  expect(first.stderr).toMatch(loss);
  const missing =
    /warning: A command of this session removed HEAD, .* from \.git, still missing: diligent undo restores what it removed\.\n/g;
  for (let time = 0; time < 2; time++) {
    const again = await run([{ text: "Again." }, { text: "Once more." }, { text: "And." }], "-c");
    expect(again.stderr.match(missing)).toHaveLength(1);
  }
  await undo();
  const restored = await run([{ text: "1" }, { text: "2" }, { text: "3" }, { text: "4" }], "-c");
  expect(restored.stderr).not.toContain("still missing");
});

describe("in the mode auto, a destroyed repository", () => {
  const RUNS: Readonly<Record<string, { sandbox?: "off"; args: readonly string[] }>> = {
    "with a session, without a sandbox": { sandbox: "off", args: [] },
    "without a session": { args: ["--no-session"] },
    "without either": { sandbox: "off", args: ["--no-session"] },
  };
  for (const [name, { sandbox, args }] of Object.entries(RUNS)) {
    for (const command of ["rm -rf .git", "sh wipe.sh"]) {
      test(`${name}, is named and restored: ${command}`, async () => {
        if (sandbox) place.configure({ sandbox });
        fillRepository(place.project);
        appendFileSync(join(place.project, ".git/info/exclude"), ".diligent\nscript.json\nwipe.sh\n");
        place.write("wipe.sh", "find .git -delete\n");
        const { objects: kept, ...before } = describeRepository(place.project);
        const { stderr } = await run([bash(command)], ...args);
        expect(stderr).toMatch(
          /warning: A command removed HEAD, 4 refs \(.*\) and \d+ objects from \.git: diligent undo/,
        );
        expect((await undo()).stdout).toContain("± .git (");
        const { objects, ...after } = describeRepository(place.project);
        expect(after).toEqual(before);
        expect(kept.filter((line) => !objects.includes(line))).toEqual([]);
      });
    }
  }

  test("without a session leaves no file when nothing was lost", async () => {
    fillRepository(place.project);
    await run([bash("echo x > x.txt")], "--no-session");
    const state = join(place.home, ".local", "state");
    const files = existsSync(state)
      ? [...new Bun.Glob("**/checkpoints/**").scanSync({ cwd: state, dot: true })]
      : [];
    expect([files, read("x.txt")]).toEqual([[], "x\n"]);
  });

  test("that could not be restored is not destroyed unasked: the refusal names the rule", async () => {
    place.configure({ sandbox: "off" });
    fillRepository(place.project);
    place.write("script.json", { version: 1, turns: [bash("ls && rm -rf .git"), { text: "Done." }] });
    const options = { environment: { XDG_STATE_HOME: "/dev/null/none" } };
    const args = ["-p", "go", "-m", "scripted/script.json", "--approval", "auto", "--no-session"];
    const refused = await runDiligent(place, args, options);
    const rule = { permission: "execute", pattern: "rm -rf .git", action: "allow" };
    expect([refused.exitCode, existsSync(join(place.project, ".git/HEAD"))]).toEqual([4, true]);
    expect(refused.stderr).toContain(
      `bash: ls && rm -rf .git needed an approval for rm -rf .git and no one could give it; the rule ${JSON.stringify(rule)} in "permissions" allows this`,
    );
    place.configure({ sandbox: "off", permissions: [rule] });
    expect((await runDiligent(place, args, options)).exitCode).toBe(0);
    expect(existsSync(join(place.project, ".git"))).toBe(false);
  });
});
