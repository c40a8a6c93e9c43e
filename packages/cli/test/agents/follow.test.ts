import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ScreenSession } from "../support/screen-session.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

const TASK = { name: "task", input: { description: "Wait", prompt: "Wait for it.", agent: "general" } };
const WAIT = { name: "bash", input: { command: "until test -e go; do sleep 0.05; done; echo it is there" } };

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject({ sandbox: "off" });
});

afterEach(() => place.remove());

test("/agents N shows a sub-agent in the pager, and what it does from then on", async () => {
  const paged = join(place.temporary, "paged");
  await using session = new ScreenSession({
    place,
    turns: [{ toolCalls: [TASK] }, { text: "I wait.", toolCalls: [WAIT] }, "I have it.", "It is over."],
    args: ["--approval", "auto"],
    environment: { PAGER: `sh -c 'cat > ${paged}; echo closed >> ${paged}'` },
  });
  await session.opened();
  await session.say("go");
  await session.shows("until test -e go");
  await session.say("/agents 1");
  const text = () => (existsSync(paged) ? readFileSync(paged, "utf8") : "");
  await session.program.waitUntil(() => text().includes("until test"));
  expect(text()).toContain("Wait for it.");
  expect(text()).not.toContain("it is there\n```");

  place.write("go", "");
  await session.program.waitUntil(() => text().endsWith("closed\n"));
  const [, after = ""] = text().split("until test -e go");
  expect(after).toContain("it is there");
  expect(after.split("I have it.")).toHaveLength(2);
  await session.shows("It is over.");
});
