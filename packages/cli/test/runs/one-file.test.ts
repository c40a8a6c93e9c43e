import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseLines, startDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject } from "../support/temporary-project.ts";

const AGENTS = ["one", "two", "three", "four"];
const EDITS = 15;

const toText = (count: number) => AGENTS.map((name) => `${name}: ${count};\n`).join("");

/** Waits for the others, reads the file and raises its own count by one in each turn. */
function createTurns(name: string): object[] {
  const call = (tool: string, input: object) => ({
    toolCalls: [{ name: tool, input: { file_path: "counts.txt", ...input } }],
  });
  const edits = Array.from({ length: EDITS }, (_, count) =>
    call("edit", { old_string: `${name}: ${count};`, new_string: `${name}: ${count + 1};` }),
  );
  const wait = { name: "bash", input: { command: "while [ ! -e ../go ]; do sleep 0.02; done" } };
  return [{ toolCalls: [wait] }, call("read", {}), ...edits, { text: "Done." }];
}

test("four sessions that edit one file at the same time lose no edit", async () => {
  const place = createTemporaryProject({ sandbox: "off" });
  try {
    place.write("counts.txt", toText(0));
    const runs = AGENTS.map((name) => {
      const script = place.write(`../${name}.json`, { version: 1, turns: createTurns(name) });
      const options = ["--approval", "auto", "--output-format", "stream-json"];
      return startDiligent(place, ["-m", `scripted/${script}`, "-p", "count", ...options]);
    });
    await Promise.all(runs.map(({ shown }) => shown('"type":"tool_start"')));
    place.write("../go", "");
    const ends = await Promise.all(runs.map(({ ended }) => ended));
    const edits = ends.map(({ stdout }) =>
      parseLines(stdout).filter(({ type, toolName }) => type === "tool_end" && toolName === "edit"),
    );
    expect(ends.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0]);
    expect(edits.flat().filter(({ isError }) => isError)).toEqual([]);
    expect(edits.map((own) => own.length)).toEqual([EDITS, EDITS, EDITS, EDITS]);
    expect(readFileSync(join(place.project, "counts.txt"), "utf8")).toBe(toText(EDITS));
    // They were at work at the same time.
    expect(edits.flat().some(({ output }) => String(output).includes("had changed since"))).toBe(true);
  } finally {
    place.remove();
  }
});
