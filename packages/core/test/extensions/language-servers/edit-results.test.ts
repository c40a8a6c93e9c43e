import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { loadDiligentConfig } from "../../../src/config/loader.ts";
import { LanguageServers } from "../../../src/extensions/language-servers/servers.ts";
import { BUSY_MS } from "../../support/busy-machine.ts";
import { createPatientStage } from "../../support/language-server-stage.ts";
import { call, createServerStage, type PlayedRun, type ServerStage } from "../../support/mcp-stage.ts";
import { countLeftRunning } from "../../support/process-census.ts";

const SERVER = join(import.meta.dir, "../../support/language-server.ts");

/** A project with a server for `.txt` files that behaves as it is told, and what it writes down. */
function setUp(...behaviours: string[]) {
  return setUpOn(createPatientStage(), behaviours);
}

/** The same where results wait no longer than for users. */
function setUpUsual(...behaviours: string[]) {
  return setUpOn(createServerStage(), behaviours);
}

function setUpOn(stage: ServerStage, behaviours: readonly string[]) {
  const journal = join(stage.home, "journal");
  const mark = `mark-${crypto.randomUUID()}`;
  const command = [process.execPath, SERVER, `journal=${journal}`, mark, ...behaviours];
  stage.configure({ sandbox: "off", lsp: { test: { command, extensions: ["txt"] } } });
  const put = (name: string, text: string) => {
    mkdirSync(dirname(join(stage.project, name)), { recursive: true });
    writeFileSync(join(stage.project, name), text);
  };
  return {
    ...stage,
    mark,
    put,
    notes: () => (existsSync(journal) ? readFileSync(journal, "utf8").split("\n").filter(Boolean) : []),
  };
}

const read = (file_path: string) => call("read", { file_path });
const edit = (file_path: string, old_string: string, new_string: string) =>
  call("edit", { file_path, old_string, new_string });
const DONE = { text: "Done." };

/** The outputs of the calls of one tool. */
const outputsOf = ({ results }: PlayedRun, tool: string) =>
  results.filter(({ toolName }) => toolName === tool).map(({ output }) => output);

const notices = ({ events }: PlayedRun) =>
  events.flatMap((event) =>
    event.type === "notice" && event.code === "language_server" ? [event.message] : [],
  );

const HEADING = "New error since this change, by the language server test:";

describe("the result of an edit", () => {
  test.each([
    ["published with versions", []],
    ["published without versions", ["unversioned"]],
    ["asked for", ["pull"]],
  ])("has the errors that it brought and no earlier ones, when they are %s", async (_, behaviours) => {
    const place = setUp(...behaviours);
    place.put("a.txt", "one\nBAD(old)\ntwo\nthree\n");
    const played = await place.play([
      read("a.txt"),
      edit("a.txt", "two", "BAD(new)"),
      edit("a.txt", "three", "BAD(other)"),
      edit("a.txt", "one", "zero\none"),
      edit("a.txt", "BAD(new)", "good"),
      DONE,
    ]);
    const [first, second, third, fourth] = outputsOf(played, "edit");
    expect(first).toEndWith(`(line 3).\n${HEADING}\na.txt:3:1 new is bad (7)`);
    expect(second).toEndWith(`(line 4).\n${HEADING}\na.txt:4:1 other is bad (7)`);
    expect([third, fourth].join("\n")).not.toContain("bad");
    expect(notices(played)).toEqual([]);
  });

  test("has all errors of a new file, and those of each file of a patch", async () => {
    const place = setUp("pull");
    place.put("a.txt", "one\n");
    const patch =
      "*** Begin Patch\n*** Add File: b.txt\n+BAD(b)\n*** Update File: a.txt\n-one\n+BAD(a)\n*** End Patch";
    const played = await place.play(
      [
        call("write", { file_path: "c.txt", content: "BAD(c)\nBAD(c)\n" }),
        call("apply_patch", { patch }),
        DONE,
      ],
      { approvalMode: "auto" },
    );
    const [written] = outputsOf(played, "write");
    expect(written).toEndWith("by the language server test:\nc.txt:1:1 c is bad (7)\nc.txt:2:1 c is bad (7)");
    const [patched] = outputsOf(played, "apply_patch");
    if (patched !== undefined && !patched.includes("no tool"))
      expect(patched).toEndWith("a.txt:1:1 a is bad (7)\nb.txt:1:1 b is bad (7)");
  });

  test("has the errors that it brought in another open file, and not once they are repaired", async () => {
    const place = setUp("pull");
    place.put("a.txt", "one\n");
    place.put("b.txt", "USES(word)\nx\n");
    const played = await place.play([
      ...[read("a.txt"), read("b.txt")],
      edit("b.txt", "x", "y"),
      edit("a.txt", "one", "BREAKS(word)"),
      edit("a.txt", "BREAKS(word)", "two"),
      DONE,
    ]);
    const [first, second, third] = outputsOf(played, "edit");
    expect(first).not.toContain("bad");
    expect(second).toEndWith("b.txt:1:1 word is bad (7)");
    expect(third).not.toContain("bad");
  });

  test("shows at most 20 lines, each without control characters and of a limited length", async () => {
    const place = setUp("pull");
    const word = "w".repeat(2_000);
    place.put("a.txt", "one\n");
    const lines = Array.from({ length: 60 }, (_, index) => `BAD(${index === 0 ? word : `e${index}`})`);
    const played = await place.play([read("a.txt"), edit("a.txt", "one", lines.join("\n")), DONE]);
    const [output = ""] = outputsOf(played, "edit");
    const shown = output.split("\n").slice(1);
    expect(shown).toHaveLength(20);
    expect(shown.at(-1)).toBe("… 42 more.");
    expect(shown.every((line) => line.length < 350)).toBe(true);
  });

  test("does not wait for a server that still starts, and a later result has what is still true", async () => {
    const stage = createServerStage();
    stage.configure({ sandbox: "off" });
    const loaded = await loadDiligentConfig(stage.project, stage.environment);
    const gate = join(stage.home, "gate");
    const command = [process.execPath, SERVER, "pull", `gate=${gate}`];
    const servers = new LanguageServers({
      definitions: [{ name: "test", command, extensions: [".txt"], origin: "user" }],
      loaded,
      environment: stage.environment,
      notify: () => {},
      limits: { waitMs: 100 },
    });
    const change = (name: string, before: string, after: string) => {
      const realPath = join(loaded.projectRoot, name);
      writeFileSync(realPath, after);
      return servers.report([{ realPath, before }], new AbortController().signal);
    };
    const early = [
      await change("a.txt", "one\ntwo\n", "BAD(late)\ntwo\n"),
      await change("a.txt", "BAD(late)\ntwo\n", "BAD(late)\nBAD(repaired)\n"),
      await change("a.txt", "BAD(late)\nBAD(repaired)\n", "BAD(late)\nthree\n"),
    ];
    expect(early).toEqual(["", "", ""]);
    writeFileSync(gate, "");
    let found = "";
    const deadline = performance.now() + BUSY_MS;
    for (let count = 0; found === "" && performance.now() < deadline; count++) {
      found = await change("b.txt", "one\n", `one ${count}\n`);
      await Bun.sleep(20);
    }
    await servers.close();
    expect(found).toBe(`${HEADING}\na.txt:1:1 late is bad (7)`);
  });
});

