import { afterEach, beforeEach, expect } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testUnless } from "../../../core/test/support/test-unless.ts";
import { toUsagePage } from "../../src/html/usage-page.ts";
import { BROWSER_OBSTACLE, HeadlessPage } from "../support/headless-browser.ts";
import { runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
  writeHostileSession();
});

afterEach(() => place.remove());

const PAGES = [
  ["export", "1", "--format", "html"],
  ["cost", "1", "--html"],
  ["usage", "--html", "--by", "model"],
  ["usage", "--html", "--by", "tool"],
] as const;

const testInBrowser = testUnless(BROWSER_OBSTACLE);

testInBrowser(
  "pages with hostile text in every field run nothing, load nothing and can be read in light, dark and on a phone",
  async () => {
    await using page = await HeadlessPage.open();
    for (const [index, args] of PAGES.entries()) {
      const { stdout, exitCode } = await runDiligent(place, [...args]);
      expect([args, exitCode]).toEqual([args, 0]);
      const file = join(place.project, `page-${index}.html`);
      writeFileSync(file, stdout);
      for (const scheme of ["light", "dark"] as const) {
        for (const width of [390, 1_000]) {
          page.requests.length = 0;
          await page.show(file, { width, scheme });
          await page.evaluate(
            "document.querySelectorAll('details').forEach((each) => { each.open = true; })",
          );
          expect([args, page.requests]).toEqual([args, [`file://${file}`]]);
          expect(await page.evaluate("window.hacked ?? null")).toBeNull();
          expect(await page.evaluate(FIND_ACTIVE)).toEqual([]);
          expect([args, scheme, await page.evaluate(FIND_LOW_CONTRAST)]).toEqual([args, scheme, []]);
          expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
          expect(await page.evaluate("document.styleSheets.length")).toBe(1);
        }
      }
    }
    expect(page.problems).toEqual([]);
  },
  120_000,
);

testInBrowser(
  "a phone shows the names of tools in the usage page on one line, and a long name breaks",
  async () => {
    await using page = await HeadlessPage.open();
    const row = { sessions: 100, requests: 1_234, cost: 12.3456 };
    const tokens = { input: 123_456_789, output: 1_234_567, cacheRead: 0, cacheWrite: 0 };
    const rows = ["apply_patch", "bash", "x".repeat(200)].map((key) => ({ key, ...row, tokens }));
    const file = join(place.project, "page.html");
    writeFileSync(file, toUsagePage(rows, { by: "tool", since: undefined }));
    await page.show(file, { width: 390, scheme: "light" });
    const heights = "[...document.querySelectorAll('td.name')].map((cell) => cell.clientHeight)";
    const widths = "[...document.querySelectorAll('td.name')].map((cell) => cell.clientWidth)";
    const [patch, bash, long] = numbersIn(await page.evaluate(heights));
    expect(patch).toBe(bash ?? 0);
    expect(long).toBeGreaterThan((bash ?? 0) * 2);
    expect(Math.max(...numbersIn(await page.evaluate(widths)))).toBeLessThanOrEqual(300);
  },
  60_000,
);

function numbersIn(value: unknown): number[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "number") : [];
}

testInBrowser(
  "a page's folded results open with the keyboard alone",
  async () => {
    await using page = await HeadlessPage.open();
    const { stdout } = await runDiligent(place, ["export", "1", "--format", "html"]);
    const file = join(place.project, "page.html");
    writeFileSync(file, stdout);
    await page.show(file, { width: 800, scheme: "light" });
    const focused = () => page.evaluate("document.activeElement.tagName");
    for (let presses = 0; presses < 20 && (await focused()) !== "SUMMARY"; presses++) await page.press("Tab");
    expect(await focused()).toBe("SUMMARY");
    await page.press("Enter");
    expect(await page.evaluate("document.activeElement.parentElement.open")).toBe(true);
  },
  60_000,
);

/** Elements and attributes that could run or load something. */
const FIND_ACTIVE = `[...document.querySelectorAll("*")].flatMap((element) => [
  ...(/^(script|iframe|object|embed|form|input|base|video|audio|foreignObject|animate|set)$/i.test(element.tagName) ? [element.outerHTML] : []),
  ...[...element.attributes].filter(({ name, value }) =>
    /^on/i.test(name) || name === "style" || name === "srcset" ||
    (name === "src" && !value.startsWith("data:image/")) ||
    (/href$/.test(name) && !/^(https?:\\/\\/|mailto:|#|data:,$)/.test(value))
  ).map(({ name, value }) => name + "=" + value),
])`;

