import { afterEach, beforeEach, expect, test } from "bun:test";
import { runDiligent } from "../support/run-diligent.ts";
import { savedMessages } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
  for (const directory of ["a", "b", "c"]) place.write(`${directory}/file.txt`, "x");
});

afterEach(() => place.remove());

const CONTENT = "Tests of this project run with bun.";
const look = (...paths: string[]) => ({ toolCalls: paths.map((path) => ({ name: "ls", input: { path } })) });
const record = { toolCalls: [{ name: "add_knowledge", input: { type: "pattern", content: CONTENT } }] };
const answer = { text: "Done." };

/** Plays the turns, the first of them in the first run and the others in one that continues it. */
async function play(
  runs: readonly object[][],
  knowledge: object,
  args: readonly string[] = [],
): Promise<void> {
  place.write("diligent.jsonc", { knowledge });
  place.write("script.json", { version: 1, turns: runs.flat() });
  for (const index of runs.keys()) {
    const words = ["-m", "scripted/script.json", "-p", "go", ...(index > 0 ? ["-c"] : []), ...args];
    const { exitCode } = await runDiligent(place, words);
    expect(exitCode).toBe(0);
  }
}

/** For each result, whether it ends with a reminder. */
function reminders(): boolean[] {
  return savedMessages(place)
    .filter(({ role }) => role === "tool_result")
    .map(({ output }) => String(output).includes("[Reminder: "));
}

test("the model is reminded to record knowledge after the configured number of replies, at the end of the last result", async () => {
  await play([[look("."), look("a", "b"), look("c"), look("."), answer]], { nudgeInterval: 2 });
  expect(reminders()).toEqual([false, false, true, false, true]);
  expect(String(savedMessages(place).findLast(({ role }) => role === "tool_result")?.output)).toEndWith(
    "\n\n[Reminder: The last 2 turns have recorded no knowledge. If you have learned something that later sessions in " +
      "this project should know, record it now with add_knowledge; otherwise continue.]",
  );
});

test("recording knowledge restarts the count for the reminder", async () => {
  await play([[look("."), record, look("."), look("."), answer]], { nudgeInterval: 2 });
  expect(reminders()).toEqual([false, false, false, true]);
});

test("the count for the reminder continues in a later run and includes answers without calls", async () => {
  const runs = [
    [look("."), answer],
    [look("."), answer],
  ];
  await play(runs, { nudgeInterval: 3 });
  expect(reminders()).toEqual([false, true]);
});

test.each<[string, object, string[]]>([
  ["if no interval is set", {}, []],
  ["without knowledge", { nudgeInterval: 1, enabled: false }, []],
  ["if nothing may be recorded", { nudgeInterval: 1 }, ["--approval", "plan"]],
])("the model gets no reminder %s", async (_, knowledge, args) => {
  await play([[look("."), look("."), answer]], knowledge, args);
  expect(reminders()).toEqual([false, false]);
});
