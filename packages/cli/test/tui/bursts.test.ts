import { describe, expect, test } from "bun:test";
import { Chance } from "../support/chance.ts";
import { MemoryScreen } from "../support/screen-in-memory.ts";
import { createTemporaryProject } from "../support/temporary-project.ts";

const ESCAPE = "\x1b";
// Longer than the wait for the rest of a sequence: otherwise a key after Escape would count as pressed with
// Alt.
const ESCAPE_PAUSE_MS = 60;

/** Lets an Escape count by itself. After a pause of this process, the screen waits for one more turn of its timers. */
async function pauseAfterEscape(): Promise<void> {
  await Bun.sleep(ESCAPE_PAUSE_MS);
  await Bun.sleep(5);
}

/** Keys, and what the screen shows once they have had their effect. */
type Step = readonly [keys: readonly string[], shows: RegExp];

interface Scenario {
  title: string;
  steps: readonly Step[];
  /** Replies of the model. */
  turns?: readonly object[];
}

const typed = (text: string) => Array.from(text);
const [ENTER, TAB, UP, DOWN, LEFT, BACKSPACE, HOME] = [
  "\r",
  "\t",
  "\x1b[A",
  "\x1b[B",
  "\x1b[D",
  "\x7f",
  "\x1b[1~",
];
const [CTRL_R, CTRL_W, CTRL_E] = ["\x12", "\x17", "\x05"];

const SCENARIOS: readonly Scenario[] = [
  {
    title: "what is written and edited",
    steps: [
      [typed("héllo 👩‍👩‍👧 wörld of keys"), /of keys/],
      [[LEFT, LEFT, BACKSPACE, HOME, "x", CTRL_E, CTRL_W, "\x1b\r", ...typed("two")], /two/],
      [["\x1b[200~pasted\nlines\x1b[201~", ...typed(" end")], / end/],
    ],
  },
  {
    title: "a command completed with Tab and sent",
    steps: [
      [["/"], /\/help/],
      [typed("sta"), /→ \/status/],
      [[TAB], /> \/status *$/m],
      [[ENTER], /sandbox/i],
    ],
  },
  {
    title: "a command whose beginning is sent",
    steps: [
      [typed("/sta"), /→ \/status/],
      [[ENTER], /sandbox/i],
    ],
  },
  {
    title: "a file completed with Tab, and text behind it",
    steps: [
      [typed("see @ou"), /→ out\.md/],
      [typed("t.md"), /→ out\.md/],
      [[TAB, ...typed("and @out")], /and @out/],
      [[], /→ out/],
      [[DOWN, TAB, ...typed("end")], /end/],
    ],
  },
  {
    title: "any word completed with Tab, written on and sent",
    turns: [{ text: "Read." }],
    steps: [
      [typed("look at outp"), /outp/],
      [[TAB], /output\.ts/],
      [[...typed("now"), ENTER], /Read\./],
    ],
  },
  {
    title: "an argument that is chosen from the list",
    steps: [
      [typed("/thinking "), /→ /],
      [[DOWN, TAB], /> \/thinking \w+/],
      [[ENTER], /Thinking level set/],
    ],
  },
  {
    title: "a list that a command opens",
    steps: [
      [typed("/thinking"), /→ \/thinking/],
      [[ENTER], /type to filter/],
      [typed("hi"), /filter.*hi|hi.*\d\/\d/],
      [[BACKSPACE, DOWN, ENTER], /Thinking level set/],
    ],
  },
  {
    title: "lists that open lists",
    steps: [
      [[...typed("/settings"), ENTER], /type to filter/],
      [typed("thin"), /1\/1/],
      [[ENTER], /thinking/i],
      [[DOWN, ENTER], /Thinking level set/],
    ],
  },
  {
    title: "the history that a key opens",
    turns: [{ text: "One." }, { text: "Two." }],
    steps: [
      [[...typed("first words"), ENTER], /One\./],
      [[...typed("second words"), ENTER], /Two\./],
      [[CTRL_R], /type to filter/],
      [typed("fir"), /1\/1/],
      [[ENTER], /> first words/],
    ],
  },
  {
    title: "Esc Esc on a prompt, and the prompt brought back",
    steps: [
      [typed("not this one"), /not this one/],
      [[ESCAPE, ESCAPE], /^>\s*$/m],
      [[UP], /> not this one/],
    ],
  },
  {
    title: "Esc Esc on an empty prompt, and a list that is left and closed",
    turns: [{ text: "One." }],
    steps: [
      [[...typed("hello"), ENTER], /One\./],
      [[ESCAPE, ESCAPE], /Session tree/],
      [[DOWN, UP, ESCAPE], /^>\s*$/m],
      [typed("on"), /> on/],
    ],
  },
  {
    title: "Esc on a completion list, and on the prompt behind it",
    steps: [
      [typed("/mod"), /→ \/model/],
      [[ESCAPE], /> \/mod\s*$/m],
      [[ESCAPE, ESCAPE], /^>\s*$/m],
    ],
  },
  {
    title: "Esc Esc while an answer streams",
    turns: [{ text: "word ".repeat(2_000), chunkDelayMs: 20 }],
    steps: [
      [[...typed("go"), ENTER], /word word/],
      [[ESCAPE, ESCAPE], /interrupted|stopped/i],
    ],
  },
];

