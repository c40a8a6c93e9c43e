import { expect, test } from "bun:test";
import { findMentions } from "../../src/tui/prompt/attachments.ts";

for (const [text, paths] of [
  ["see @src/a.ts please", ["src/a.ts"]],
  ["@a.ts", ["a.ts"]],
  ["@a.ts, @b.ts. @c.ts; @d.ts! @e.ts? @f.ts:", ["a.ts", "b.ts", "c.ts", "d.ts", "e.ts", "f.ts"]],
  ["@a,@b", ["a", "b"]],
  ["line\n@a.ts\n@b.ts", ["a.ts", "b.ts"]],
  ['@"a b.ts" and @"c.ts".', ["a b.ts", "c.ts"]],
  ["(see @a.ts) [@b.ts] `@c.ts` '@d.ts' \"@e.ts\" <@f.ts>", ["a.ts", "b.ts", "c.ts", "d.ts", "e.ts", "f.ts"]],
  ["@app/(shop)/[id]/page.tsx)", ["app/(shop)/[id]/page.tsx"]],
  ["@a.ts and again @a.ts", ["a.ts"]],
  ["@. @.. @../x @~/y @/z", [".", "..", "../x", "~/y", "/z"]],
  ["me@example.com a@b", []],
  ["@ @@ @, @.", ["."]],
  ['@"open', []],
  ["看 @文档/说明.md 吧", ["文档/说明.md"]],
  ["look at /tmp/a.png, ./b.JPG and img/c.webp.", ["/tmp/a.png", "./b.JPG", "img/c.webp"]],
  ["'/tmp/a b.png' \"~/c d.gif\" /tmp/e\\ f.jpeg", ["/tmp/a b.png", "~/c d.gif", "/tmp/e f.jpeg"]],
  ["logo.png https://x.org/y.png '/tmp/a b.txt' src/a.ts", []],
] as const)
  test(`the prompt ${JSON.stringify(text)} mentions ${paths.length === 0 ? "nothing" : paths.join(" and ")}`, () => {
    expect(findMentions(text)).toEqual([...paths]);
  });

test("finding mentions in a megabyte without blanks takes no noticeable time", () => {
  // CPU time, so that it does not matter how busy the machine is.
  const begin = process.cpuUsage();
  for (const part of ["a/", "@", "@a", ")", '"@', "\\", "'/a"]) {
    const text = part.repeat(1_000_000 / part.length);
    findMentions(text);
    findMentions(` ${text}.png`);
  }
  const { user, system } = process.cpuUsage(begin);
  expect((user + system) / 1_000).toBeLessThan(5_000);
});
