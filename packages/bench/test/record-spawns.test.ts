import { describe, expect, test } from "bun:test";
import { recordSpawns } from "../src/measure/process-run.ts";

describe("recordSpawns", () => {
  test("records a command as it was started and still runs it", async () => {
    let output = "";
    const commands = await recordSpawns(async () => {
      const child = Bun.spawn(["/bin/sh", "-c", 'echo "$NAME"'], { cwd: "/", env: { NAME: "value" } });
      output = await new Response(child.stdout).text();
    });
    expect(output).toBe("value\n");
    expect(commands).toEqual([
      { argv: ["/bin/sh", "-c", 'echo "$NAME"'], cwd: "/", environment: { NAME: "value" } },
    ]);
  });

  test("records nothing after the work has ended, even if it failed", async () => {
    const original = Bun.spawn;
    await expect(recordSpawns(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(Bun.spawn).toBe(original);
  });
});