function createPlace({ turns = [{ text: "Read." }] }: Scenario) {
  const place = createTemporaryProject({ sandbox: "off" });
  place.write("script.json", { version: 1, turns });
  for (const name of ["out.md", "output.ts", "outer/a.ts"]) place.write(name, "text\n");
  return place;
}

/** The final screen, without what differs from run to run. */
async function finalScreen(screen: MemoryScreen, { steps }: Scenario): Promise<string> {
  await screen.shows(steps.at(-1)?.[1] ?? /./);
  return (await screen.rests()).replace(/[0-9a-f-]{20,}|\d+(?:\.\d+)? s\b|^.*word.*$/gm, "…");
}

/** Each key separately, and the next one once it has had its effect. */
async function typeSlowly(scenario: Scenario): Promise<string> {
  const place = createPlace(scenario);
  try {
    await using screen = await new MemoryScreen(place).opened();
    for (const [keys, shows] of scenario.steps) {
      for (const key of keys) {
        screen.send(key);
        await (key === ESCAPE ? pauseAfterEscape() : Bun.sleep(15));
      }
      await screen.shows(shows);
    }
    return await finalScreen(screen, scenario);
  } finally {
    place.remove();
  }
}

/** All keys as fast as possible, cut into pieces anywhere; only the model's answers are awaited. */
async function typeInBursts(scenario: Scenario, nextLength: () => number): Promise<string> {
  const place = createPlace(scenario);
  try {
    await using screen = await new MemoryScreen(place).opened();
    for (const burst of toBursts(scenario.steps)) {
      for (let at = 0; at < burst.keys.length; ) {
        const end = at + nextLength();
        screen.send(burst.keys.slice(at, end));
        at = end;
      }
      if (burst.shows) await screen.shows(burst.shows);
      else await pauseAfterEscape();
    }
    return await finalScreen(screen, scenario);
  } finally {
    place.remove();
  }
}

const isModelAwaited = (shows: RegExp) => /One|Two|Read|word/.test(shows.source);

/** Sequences of keys: they end where the model has to answer, and after an Escape that no other follows. */
function toBursts(steps: readonly Step[]): { keys: string; shows?: RegExp }[] {
  const bursts: { keys: string; shows?: RegExp }[] = [];
  let keys = "";
  const all = steps.flatMap(([pressed, shows]) =>
    pressed.map((key, at) => ({ key, shows: at === pressed.length - 1 ? shows : undefined })),
  );
  for (const [at, { key, shows }] of all.entries()) {
    keys += key;
    const next = all[at + 1]?.key;
    const isAnswered = shows !== undefined && isModelAwaited(shows);
    if (!isAnswered && (key !== ESCAPE || next === ESCAPE)) continue;
    bursts.push({ keys, ...(isAnswered && { shows }) });
    keys = "";
  }
  return [...bursts, { keys }];
}

describe("keys that arrive in bursts have the same effect as one by one", () => {
  for (const [index, scenario] of SCENARIOS.entries())
    test(scenario.title, async () => {
      const slow = await typeSlowly(scenario);
      const chance = new Chance(index + 1);
      expect(await typeInBursts(scenario, () => Number.POSITIVE_INFINITY)).toBe(slow);
      expect(await typeInBursts(scenario, () => 1)).toBe(slow);
      expect(await typeInBursts(scenario, () => chance.between(1, 5))).toBe(slow);
    });
});

// A question takes no answer before somebody could have seen it.
const GUARD_MS = 450;

test("the keys of a question have the same effect wherever their input is cut", async () => {
  const command = `printf '%s\\n' ${Array.from({ length: 60 }, (_, at) => `word${at}`).join(" \\\n  ")}`;
  const keys = [
    ...[DOWN, UP, "\x1b[6~", "\x1b[F"],
    ..."m",
    ...typed("nö, 👩‍👩‍👧 please"),
    LEFT,
    BACKSPACE,
    ENTER,
  ];
  const turns = [{ toolCalls: [{ name: "bash", input: { command } }] }, { text: "Understood." }];
  const scenario: Scenario = { title: "", turns, steps: [[[], /Understood\./]] };
  const screens = await Promise.all(
    [Number.POSITIVE_INFINITY, 1, 2].map(async (length) => {
      const place = createPlace(scenario);
      try {
        await using screen = await new MemoryScreen(place).opened();
        screen.send("go\r");
        await screen.shows(/PgDn|Space|y yes/);
        await Bun.sleep(GUARD_MS);
        for (const key of keys) {
          for (let at = 0; at < key.length; at += length) screen.send(key.slice(at, at + length));
          // Several keys at once are a paste, which is not an answer.
          await Bun.sleep(20);
        }
        return await finalScreen(screen, scenario);
      } finally {
        place.remove();
      }
    }),
  );
  expect(screens[0]).toContain("nö, 👩‍👩‍👧 pleas\n");
  expect(screens).toEqual([screens[0] ?? "", screens[0] ?? "", screens[0] ?? ""]);
});
