import { expect, test } from "bun:test";
import { join } from "node:path";
import { startInPty } from "./support/pty-program.ts";
import { createTemporaryProject } from "./support/temporary-project.ts";

const MODULE = join(import.meta.dir, "../src/io/typed-input.ts");

/** Reads nothing until the signal, then what was typed, and nothing again. */
const PROGRAM = `
  import { readTyped } from ${JSON.stringify(MODULE)};
  process.stdin.setRawMode(true);
  process.on("SIGTERM", () => {
    console.log("read " + JSON.stringify([readTyped(0), readTyped(0)]) + " then");
    process.exit(0);
  });
  setInterval(() => {}, 1_000);
  console.log("ready");
`;

test.skipIf(process.platform !== "linux")(
  "readTyped() returns what was typed before a signal, and does not wait for more (needs Linux)",
  async () => {
    const place = createTemporaryProject();
    try {
      const path = place.write("program.ts", PROGRAM);
      for (const typed of ["late\r", "", "a line\rand é漢 more"]) {
        await using program = startInPty(place, [path], { program: [process.execPath] });
        await program.waitFor("ready");
        program.sendAtOnce(typed);
        program.process.kill("SIGTERM");
        const rows = await program.waitFor(/^read .* then$/m);
        expect(rows).toContain(`read ${JSON.stringify([typed, ""])} then`);
      }
    } finally {
      place.remove();
    }
  },
);
