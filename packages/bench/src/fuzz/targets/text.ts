import fc from "fast-check";
import { escapeLine, escapeText } from "../../../../cli/src/approval/escaped-text.ts";
import {
  revealTerminalText,
  sanitizeTerminalText,
  TerminalTextStream,
  toSingleLine,
} from "../../../../cli/src/text/terminal-text.ts";
import { toApprovalDialog } from "../../../../cli/src/tui/approval/dialog.ts";
import { approvalLines } from "../../../../cli/src/tui/approval/view.ts";
import { renderBlock } from "../../../../cli/src/tui/blocks/render-blocks.ts";
import { fullText, renderToolCall } from "../../../../cli/src/tui/blocks/tool-renderers.ts";
import { createKeymap } from "../../../../cli/src/tui/keys/keymap.ts";
import { activityLine, statusLine } from "../../../../cli/src/tui/live-region.ts";
import { loadMarkdown } from "../../../../cli/src/tui/markdown/render.ts";
import { notificationSequence, titleText } from "../../../../cli/src/tui/notifications.ts";
import { visibleWidth } from "../../../../cli/src/tui/screen/screen-text.ts";
import { createTheme } from "../../../../cli/src/tui/theme.ts";
import { createView } from "../../../../cli/src/tui/view.ts";
import { type Allowed, findForeign, hostileText } from "../damage.ts";
import { createTarget } from "../target.ts";

const TEXT: Allowed = { lineFeeds: true, tabs: true };

/**
 * Every way of making a text harmless: nothing that controls a terminal remains, wherever the text was cut.
 */
export const TERMINAL_TEXT = createTarget({
  name: "terminal-text",
  about: "no part of a hostile text controls a terminal, wherever it is cut",
  runs: { usual: 50_000, short: 600 },
  values: fc.record({ text: hostileText, cuts: fc.array(fc.nat(80), { maxLength: 6 }) }),
  findProblem({ text, cuts }) {
    const whole = sanitizeTerminalText(text);
    if (inPieces(text, cuts) !== whole) return "in pieces it becomes something else";
    if (sanitizeTerminalText(whole) !== whole) return "sanitized twice it becomes something else";
    const notice = notificationSequence({ title: text, body: text }, { kind: "osc777", environment: {} });
    // Between its own beginning and its final bell.
    const told = notice.slice("\x1b]777;notify;".length, -1);
    return firstForeign([
      ["sanitised", whole, TEXT],
      ["revealed", revealTerminalText(text), TEXT],
      ["on one line", toSingleLine(text, 40), {}],
      ["judged", escapeText(text), TEXT],
      ["escaped on one line", escapeLine(text), { tabs: true }],
      ["title", titleText(text, "working"), {}],
      ["notification", told, {}],
    ]);
  },
});

function firstForeign(shown: readonly (readonly [what: string, text: string, allowed: Allowed])[]) {
  for (const [what, text, allowed] of shown) {
    const foreign = findForeign(text, allowed);
    if (foreign !== undefined) return `${what}, ${foreign}`;
  }
  return undefined;
}

function inPieces(text: string, cuts: readonly number[]): string {
  const stream = new TerminalTextStream();
  let [made, at] = ["", 0];
  for (const length of cuts) {
    made += stream.push(text.slice(at, at + length));
    at += length;
  }
  return made + stream.push(text.slice(at)) + stream.end();
}

const TOOLS = ["read", "edit", "write", "bash", "grep", "glob", "ls", "add_knowledge", "unknown"];
const loaded = loadMarkdown();
const keymap = createKeymap();

const values = fc.record({
  texts: fc.tuple(hostileText, hostileText, hostileText, hostileText),
  tool: fc.oneof(fc.constantFrom(...TOOLS), hostileText),
  isError: fc.boolean(),
  width: fc.integer({ min: 20, max: 90 }),
  hasColor: fc.boolean(),
});

type Shown = typeof values extends fc.Arbitrary<infer Value> ? Value : never;

/**
 * Everything that the screen makes of outside text: visible characters, our own colours, and no wider than
 * the screen.
 */
export const SCREEN_VIEWS = createTarget({
  name: "screen-views",
  about: "whatever it is made of, a line of the screen contains text and our own styles, and fits",
  runs: { usual: 20_000, short: 250 },
  values,
  async findProblem(shown) {
    await loaded;
    for (const [view, lines] of Object.entries(renderAll(shown))) {
      for (const line of lines) {
        const foreign = findForeign(line, { styles: shown.hasColor });
        if (foreign !== undefined) return `${view}, ${foreign} of ${JSON.stringify(line)}`;
        if (visibleWidth(line) > shown.width) return `${view}: too wide: ${JSON.stringify(line)}`;
      }
    }
    const foreign = findForeign(fullText(toCall(shown)), { lineFeeds: true, tabs: true });
    return foreign === undefined ? undefined : `the full text of a call, ${foreign}`;
  },
});

function renderAll(shown: Shown): Record<string, readonly string[]> {
  const { texts, width, hasColor } = shown;
  const [one, two, three, four] = texts;
  const theme = createTheme({ color: hasColor });
  const look = { width, theme, keymap, now: 1_000, cwd: "/app" };
  const { status } = createView({ cwd: `/app/${one}` });
  const request = {
    permission: "execute" as const,
    toolName: two,
    description: three,
    details: { command: one, [two]: four },
  };
  const verdict = { action: "ask" as const, gate: "shell_command" as const, reason: four };
  const dialog = toApprovalDialog(request, verdict, { rows: 24, columns: width, keymap });
  const activity = activityLine({ type: "tool", toolName: one, since: 0 }, look);
  return {
    answer: renderBlock({ type: "answer", markdown: texts.join("") }, look),
    prompt: renderBlock({ type: "prompt", text: one }, look),
    thinking: renderBlock({ type: "thinking", text: one, startedAt: 0 }, look),
    notice: renderBlock({ type: "notice", level: "warning", text: two }, look),
    output: renderBlock({ type: "output", text: texts.join("\n") }, look),
    call: renderToolCall(toCall(shown), look),
    approval: approvalLines(dialog, { rows: 24, width, theme, keymap }),
    status: [statusLine({ ...status, model: two, effort: "high", gitBranch: three }, look)],
    activity: activity === undefined ? [] : [activity],
  };
}

function toCall({ texts, tool, isError }: Shown) {
  const [one, two, three, four] = texts;
  const input = {
    command: one,
    file_path: two,
    pattern: three,
    path: one,
    content: four,
    type: two,
    [three]: one,
  };
  const diff = `@@ -1,9 +1,9 @@\n-${one}\n+${two}\n ${three}`;
  const metadata = { diff, count: 3, signal: two, added: 1, removed: 1 };
  const result = { output: texts.join("\n"), isError, metadata, endedAt: 900 };
  return { toolCallId: "call_1", toolName: tool, input, startedAt: 0, partial: four, result };
}