describe("a server that misbehaves", () => {
  test.each([
    ["publishes for an older version", ["stale", "silent"]],
    ["publishes for other files", ["other-files", "silent"]],
    ["publishes nothing", ["silent"]],
    ["reports progress without an end", ["progress", "silent"]],
    ["never starts", ["never-starts"]],
    ["stops answering", ["hang", "pull"]],
  ])("that %s adds nothing to the result, which waits no longer than its limit", async (_, behaviours) => {
    const place = setUpUsual(...behaviours);
    place.put("a.txt", "one\ntwo\n");
    const begin = performance.now();
    const played = await place.play([
      read("a.txt"),
      edit("a.txt", "one", "BAD(new)"),
      edit("a.txt", "two", "BAD(more)"),
      DONE,
    ]);
    expect(outputsOf(played, "edit").join("\n")).not.toContain("bad");
    expect(performance.now() - begin).toBeLessThan(2 * 1_500 + BUSY_MS);
    expect(await countLeftRunning(place.mark)).toBe(0);
  });

  test("cannot change files: the edits that it wants to make are refused", async () => {
    const place = setUp("apply-edit", "pull");
    place.put("a.txt", "one\n");
    await place.play([read("a.txt"), edit("a.txt", "one", "two"), DONE]);
    const answers = place.notes().filter((line) => line.startsWith("answer edit-"));
    expect(answers.length).toBeGreaterThan(0);
    expect(answers.every((line) => line.includes('"applied":false'))).toBe(true);
    expect(readFileSync(join(place.project, "a.txt"), "utf8")).toBe("two\n");
  });

  test.each([
    ["floods", "flood", "sends more than a server can have to say"],
    ["sends no protocol", "garbage", "does not speak the language server protocol"],
    ["announces a huge message", "huge", "has sent a message of more than 16 MB"],
    ["crashes", "crash", "has ended unexpectedly"],
  ])(
    "that %s is started once more, then it is not used, and the reason is said once",
    async (_, behaviour, reason) => {
      const place = setUp(behaviour, "pull");
      place.put("a.txt", "one\ntwo\nthree\nfour\n");
      // The brackets keep the pattern from matching the command itself.
      const isGone = `while pgrep -f '[${place.mark[0]}]${place.mark.slice(1)}'; do sleep 0.1; done`;
      const step = (from: string) => [edit("a.txt", from, `${from}!`), call("bash", { command: isGone })];
      const played = await place.play(
        [read("a.txt"), ...["one", "two", "three", "four"].flatMap(step), DONE],
        {
          approvalMode: "auto",
        },
      );
      expect(outputsOf(played, "edit").every((output) => output.startsWith("Edited"))).toBe(true);
      expect(notices(played)).toEqual([expect.stringContaining(reason)]);
      expect(place.notes().filter((line) => line === "started")).toHaveLength(2);
      expect(await countLeftRunning(place.mark)).toBe(0);
    },
    // A busy machine takes long to flood.
    180_000,
  );
});

describe("the processes of a server", () => {
  test("are started with the first edit of a file of its languages, and end with the harness", async () => {
    const place = setUp("ignore-end", "ignore-term", "pull");
    place.put("a.txt", "one\n");
    place.put("b.md", "one\n");
    await place.play([read("a.txt"), read("b.md"), edit("b.md", "one", "two"), DONE]);
    expect(place.notes()).toEqual([]);
    await place.play([read("a.txt"), edit("a.txt", "one", "two"), DONE]);
    expect(place.notes()).toContain("started");
    expect(await countLeftRunning(place.mark)).toBe(0);
  });
});
