import { afterEach, beforeEach, expect, test } from "bun:test";
import { appendInputHistory } from "@diligent/core/run";
import { writeKnowledge } from "../../support/knowledge-files.ts";
import { runDiligent } from "../../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../../support/temporary-project.ts";
import { TypedCommands, writeScript } from "../../support/typed-commands.ts";

let place: TemporaryProject;
let program: TypedCommands | undefined;

beforeEach(() => {
  place = createTemporaryProject();
  writeScript(place, "one");
});

afterEach(async () => {
  await program?.close();
  place.remove();
});

async function start(): Promise<TypedCommands> {
  program = await new TypedCommands(place).open();
  return program;
}

test("/knowledge lists the highest score first, and choosing an entry shows its details", async () => {
  writeKnowledge(
    place,
    { id: "aaaa1111", content: "old \x1b[31mtext", daysAgo: 60 },
    { id: "bbbb2222", content: "use tabs", type: "correction", tags: ["style"] },
  );
  const typed = await start();
  await typed.run("/memory");
  expect(typed.items).toEqual([">use tabs", " old \\x1b[31mtext"]);
  expect(typed.dialog?.items[0]?.detail).toBe("correction · 0.80 · 1 minute ago");
  await typed.press("style", "enter");
  const [shown = ""] = typed.take("output");
  expect(shown).toMatch(/^Knowledge +bbbb2222\nType +correction\n/);
  expect(shown).toContain("    use tabs");
});

test("an entry is forgotten after a confirmation, with those that it had replaced", async () => {
  writeKnowledge(
    place,
    { id: "aaaa1111", content: "use spaces" },
    { id: "bbbb2222", content: "use tabs", supersedes: "aaaa1111" },
    { id: "cccc3333", content: "tests are in test/" },
  );
  const typed = await start();
  await typed.run("/knowledge");
  await typed.press("tabs", "ctrl+d");
  expect(typed.dialog?.question).toBe("Forget “use tabs” and the entries it replaced?");
  await typed.press("n", "ctrl+d", "y", "ctrl+u");
  await typed.settle();
  expect(typed.items).toEqual([">tests are in test/"]);
  expect(typed.take("notice")).toEqual([expect.stringMatching(/^Forgotten: use tabs\./)]);
  const { stdout } = await runDiligent(place, ["knowledge", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject([{ id: "cccc3333" }]);
});

test("a correction is put into the editor, for the model to record", async () => {
  writeKnowledge(place, { id: "aaaa1111", content: "use spaces" });
  const typed = await start();
  await typed.run("/knowledge");
  await typed.press("ctrl+e");
  expect(typed.dialog).toBeUndefined();
  expect(typed.text).toContain("“use spaces”");
  expect(typed.text).toContain('supersedes "aaaa1111"');
});

test("/knowledge says on one line that there is none, or that its file cannot be trusted", async () => {
  const typed = await start();
  await typed.run("/knowledge");
  expect(typed.take()).toEqual(["No knowledge about this project yet."]);
});

test("/history finds earlier prompts of all sessions and puts one into the editor", async () => {
  const typed = await start();
  appendInputHistory(typed.io.environment, { cwd: "/elsewhere", text: "from another project" });
  await typed.say("fix the parser\nand its tests");
  await typed.press("ctrl+r");
  expect(typed.items).toEqual([">fix the parser and its tests", " from another project"]);
  await typed.press("parser", "enter");
  expect(typed.text).toBe("fix the parser\nand its tests");
});

test("/history says so if there are no prompts", async () => {
  const typed = await start();
  await typed.run("/history");
  expect(typed.take()).toEqual(["No prompts yet."]);
});

test("/knowledge review lists what waits for a decision, and asks again for the rest after each one", async () => {
  writeKnowledge(
    place,
    { id: "aaaa1111", content: "The API listens on port 8080." },
    { id: "bbbb2222", content: "The API listens on port 9090." },
    { id: "cccc3333", content: "Deployments need a signed tag." },
    { id: "dddd4444", content: "The logo is green." },
  );
  const typed = await start();
  await typed.run("/knowledge review");
  expect(typed.items).toEqual([
    ">The API listens on port 9090.",
    " The logo is green.",
    " Deployments need a signed tag.",
  ]);
  expect(typed.dialog?.items.map(({ detail }) => detail)).toEqual([
    "may contradict: The API listens on port 8080.",
    "new",
    "new",
  ]);
  await typed.press("enter");
  expect(typed.items).toEqual([">Keep only", " Keep only", " Keep both", " Edit", " Edit", " Show"]);
  await typed.press("enter");
  await typed.settle();
  expect(typed.items).toEqual([">The logo is green.", " Deployments need a signed tag."]);
  await typed.press("enter", "enter");
  await typed.settle();
  expect(typed.items).toEqual([">Deployments need a signed tag."]);
  await typed.press("enter", "down", "down", "enter");
  await typed.settle();
  expect(typed.dialog).toBeUndefined();
  await typed.run("/knowledge review");
  expect(typed.take("notice").at(-1)).toBe("Nothing waits for a decision.");
  const { stdout } = await runDiligent(place, ["knowledge", "--json"]);
  expect(
    JSON.parse(stdout)
      .map(({ id }: { id: string }) => id)
      .sort(),
  ).toEqual(["bbbb2222", "dddd4444"]);
});

test("/knowledge edit replaces the text of an entry, and other words are refused", async () => {
  writeKnowledge(place, { id: "aaaa1111", content: "The logo is green." });
  const typed = await start();
  await typed.run("/knowledge review");
  await typed.press("enter", "down", "enter");
  await typed.settle();
  await typed.run("/knowledge edit aaaa1111 The logo is blue.");
  expect(typed.take("notice").at(-1)).toMatch(/^Saved as [0-9a-f]{8}\. The prompt of this session/);
  await typed.run("/knowledge edit aaaa1111 Again.");
  expect(typed.take("notice").at(-1)).toBe("error: There is no knowledge with the id aaaa1111.");
  await typed.run("/knowledge other");
  expect(typed.take("notice").at(-1)).toBe(
    "error: Type /knowledge, /knowledge review or /knowledge edit ID TEXT.",
  );
});

test("a decision about entries that were decided elsewhere meanwhile changes nothing", async () => {
  writeKnowledge(
    place,
    { id: "aaaa1111", content: "The API listens on port 8080." },
    { id: "bbbb2222", content: "The API listens on port 9090." },
  );
  const typed = await start();
  await typed.run("/knowledge review");
  await typed.press("enter");
  await runDiligent(place, ["knowledge", "rm", "bbbb2222"]);
  await typed.press("enter");
  await typed.settle();
  expect(typed.take("notice")).toEqual(["Nothing was changed: this was decided elsewhere meanwhile."]);
  const { stdout } = await runDiligent(place, ["knowledge", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject([{ id: "aaaa1111" }]);
});