/** Texts that are too close to the color behind them: less than 4.5 to 1. */
const FIND_LOW_CONTRAST = `(() => {
  const parse = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const luminance = ([red, green, blue]) => [red, green, blue]
    .map((value) => value / 255)
    .map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const color = parse(getComputedStyle(each).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = new Set();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (node.data.trim() === "" || element.tagName === "TITLE" || element.tagName === "title") continue;
    const [front, back] = [luminance(parse(getComputedStyle(element).color)), luminance(behind(element))];
    const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    if (ratio < 4.5) found.add(element.tagName + "." + element.className + " " + ratio.toFixed(2));
  }
  return [...found];
})()`;

/** Each tries to run a script in another way; the number says which one did. */
const ATTACKS = [
  "<script>window.hacked=1</script>",
  "<img src=x onerror=window.hacked=2>",
  '"><svg onload=window.hacked=3>',
  "</pre></code></style></title><script>window.hacked=4</script>",
  "[a](javascript:window.hacked=5) [b](data:text/html,<script>window.hacked=6</script>)",
  "<javascript:window.hacked=7> ![x](https://attacker.invalid/pixel.png) ![y](javascript:window.hacked=8)",
  "' onmouseover='window.hacked=9' `x` onfocus=window.hacked=10 autofocus",
  '[c]: javascript:window.hacked=11\n[c] <a href="jav\tascript:window.hacked=12">d</a>',
  "<iframe src=https://attacker.invalid></iframe><link rel=stylesheet href=https://attacker.invalid/a.css>",
  "\u202Etxt.exe\u0000\u001b[2J <!-- --> ]]> {{7*7}}",
];

function writeHostileSession(): void {
  const all = ATTACKS.join(" ");
  const id = "20260105101112-abcdef";
  const time = "2026-01-05T10:11:12.000Z";
  let last: string | null = null;
  let number = 0;
  const entry = (type: string, fields: Record<string, unknown>) => {
    const parentId = last;
    last = String(++number).padStart(8, "0");
    return { type, id: last, parentId, timestamp: time, ...fields };
  };
  const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 900, cacheWriteTokens: 90 };
  const call = { type: "tool_call", id: all, name: all, input: { [all]: all, command: all } };
  const edit = {
    type: "tool_call",
    id: "edit",
    name: "edit",
    input: { file_path: all, old_string: all, new_string: all },
  };
  const assistant = {
    ...{ role: "assistant", model: all, usage, stopReason: "error", timestamp: 1 },
    content: [
      { type: "thinking", thinking: all },
      ...ATTACKS.map((text) => ({ type: "text", text })),
      ...[call, edit, { type: "tool_call", id: "bad", name: "bash", input: {}, invalidInput: all }],
      { type: "opaque", provider: all, raw: all },
    ],
  };
  const image = (mediaType: string, data: string) => ({
    type: "image",
    source: { type: "base64", mediaType, data },
  });
  const result = {
    ...{ role: "tool_result", toolCallId: all, toolName: all, output: all, isError: true, timestamp: 2 },
    images: [
      image("image/svg+xml", btoa("<svg onload='window.hacked=13'/>")),
      image(all, all),
      image("image/png", '"><script>'),
    ],
  };
  const request = (broken: boolean) => ({
    ...{ provider: all, modelId: all, sent: time, usage, cost: 0.01, purpose: "summary" },
    parts: Object.fromEntries(
      ATTACKS.flatMap((text) => [
        [text, 100],
        [`tool:${text}`, 50],
      ]),
    ),
    ...(broken && { break: { why: "tools", at: "messages", detail: all, tokens: 5, cost: 0.001 } }),
  });
  const lines = [
    { type: "session", version: 2, id, timestamp: time, cwd: all },
    entry("session_info", { name: all }),
    entry("message", { message: { role: "user", content: all, timestamp: 1e15 } }),
    entry("request", request(true)),
    entry("message", { message: assistant }),
    entry("message", { message: result }),
    entry("model_change", { provider: all, modelId: all }),
    entry("compaction", { summary: all, firstKeptEntryId: "00000002", tokensBefore: 10, tokensAfter: 5 }),
    entry("branch_summary", { fromId: all, summary: all }),
    entry("prune", { cleared: [all], trimmed: [all] }),
    entry("message", {
      message: {
        role: "user",
        content: [{ type: "text", text: all }, image("image/png", "iVBORw0KGgo=")],
        timestamp: 0,
      },
    }),
    entry("request", request(false)),
  ];
  const directory = join(place.project, ".diligent", "sessions");
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, `${id}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}
