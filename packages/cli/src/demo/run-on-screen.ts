import type { CliIo } from "../cli-io.ts";
import { EXIT_FAILURE } from "../exit-codes.ts";
import { runTui } from "../tui/app.ts";
import { keyTexts } from "../tui/keys/key-texts.ts";
import type { Keymap } from "../tui/keys/keymap.ts";
import { writeLine } from "../write-line.ts";
import type { Demo } from "./create-demo.ts";
import { DEMO_INTRODUCTION, DEMO_PROMPT, demoContinuation, demoFacts } from "./demo-texts.ts";
import { runSampleTests, type TestRun } from "./sample-tests.ts";

/**
 * The demonstration on the screen. It stays open at the end, so that what happened can be looked at. Returns the exit
 * code of the screen, or that of a failure where the tests of the project did not pass.
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
    // It is about this project only: a draft or a configuration of the directory it was started in is not touched.
    { ...io, cwd: demo.project, environment: demo.environment },
    {
      introduction: `${DEMO_INTRODUCTION}\nProject  ${demo.project}`,
      async conclude(say, keymap) {
        const run = await runSampleTests(demo, io);
        if (say(describeEnd(demo, run, keymap))) tests = run;
      },
    },
  );
  // Who has left before the end was not told.
  if (tests === undefined) for (const line of demoFacts(demo, undefined)) writeLine(io.stdout, line);
  return tests && !tests.passed ? EXIT_FAILURE : code;
}

function describeEnd(demo: Demo, tests: TestRun, keymap: Keymap): string {
  const leave = ["/quit", keymap.nameOf("app.exit")].filter((each) => each !== undefined).join(" or ");
  const result = keyTexts(keymap, [["app.expandResult", "the last result in full"]]);
  const next = tests.passed
    ? [
        "The script is at its end, and you are in the session: /tree, /diff, /context and /knowledge show what",
        `happened${result === "" ? "" : `, ${result}`}. ${leave} leaves.`,
      ]
    : [`It was stopped before its end: any prompt lets the script go on. ${leave} leaves.`];
  return [...demoFacts(demo, tests), "", next.join(" "), "", ...demoContinuation(demo)].join("\n");
}
