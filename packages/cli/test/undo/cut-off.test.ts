import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { forgetLastLine, setLastSign } from "../../../core/test/support/checkpoint-log.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import { TypedCommands, writeScript } from "../support/typed-commands.ts";

let place: TemporaryProject;
let typed: TypedCommands | undefined;

beforeEach(() => {
  place = createTemporaryProject();
  place.write("a.txt", "one\n");
});

afterEach(async () => {
  await typed?.close();
  place.remove();
});

const read = () => readFileSync(join(place.project, "a.txt"), "utf8");

describe("the changes of an interrupted turn", () => {
  /** @param signMs the time between the change and the last sign of life of the process. */
  async function openKilled(signMs = 100): Promise<TypedCommands> {
    const change = { toolCalls: [{ name: "bash", input: { command: "printf 'two\\n' > a.txt" } }] };
    writeScript(place, change, "done");
    const program = await new TypedCommands(place, { options: { approval: "auto" } }).open();
    await program.say("first");
    const { session } = await program.holder.session;
    session.flush();
    await program.close();
    const checkpoints = join(place.home, ".local/state/diligent/checkpoints");
    forgetLastLine(checkpoints, '"open"');
    setLastSign(checkpoints, '"open"', statSync(join(place.project, "a.txt")).ctimeMs + signMs);
    return openAgain();
  }

  async function openAgain(): Promise<TypedCommands> {
    const options = { options: { approval: "auto" as const }, resumption: { how: "continue" as const } };
    typed = await new TypedCommands(place, options).open();
    typed.take();
    return typed;
  }

  test("are shown and asked about before they are undone", async () => {
    const program = await openKilled();
    await program.run("/undo cut-off");
    expect(program.take("output")[0]).toStartWith("Would undo the interrupted turn: one path.\n  ± a.txt\n");
    expect([read(), program.items]).toEqual(["two\n", [">Keep everything as is", " Undo it"]]);
    await program.press("enter");
    await program.settle();
    expect([read(), program.take("output")]).toEqual(["two\n", []]);
    await program.run("/undo cut-off");
    program.take();
    await program.press("down", "enter");
    await program.settle();
    expect(program.take("output")[0]).toStartWith("Undid the interrupted turn: one path.\n  ± a.txt\n");
    expect(read()).toBe("one\n");
    await program.run("/undo cut-off");
    expect([program.take("output"), program.dialog]).toEqual([
      ["Nothing to undo in this session."],
      undefined,
    ]);
  });

  test("count as handled if none of them can be undone", async () => {
    const program = await openKilled(-1_000);
    await program.run("/undo cut-off");
    expect(program.take("output").map((text) => text.split("\n")[1])).toEqual([
      "  ! a.txt: changed after the run was cut off; left unchanged",
    ]);
    expect([read(), program.dialog]).toEqual(["two\n", undefined]);
    await program.run("/undo cut-off");
    expect(program.take("output")).toEqual(["Nothing to undo in this session."]);
  });

  test("are undone without a question if the option says so", async () => {
    const program = await openKilled();
    await program.run("/undo cut-off yes");
    expect([read(), program.dialog]).toEqual(["one\n", undefined]);
    await program.run("/undo cutoff");
    expect(program.take("notice")).toContain("error: /undo takes no argument except cut-off, not cutoff.");
  });
});
