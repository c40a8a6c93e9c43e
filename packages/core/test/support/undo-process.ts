/** Run as a process of its own: ROOT STATE_HOME SESSION WORD [NAME [SCOPE]], where WORD is what it does. */
import { writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Checkpoints } from "../../src/checkpoint/checkpoints.ts";

const [root = "", state = "", sessionId = "", word = "", name = "", scope] = process.argv.slice(2);
const environment = { HOME: join(state, "no-home"), XDG_STATE_HOME: state };
const checkpoints = new Checkpoints({
  ...{ root, environment, sessionId },
  ...(scope === "repositories" && { scope }),
});
const notify = () => {};

switch (word) {
  case "undo":
    writeSync(1, "begun\n");
    await checkpoints.undo();
    break;
  case "work":
    // Changes a file of its own again and again.
    for (let count = 1; count <= 10; count++) {
      await checkpoints.beforeChanges({ isFirst: true, notify, written: name });
      writeFileSync(join(root, name), `${name} ${count}\n`);
      checkpoints.afterChanges();
      await checkpoints.settled();
    }
    break;
  case "hang":
    await checkpoints.beforeChanges({ isFirst: true, notify });
    writeFileSync(join(root, name), "half done\n");
    // Until it has given a sign of life.
    await Bun.sleep(300);
    writeSync(1, "changing\n");
    await Bun.sleep(60_000);
    break;
}
checkpoints.close();
