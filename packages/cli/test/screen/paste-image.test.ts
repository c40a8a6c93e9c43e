import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bareEnvironment } from "../support/run-diligent.ts";
import { ScreenSession } from "../support/screen-session.ts";
import { savedMessages } from "../support/session-files.ts";
import { createTemporaryProject } from "../support/temporary-project.ts";

// One red pixel.
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const CTRL_V = "\x16";

/** A desktop whose program for the clipboard is this script; undefined: it has none. */
function setUp(
  script: string | undefined,
  variables: Record<string, string> = { WAYLAND_DISPLAY: "wayland-0" },
) {
  const place = createTemporaryProject({ sandbox: "off" });
  const programs = join(place.top, "programs");
  mkdirSync(programs);
  for (const name of script === undefined ? [] : ["wl-paste", "xclip"]) {
    writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(programs, name), 0o755);
  }
  // The project's own program is never run.
  place.write("wl-paste", `#!/bin/sh\ntouch '${join(place.top, "owned")}'\n`);
  const environment = { ...variables, PATH: `${place.project}:${programs}:${bareEnvironment(place).PATH}` };
  place.write("script.json", { version: 1, turns: [{ text: "I see red." }] });
  return { place, session: new ScreenSession({ place, environment }), [Symbol.dispose]: place.remove };
}

test.concurrent.each([
  ["wl-paste", { WAYLAND_DISPLAY: "wayland-0" }],
  ["xclip", { DISPLAY: ":0" }],
])("Ctrl+V attaches the image that %s finds in the clipboard", async (_, variables) => {
  using desk = setUp(`printf '%s' '${PNG}' | base64 -d`, variables);
  await using session = desk.session;
  await session.opened();
  session.program.send("look at ");
  await session.shows("> look at");
  session.program.send(CTRL_V);
  await session.shows("clipboard-");
  session.program.send("now");
  // The path may be wrapped anywhere.
  await session.shows(/\bnow\b/);
  session.press("enter");
  await session.shows("I see red.");
  const [sent] = savedMessages(session.place);
  const image = { type: "image", source: { type: "base64", mediaType: "image/png", data: PNG } };
  expect(sent?.content).toContainEqual(image);
});

test.concurrent.each([
  ["holds no image", "echo text; exit 0", undefined, "The clipboard holds no image"],
  ["is empty", "exit 1", undefined, "The clipboard holds no image"],
  ["cannot be read by a program", undefined, undefined, "Install wl-paste to paste images"],
  ["does not exist", undefined, {}, "No clipboard: neither WAYLAND_DISPLAY nor DISPLAY is set"],
])("Ctrl+V explains that the clipboard %s", async (_, script, variables, message) => {
  using desk = setUp(script, variables);
  await using session = desk.session;
  await session.opened();
  session.program.send("x");
  await session.shows("> x");
  session.program.send(CTRL_V);
  await session.hasShown(message);
  session.program.send("y");
  await session.shows("> xy");
});
