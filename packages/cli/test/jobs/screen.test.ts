import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  countLeftRunning,
  countProcesses,
  uniqueSleepSeconds,
} from "../../../core/test/support/process-census.ts";
import { type ScreenOptions, ScreenSession } from "../support/screen-session.ts";

const CTRL_B = "\x02";

let seconds: string;

beforeEach(() => {
  seconds = uniqueSleepSeconds();
});

afterEach(async () => {
  expect(await countLeftRunning(seconds)).toBe(0);
});

const call = (name: string, input: object) => ({ toolCalls: [{ name, input }] });
const background = () =>
  call("bash", { command: `echo first; echo last; exec sleep ${seconds}`, background: true });

function open(options: ScreenOptions): Promise<ScreenSession> {
  return new ScreenSession({ columns: 100, args: ["--approval", "auto"], ...options }).opened();
}

async function withJob(options: ScreenOptions = {}): Promise<ScreenSession> {
  const session = await open({ turns: [background(), "It runs.", "Second answer."], ...options });
  await session.say("Start it");
  await session.shows("It runs.");
  return session;
}

test.each([40, 80, 200])(
  "/jobs shows state, age, CPU and last line of a job on %d columns",
  async (columns) => {
    await using session = await withJob({ columns, turns: [background(), "It runs."], rows: 30 });
    await session.say("/jobs");
    await session.shows("Commands in the background");
    await session.shows(/^ {5}running · [\d.]+ s · CPU [\d.]+ s$/m);
    await session.shows(/^ {5}> last$/m);
    await session.quit();
  },
);

test("/jobs kill ends a job, which is shown, and the status line no longer counts it", async () => {
  await using session = await withJob();
  await session.shows(/ · 1 job · /);
  await session.say("/jobs kill 1");
  await session.shows(/^Job 1 was ended: echo first/m);
  expect(countProcesses(seconds)).toBe(0);
  expect(session.program.terminal.lines().at(-1)).not.toContain("1 job");
  await session.say("/jobs kill 7");
  await session.shows("There is no job 7. Jobs: 1 (killed).");
});

test("Ctrl+B moves the running command of the model to the background, and the model continues", async () => {
  await using session = await open({
    turns: [call("bash", { command: `echo up; sleep ${seconds}` }), "I went on."],
  });
  await session.say("Run it");
  await session.shows("Ctrl+B to background");
  await session.shows("up");
  session.program.send(CTRL_B);
  await session.shows("I went on.");
  await session.shows("Moved to the background as job 1");
  await session.shows(/ · 1 job · /);
  expect(countProcesses(`sleep\0${seconds}`)).toBe(1);
});

test("Ctrl+B moves the user's own command to the background", async () => {
  await using session = await open({ turns: ["Hello."] });
  await session.say(`!sleep ${seconds}`);
  await session.shows("Ctrl+B to background");
  session.program.send(CTRL_B);
  await session.shows(/ · 1 job · /);
  await session.say("/jobs");
  await session.shows("Commands in the background");
});

test("Ctrl+B without a running command moves the cursor back", async () => {
  await using session = await open({ turns: ["Hello."] });
  session.program.send(`ab${CTRL_B}c`);
  await session.shows("> acb");
});

test("/reload leaves jobs running, and their output can still be read", async () => {
  await using session = await withJob({
    turns: [background(), "It runs.", call("job_output", { id: "1" }), "I read it."],
  });
  await session.say("/reload");
  await session.say("/jobs");
  await session.shows("> last");
  await session.say("Read it");
  await session.shows("I read it.");
  await session.hasShown("first");
  expect(countProcesses(`sleep\0${seconds}`)).toBe(1);
});

test("/new ends the jobs of the session, and shows that", async () => {
  await using session = await withJob();
  await session.say("/new");
  await session.shows(/^Job 1 was ended: echo first/m);
  expect(await countLeftRunning(`sleep\0${seconds}`)).toBe(0);
});

test("quitting names the jobs that end with the session", async () => {
  await using session = await withJob();
  expect(await session.quit()).toContain("Job 1 ends with the session: echo first");
});
