// biome-ignore-all lint/suspicious/noControlCharactersInRegex: the tests look for control sequences
import { afterEach, beforeEach, expect, test } from "bun:test";
import { type PtyOptions, type PtyProgram, startInPty } from "../support/pty-program.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
  // Without a sandbox, commands need approval.
  place.write("../home/.config/diligent/diligent.jsonc", { sandbox: "off" });
  place.write("script.json", {
    version: 1,
    turns: [
      { text: "I ask.", toolCalls: [{ name: "bash", input: { command: "touch made" } }] },
      { text: "Done." },
    ],
  });
});

afterEach(() => place.remove());

function start(options?: PtyOptions): PtyProgram {
  return startInPty(place, ["--model", "scripted/script.json"], options);
}

test("the title follows the run, a question rings if the focus is elsewhere, and focus reports type nothing", async () => {
  await using program = start();
  await program.waitUntil((_, { title }) => title === "diligent – project");
  program.send("\x1b[Ogo\x1b[I\x1b[O\r");
  await program.waitFor("? Reason: ");
  await program.waitUntil((_, { title }) => title === "? diligent – project");
  expect((await program.scrollback()).filter((row) => row.startsWith("> "))).toEqual(["> go"]);
  expect(program.bytes.replaceAll(/\x1b\][^\x07]*\x07/g, "").split("\x07")).toHaveLength(2);
  expect(program.bytes).toContain("● diligent – project");
});

test("title and notifications can be turned off in the user's configuration", async () => {
  place.write("../home/.config/diligent/diligent.jsonc", {
    sandbox: "off",
    terminal: { title: false, notify: "off" },
  });
  await using program = start();
  await program.waitFor("scripted/script.json");
  program.send("go\r");
  await program.waitFor("? Reason: ");
  expect(program.terminal.modes.sendFocusMode).toBe(false);
  expect(program.bytes).not.toMatch(/\x07|\x1b\]0;|\x1b\[22;0t|\x1b\[\?1004h/);
});

test("a project's name is safe in the title, whatever it is", async () => {
  place.remove();
  place = createTemporaryProject();
  const name = "a\x1b]0;evil\x07b";
  place.write(`${name}/script.json`, { version: 1, turns: [] });
  place.write(`${name}/.git/HEAD`, "");
  await using program = start({ cwd: `${place.project}/${name}` });
  await program.waitUntil((_, { title }) => title === "diligent – a\\x1b]0;evil\\x07b");
});

test.each([
  ["--plain-ui", {}],
  ["--verbose", { TERM: "dumb" }],
])("line mode (%s, %j) has neither title nor focus reports nor bell", async (option, environment) => {
  await using program = startInPty(place, ["--model", "scripted/script.json", option], { environment });
  await program.waitFor("diligent>");
  program.send("go\r");
  await program.waitFor("Allow it?");
  expect(program.bytes).not.toMatch(/[\x07\x1b]/);
});
