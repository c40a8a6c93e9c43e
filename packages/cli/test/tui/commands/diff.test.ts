import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createTemporaryProject, type TemporaryProject } from "../../support/temporary-project.ts";
import { TypedCommands, writeScript } from "../../support/typed-commands.ts";

let place: TemporaryProject;
let program: TypedCommands | undefined;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(async () => {
  await program?.close();
  place.remove();
});

const write = (file_path: string, content: string) => ({ name: "write", input: { file_path, content } });
const read = (file_path: string) => ({ name: "read", input: { file_path } });
const edit = (file_path: string, old_string: string, new_string: string, replace_all = false) => ({
  name: "edit",
  input: { file_path, old_string, new_string, ...(replace_all && { replace_all }) },
});

const UNKNOWN = "Changes by commands, other programs or you are not included.";

/** What /diff shows after these calls, each in a separate turn, in a session without checkpoints. */
async function diffAfter(...calls: object[]): Promise<string[]> {
  writeScript(place, ...calls.map((call) => ({ toolCalls: [call] })), "done");
  program = await new TypedCommands(place, { options: { isSaved: false } }).open();
  await program.say("go");
  program.take();
  await program.run("/diff");
  return program.take();
}

describe("/diff", () => {
  test("shows a file created by the session as one change, with all its edits", async () => {
    const shown = await diffAfter(
      write("src/a.txt", "one\ntwo\nthree\n"),
      edit("./src/a.txt", "two", "2"),
      edit("src/a.txt", "e", "E", true),
    );
    expect(shown).toEqual([
      "src/a.txt +3 −0\n@@ -0,0 +1,3 @@\n+onE\n+2\n+thrEE\n",
      `1 file edited, +3 −0. ${UNKNOWN}`,
    ]);
  });

  test("shows each edit of an existing file at its line", async () => {
    place.write("b.txt", Array.from({ length: 40 }, (_, index) => `line ${index + 1}\n`).join(""));
    const shown = await diffAfter(
      read("b.txt"),
      edit("b.txt", "line 7\nline 8", "line 7\nchanged"),
      edit("b.txt", "line 30\n", ""),
    );
    expect(shown).toEqual([
      "b.txt +1 −2\n@@ -7,2 +7,2 @@\n line 7\n-line 8\n+changed\n@@ -30,1 +29,0 @@\n-line 30\n",
      `1 file edited, +1 −2. ${UNKNOWN}`,
    ]);
  });

  test("shows several edits of one call, each at its line", async () => {
    place.write("b.txt", Array.from({ length: 40 }, (_, index) => `line ${index + 1}\n`).join(""));
    const edits = [
      { old_string: "line 30\n", new_string: "" },
      { old_string: "line 7\n", new_string: "changed\n" },
    ];
    const shown = await diffAfter(read("b.txt"), { name: "edit", input: { file_path: "b.txt", edits } });
    expect(shown).toEqual([
      "b.txt +1 −2\n@@ -30,1 +29,0 @@\n-line 30\n@@ -7,1 +7,1 @@\n-line 7\n+changed\n",
      `1 file edited, +1 −2. ${UNKNOWN}`,
    ]);
  });

  test("says if the previous content is unknown", async () => {
    place.write("c.txt", "old\n");
    const shown = await diffAfter(read("c.txt"), write("c.txt", "new\n"));
    expect(shown).toEqual([
      "c.txt +1 −0\n@@ -0,0 +1,1 @@\n+new\n",
      `1 file edited, +1 −0. ${UNKNOWN} The previous content of c.txt is unknown: overwritten.`,
    ]);
  });

  test("leaves out failed calls and changes without an effect", async () => {
    const shown = await diffAfter(
      edit("missing.txt", "a", "b"),
      write("d.txt", "x\n"),
      edit("d.txt", "x", "y"),
      edit("d.txt", "nowhere", "z"),
      write("d.txt", "y\n"),
    );
    expect(shown).toEqual(["d.txt +1 −0\n@@ -0,0 +1,1 @@\n+y\n", `1 file edited, +1 −0. ${UNKNOWN}`]);
  });

  test("shows the whole path of a file outside the working directory", async () => {
    writeScript(place, { toolCalls: [write(join(place.home, "e.txt"), "x\n")] }, "done");
    program = await new TypedCommands(place, { options: { approval: "auto" } }).open();
    await program.say("go");
    program.take();
    await program.run("/diff");
    expect(program.take()[0]).toStartWith(`${join(place.home, "e.txt")} +1 −0`);
  });

  test("says so if there are no edits", async () => {
    expect(await diffAfter({ name: "ls", input: {} })).toEqual([
      `No files edited in this session. ${UNKNOWN}`,
    ]);
  });
});
