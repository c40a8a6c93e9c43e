import { afterEach, beforeEach, expect, test } from "bun:test";
import { type WrittenKnowledge, writeKnowledge } from "../support/knowledge-files.ts";
import { runDiligent } from "../support/run-diligent.ts";
import { runInTerminal } from "../support/run-in-terminal.ts";
import { savedMessages } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

const PORTS: WrittenKnowledge[] = [
  { id: "aaaaaaaa", content: "The API listens on port 8080." },
  { id: "bbbbbbbb", content: "The API listens on port 9090." },
];

async function run(...args: string[]) {
  const { stdout, stderr, exitCode } = await runDiligent(place, ["knowledge", ...args]);
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  return stdout;
}

const listed = async () => JSON.parse(await run("--json"));

test("knowledge review lists contradictions, stale and new entries; keep, edit and rm decide", async () => {
  place.write("src/a.ts", "new");
  writeKnowledge(
    place,
    ...PORTS,
    {
      id: "cccccccc",
      content: "Styles live in src/a.ts.",
      files: [{ path: "src/a.ts", hash: "0" }],
      daysAgo: 2,
    },
    { id: "dddddddd", content: "Deployments need a signed tag." },
  );
  const text = await run("review");
  expect(text).toContain("These may contradict each other:\n  bbbbbbbb  pattern, ");
  expect(text).toContain("Possibly stale, src/a.ts has changed since:\n  cccccccc  pattern, ");
  expect(text).toContain("New:\n  dddddddd  pattern, ");
  expect(text).toEndWith("Decide with diligent knowledge keep, edit or rm.\n");
  expect(await run("list")).toContain(
    "2 decisions about stale or contradicting entries wait for you: diligent knowledge review\n",
  );
  expect(await run("keep", "aaaaaaaa", "bbbb")).toBe("Kept: aaaaaaaa, bbbbbbbb\n");
  expect(await run("keep", "cc")).toBe("Kept: cccccccc\n");
  expect(await run("edit", "dd", "Deployments", "need two signatures.")).toMatch(
    /^Saved as [0-9a-f]{8}, which replaces dddddddd\.\n$/,
  );
  expect(await run("review")).toBe("Nothing waits for a decision.\n");
  expect(JSON.parse(await run("review", "--json"))).toEqual([]);
  const contents = (await listed()).map(({ content }: { content: string }) => content);
  expect(contents).toContain("Deployments need two signatures.");
  expect(contents).not.toContain("Deployments need a signed tag.");
});

test.each([
  [["keep"], "knowledge keep needs an ID (see diligent knowledge list)"],
  [["edit", "aaaaaaaa"], 'knowledge edit needs the new text: diligent knowledge edit ID "TEXT"'],
  [
    ["keep", "ffff"],
    "no knowledge ffff; the newest are bbbbbbbb (The API listens on port 9090.), aaaaaaaa (The API listens on port 8080.)",
  ],
  [["edit", "aaaaaaaa", " "], "Not saved: it has no visible text."],
  [["review", "x"], "knowledge review takes no id: x"],
])("knowledge %p is refused", async (args, message) => {
  writeKnowledge(place, ...PORTS);
  expect(await runDiligent(place, ["knowledge", ...args])).toMatchObject({
    stderr: `diligent: ${message}\n`,
    exitCode: 2,
  });
});

test("the number of sessions that used an entry is counted", async () => {
  writeKnowledge(place, { id: "aaaaaaaa", content: "The API listens on port 8080." });
  expect(await listed()).toMatchObject([{ id: "aaaaaaaa", uses: 0 }]);
  place.write("script.json", { version: 1, turns: [{ text: "Hello." }, { text: "Again." }] });
  for (const resumed of [[], ["-c"], []])
    expect((await runDiligent(place, ["-m", "scripted/script.json", "-p", "hi", ...resumed])).exitCode).toBe(
      0,
    );
  expect(await listed()).toMatchObject([{ id: "aaaaaaaa", uses: 3 }]);
  expect(await run("list")).toContain("used in 3 sessions");
  expect(await run("show", "aaaaaaaa")).toMatch(/^Used +in 3 sessions, last /m);
});

test("a session names an entry that a new one may contradict, and leaves the decision to the user", async () => {
  writeKnowledge(place, { id: "aaaaaaaa", content: "The API listens on port 8080." });
  const input = { type: "pattern", content: "The API listens on port 9090." };
  const turns = [{ toolCalls: [{ name: "add_knowledge", input }] }, { text: "Done." }];
  place.write("script.json", { version: 1, turns });
  await runDiligent(place, ["-m", "scripted/script.json", "-p", "hi"]);
  const result = savedMessages(place).find(({ role }) => role === "tool_result");
  expect(result?.output).toBe(
    "Knowledge saved: [pattern] The API listens on port 9090.\n" +
      "This may contradict aaaaaaaa: [pattern] The API listens on port 8080.\n" +
      "The user decides about both in /knowledge review.",
  );
});

test("on a terminal, each decision is asked for and saved at once", async () => {
  writeKnowledge(
    place,
    { id: "cccccccc", content: "Deployments need a signed tag." },
    { id: "dddddddd", content: "The logo is green, says marketing." },
    ...PORTS,
  );
  const program = runInTerminal(place, ["knowledge", "review"]);
  await program.shown("1 of 3. These may contradict each other:");
  await program.shown("[q]uit: ");
  program.type("what?\r");
  await program.shown("[q]uit: ");
  program.type("s\r");
  await program.shown("Kept aaaaaaaa, dropped bbbbbbbb.");
  await program.shown("[q]uit: ");
  program.type("e\r");
  await program.shown("New text: ");
  program.type("The logo is blue, says marketing.\r");
  await program.shown("Saved.");
  await program.shown("[q]uit: ");
  program.type("q\r");
  expect(await program.exitCode).toBe(0);
  const contents = (await listed()).map(({ content }: { content: string }) => content);
  expect(contents.sort()).toEqual([
    "Deployments need a signed tag.",
    "The API listens on port 8080.",
    "The logo is blue, says marketing.",
  ]);
  expect(await run("review")).toContain("cccccccc");
});
