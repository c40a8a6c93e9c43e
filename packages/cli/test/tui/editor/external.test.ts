import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readCommandWords } from "../../../src/tui/editor/completion.ts";
import { editExternally } from "../../../src/tui/prompt/external-editor.ts";
import { createTemporaryProject } from "../../support/temporary-project.ts";

const place = createTemporaryProject();
afterAll(place.remove);

let scripts = 0;

/** The cleanup that would run if the program ended now. */
const lastCleanUps = new Set<() => void>();

/**
 * A program that runs these shell lines with its last argument, the file; `$1` and so on are the words
 * before.
 */
function makeEditor(...lines: string[]): string {
  const path = join(place.top, `editor ${++scripts}`);
  writeFileSync(path, ["#!/bin/sh", 'for file in "$@"; do :; done', ...lines].join("\n"), { mode: 0o755 });
  return path;
}

async function edit(
  text: string,
  variables: Record<string, string>,
  { whileLent = () => {}, ...more }: { temporaryDirectory?: string; whileLent?: () => void } = {},
) {
  const calls: string[] = [];
  const result = await editExternally(text, {
    environment: { PATH: process.env.PATH, ...variables },
    cwd: place.project,
    root: place.project,
    async lendTerminal(run) {
      calls.push("lent");
      try {
        const running = run(new AbortController().signal);
        whileLent();
        return await running;
      } finally {
        calls.push("returned");
      }
    },
    onAnyExit(cleanUp) {
      lastCleanUps.add(cleanUp);
      return () => lastCleanUps.delete(cleanUp);
    },
    temporaryDirectory: place.temporary,
    ...more,
  });
  return { result, calls };
}

test("the text goes to the editor in a private file and returns edited; the file is removed", async () => {
  const editor = makeEditor(
    `stat -c '%a' "$file" > ${place.top}/mode`,
    `echo "$file" > ${place.top}/path`,
    'echo "more text" >> "$file"',
  );
  const { result, calls } = await edit("one\ttwo\n", { EDITOR: `"${editor}"` });
  expect(result).toEqual({ text: "one\ttwo\nmore text" });
  expect(calls).toEqual(["lent", "returned"]);
  expect(readFileSync(join(place.top, "mode"), "utf8").trim()).toBe("600");
  expect(readFileSync(join(place.top, "path"), "utf8")).toStartWith(place.temporary);
  expect(readdirSync(place.temporary)).toEqual([]);
});

test("the file is also removed if the program ends while the editor is open", async () => {
  const seen: number[] = [];
  const look = () => seen.push(readdirSync(place.temporary).length);
  const whileLent = () => {
    look();
    for (const cleanUp of lastCleanUps) cleanUp();
    look();
  };
  await edit("mine", { EDITOR: "true" }, { whileLent });
  expect(seen).toEqual([1, 0]);
  expect(lastCleanUps.size).toBe(0);
});

test("$VISUAL takes precedence over $EDITOR, and may have arguments", async () => {
  const editor = makeEditor('echo "$1 $2" > "$file"');
  const words = { VISUAL: `'${editor}' -w "a b"`, EDITOR: "false" };
  expect((await edit("", words)).result).toEqual({ text: "-w a b" });
});

test("control characters typed in the editor are removed", async () => {
  const editor = makeEditor(`printf 'a\\033[31mb\\r\\nc' > "$file"`);
  expect((await edit("", { EDITOR: `'${editor}'` })).result).toEqual({ text: "a[31mb\nc" });
});

test("an editor that fails changes nothing, and the terminal is taken back", async () => {
  const editor = makeEditor('echo changed > "$file"', "exit 3");
  const { result, calls } = await edit("mine", { EDITOR: `'${editor}'` });
  expect(result).toEqual({ error: `editor ${scripts} exited with code 3; the prompt is unchanged` });
  expect(calls).toEqual(["lent", "returned"]);
  expect(readdirSync(place.temporary)).toEqual([]);
});

test("an editor that is killed changes nothing", async () => {
  const editor = makeEditor("kill -9 $$");
  expect((await edit("mine", { EDITOR: `'${editor}'` })).result).toEqual({
    error: `editor ${scripts} was killed by SIGKILL; the prompt is unchanged`,
  });
});

test("invalid UTF-8 is replaced by U+FFFD, and a deleted file is reported", async () => {
  const latin = makeEditor(`printf 'gr\\374n' > "$file"`);
  expect((await edit("", { EDITOR: `'${latin}'` })).result).toEqual({ text: "gr\ufffdn" });
  const remover = makeEditor('rm "$file"');
  expect((await edit("", { EDITOR: `'${remover}'` })).result).toEqual({
    error: expect.stringContaining("does not exist (ENOENT)"),
  });
});

test("a missing editor is reported with how to set one", async () => {
  const hint = "Set $VISUAL or $EDITOR to an editor, such as EDITOR=nano";
  expect(await edit("", {})).toEqual({ result: { error: hint }, calls: [] });
  expect(await edit("", { EDITOR: "no-such-editor -x" })).toEqual({
    result: { error: `The editor no-such-editor was not found in PATH. ${hint}` },
    calls: [],
  });
  const { result, calls } = await edit("", { EDITOR: "/no/such/editor" });
  expect(result).toEqual({ error: expect.stringContaining("/no/such/editor could not be started") });
  expect(calls).toEqual(["lent", "returned"]);
});

test("a program in the project is not run, and no file is created there", async () => {
  const bin = join(place.project, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "sneaky"), `#!/bin/sh\ntouch ${place.top}/ran\n`, { mode: 0o755 });
  const { result } = await edit("", { EDITOR: "sneaky", PATH: `${bin}:/usr/bin:/bin` });
  expect(result).toEqual({ error: expect.stringContaining("was not found in PATH") });
  const inProject = await edit("", { EDITOR: "true" }, { temporaryDirectory: bin });
  expect(inProject.result).toEqual({ error: expect.stringContaining("is inside the project") });
});

test("the editor gets only listed variables, and so no key", async () => {
  const editor = makeEditor('env > "$file"');
  const { result } = await edit("", {
    EDITOR: `'${editor}'`,
    ANTHROPIC_API_KEY: "secret-1",
    OPENAI_API_KEY: "secret-2",
    MY_TOKEN: "secret-3",
    DB_PASSWORD: "secret-4",
    TERM: "xterm",
    DISPLAY: ":0",
    DATABASE_URL: "secret-5",
  });
  const text = "text" in result ? result.text : "";
  expect(text).not.toContain("secret-");
  for (const line of ["TERM=xterm", "DISPLAY=:0"]) expect(text).toContain(line);
});

describe("the words of a command line", () => {
  for (const [line, words] of [
    ["code -w", ["code", "-w"]],
    ["  vim  ", ["vim"]],
    [`"/opt/my editor" --wait 'a "b"'`, ["/opt/my editor", "--wait", 'a "b"']],
    ["/opt/my\\ editor", ["/opt/my editor"]],
    [`a"b c"'d'e`, ["ab cde"]],
    [`x ""`, ["x", ""]],
    [`"say \\"hi\\""`, ['say "hi"']],
    ["a $(touch b); c", ["a", "$(touch", "b);", "c"]],
    [`"open`, undefined],
    ["it's", undefined],
    ["a\\", undefined],
    ["", undefined],
  ] as const)
    test(`${JSON.stringify(line)} is ${JSON.stringify(words)}`, () => {
      expect(readCommandWords(line)).toEqual(words === undefined ? undefined : [...words]);
    });
});
