import { expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startInPty } from "../support/pty-program.ts";
import { PROGRAM_BY_PATH } from "../support/run-diligent.ts";
import { createTemporaryProject } from "../support/temporary-project.ts";

const COUNTER = join(import.meta.dir, "..", "support", "count-timers.ts");
const [BUN = "bun", ...REST] = PROGRAM_BY_PATH;
const LOSES_FOCUS = "\x1b[O";
const LOOK_MS = 2_000;

test("an idle screen fires no timer more than once a second and writes nothing, visible or hidden", async () => {
  const place = createTemporaryProject();
  const text = `${"- one of many lines\n".repeat(2_000)}\nAll is said.`;
  place.write("script.json", { version: 1, turns: [{ text, chunkChars: 2_000 }] });
  const file = join(place.top, "timers");
  await using program = startInPty(place, ["--model", "scripted/script.json", "go"], {
    program: [BUN, "--preload", COUNTER, ...REST],
    environment: { TIMERS_FILE: file },
  });
  const countTimers = async () => {
    rmSync(file, { force: true });
    program.process.kill("SIGUSR2");
    while (!existsSync(file) || !readFileSync(file, "utf8").endsWith("\n")) await Bun.sleep(5);
    return Number(readFileSync(file, "utf8"));
  };
  await program.waitFor("All is said.");
  // The memory of a turn is cleaned up a second after it.
  await program.settle(1_200);
  for (const keys of ["", LOSES_FOCUS]) {
    program.send(keys);
    await program.settle();
    const [before, begin, written] = [await countTimers(), performance.now(), program.bytes.length];
    await Bun.sleep(LOOK_MS);
    const came = (await countTimers()) - before;
    // The first may be due at once.
    expect(came).toBeLessThanOrEqual((performance.now() - begin) / 1_000 + 1);
    expect(program.bytes).toHaveLength(written);
  }
  expect(await countTimers()).toBeGreaterThan(5);
  place.remove();
});
