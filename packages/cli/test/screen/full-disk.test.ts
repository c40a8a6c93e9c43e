import { afterAll, expect } from "bun:test";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readSessionFile } from "@diligent/core/sessions";
import { findMountObstacle, testUnless } from "../../../core/test/support/test-unless.ts";
import { writeUserConfig } from "../support/compatible-service.ts";
import { ScreenSession } from "../support/screen-session.ts";
import { sessionIds } from "../support/session-files.ts";
import { createTemporaryProject } from "../support/temporary-project.ts";

const place = createTemporaryProject();
const disk = join(place.project, ".diligent");
mkdirSync(disk, { mode: 0o700 });
const mount = ["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "diligent-test", disk];
const obstacle = findMountObstacle();
if (obstacle === undefined) Bun.spawnSync(mount);

afterAll(() => {
  if (obstacle === undefined) Bun.spawnSync(["umount", "-l", disk]);
  place.remove();
});

testUnless(obstacle)(
  "a disk that fills up during a turn is reported once, the screen still works, and everything is saved once there is space",
  async () => {
    writeUserConfig(place, { sandbox: "off" });
    // What fits into the last block of the file: a result of 14 KB does not.
    const fill = "cat /dev/zero > .diligent/hog; seq 1 3000";
    await using session = new ScreenSession({
      place,
      args: ["--approval", "auto"],
      turns: [
        "First, on a disk with room.",
        { toolCalls: [{ name: "bash", input: { command: fill } }] },
        "The disk is full now.",
        "Still here.",
        "At last.",
      ],
    });
    await session.opened();
    await session.say("begin");
    await session.shows("First, on a disk with room.");
    const path = join(disk, "sessions", `${sessionIds(place)[0]}.jsonl`);
    const before = readFileSync(path, "utf8");
    await session.say("fill it");
    await session.shows("The disk is full now.");
    await session.say("and now");
    await session.shows("Still here.");
    expect(readFileSync(path, "utf8")).toStartWith(before);
    rmSync(join(disk, "hog"));
    await session.say("with room");
    await session.shows("At last.");
    const shown = (await session.quit()).replaceAll(/\n\s*/g, " ");
    expect(shown.match(/no space is left on the disk \(ENOSPC\)/g)).toHaveLength(1);
    // Rows may end anywhere in a path.
    expect(shown.replaceAll(" ", "")).toMatch(
      /Thissessionisnotbeingsaved:.*\.jsonl.*onthefilesystemat.*\.diligent/,
    );
    expect(readFileSync(path, "utf8")).toStartWith(before);
    // Readers skip the line that was cut when the disk became full; it appears again in full.
    const roles = readSessionFile(path).entries.flatMap((entry) => {
      // That a command's connections are not seen is added at any moment.
      if (entry.type === "custom") return [];
      return entry.type === "message" ? entry.message.role : entry.type;
    });
    const turn = "user request assistant";
    expect(roles.join(" ")).toBe([turn, turn, "tool_result request assistant", turn, turn].join(" "));
  },
);
