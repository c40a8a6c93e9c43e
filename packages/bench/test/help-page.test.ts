import { expect, test } from "bun:test";
import { join } from "node:path";
import { formatHelpPage } from "../src/arguments.ts";

test("a help page lists the choices in columns, and nothing if there are none", () => {
  const page = { usage: ["run it [NAME…]"], notes: ["1: it broke"] };
  const choices = [
    { name: "long-name", about: "the first" },
    { name: "b", about: "the second" },
  ];
  expect(formatHelpPage({ ...page, choices })).toBe(
    "run it [NAME…]\n\n  long-name  the first\n  b          the second\n\n1: it broke",
  );
  expect(formatHelpPage({ ...page, choices: [] })).toBe("run it [NAME…]\n\n1: it broke");
});

test.each(["--help", "-h"])("%s is handled before any other argument is checked", async (option) => {
  const script = join(import.meta.dir, "..", "src", "retention.ts");
  const run = Bun.spawn([process.execPath, script, "--wrong", option], { stderr: "pipe" });
  const [stdout, stderr, code] = await Promise.all([run.stdout.text(), run.stderr.text(), run.exited]);
  expect([stdout, stderr, code]).toEqual([expect.stringMatching(/^bun run retention /), "", 0]);
});
