import { EXIT_FAILURE } from "../errors.ts";
import { type CliIo, writeLine } from "../io/io.ts";
import { runTui } from "../tui/app.ts";
import { type Keymap, keyTexts } from "../tui/keys/keymap.ts";
import {
  DEMO_INTRODUCTION,
  DEMO_PROMPT,
  type Demo,
  demoContinuation,
  demoFacts,
  runSampleTests,
  type TestRun,
} from "./demo.ts";

/**
 * The demo on the screen. It stays open at the end so that the user can look around. Returns the screen's exit code, or
 * failure if the sample project's tests failed.
 */
export async function runOnScreen(demo: Demo, io: CliIo): Promise<number> {
  let tests: TestRun | undefined;
  const code = await runTui(
    {
      kind: "run",
      isPrint: false,
      prompt: DEMO_PROMPT,
      options: { model: `scripted/${demo.script}`, approval: "auto", isSaved: true, isVerbose: false },
    },
    // The demo concerns only its own project: drafts and configuration of the starting directory are not touched.
    { ...io, cwd: demo.project, environment: demo.environment, ownPrompt: DEMO_PROMPT },
    {
      introduction: `${DEMO_INTRODUCTION}\nProject  ${demo.project}`,
      async conclude(say, keymap) {
        const run = await runSampleTests(demo, io);
        if (say(describeEnd(demo, run, keymap))) tests = run;
      },
    },
  );
  // Users who quit early did not see the result yet.
  if (tests === undefined) for (const line of demoFacts(demo, undefined)) writeLine(io.stdout, line);
  return tests && !tests.passed ? EXIT_FAILURE : code;
}

function describeEnd(demo: Demo, tests: TestRun, keymap: Keymap): string {
  const leave = ["/quit", keymap.nameOf("app.exit")].filter((each) => each !== undefined).join(" or ");
  const result = keyTexts(keymap, [["app.expandResult", "thinking and results in full"]]);
  const next = tests.passed
    ? [
        "The script has ended, so no model answers here any more: /tree, /diff, /context and /knowledge show what",
        `happened${result === "" ? "" : `, ${result}`}. ${leave} quits.`,
      ]
    : [`The script was stopped before its end: any prompt continues it. ${leave} quits.`];
  return [...demoFacts(demo, tests), "", next.join(" "), "", ...demoContinuation(demo)].join("\n");
}
