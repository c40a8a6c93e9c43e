import type { Figure } from "../figure.ts";
import { watchPeakMemory } from "../measure/peak-memory.ts";
import { runProcess } from "../measure/process-run.ts";
import { Series, takeTurns } from "../measure/series.ts";
import { openAITextAnswer, textAnswer } from "../stage/answers.ts";
import { MessagesServer } from "../stage/messages-server.ts";
import { createProject } from "../stage/project.ts";
import type { Stage } from "../stage/stage.ts";
import { wholeProcess } from "../stage/whole-process.ts";
import type { Peer, PeerCommands } from "./peer.ts";

const RUNS = 7;
// The first answer is a title for some; more of them are asked for than are measured.
const ANSWERS = 5;

interface Subject extends PeerCommands {
  name: string;
  home: string;
  service: Peer["service"];
}

/** What a user waits for, of diligent and of its peers, each as a multiple of an empty script in the same run. */
export async function measurePeers(
  stage: Stage,
  peers: readonly Peer[],
  installed: string,
): Promise<Figure[]> {
  using server = new MessagesServer();
  const subjects = [
    await ours(stage, server),
    ...peers.map((peer) => toSubject(stage, peer, { installed, serverUrl: server.baseUrl })),
  ];
  const empty = wholeProcess(stage, [stage.emptyScript]);
  const measured = subjects.map((subject) => {
    const figures = { request: [] as number[], memory: [] as number[] };
    const version = new Series(async () => (await run(stage, subject, subject.version)).wallMs);
    const request = new Series(async () => {
      const { requestMs, megabytes } = await ask(stage, subject, server);
      figures.memory.push(megabytes);
      return requestMs;
    });
    return { subject, version, request, memory: figures.memory };
  });
  await takeTurns(
    [empty, ...measured.flatMap(({ version, request }) => [version, request])],
    stage.runs(RUNS),
  );
  const toFigure = (name: string, values: readonly number[]): Figure => ({
    name,
    unit: "ms",
    rule: { kind: "ratio" },
    measured: values,
    reference: { name: "empty script", values: empty.values },
  });
  return [
    ...measured.map(({ subject, version }) => toFigure(`--version, ${subject.name}`, version.values)),
    ...measured.map(({ subject, request }) => toFigure(`first request, ${subject.name}`, request.values)),
    ...measured.map(
      ({ subject, memory }): Figure => ({
        name: `peak memory of a prompt, ${subject.name}`,
        unit: "MB",
        rule: { kind: "amount" },
        measured: memory,
      }),
    ),
  ];
}

async function ours(stage: Stage, server: MessagesServer): Promise<Subject> {
  const [, bundle] = await stage.programs();
  return {
    name: "diligent",
    service: "anthropic",
    home: stage.home,
    version: [bundle.path, "--version"],
    print: [bundle.path, "-p", "--approval", "auto", "Do what is needed."],
    environment: { ANTHROPIC_API_KEY: "bench-key", ANTHROPIC_BASE_URL: server.baseUrl },
  };
}

function toSubject(
  stage: Stage,
  peer: Peer,
  { installed, serverUrl }: { installed: string; serverUrl: string },
): Subject {
  const home = stage.scratch.makeDirectory("home");
  return { name: peer.name, service: peer.service, home, ...peer.prepare({ installed, home, serverUrl }) };
}

function run(
  stage: Stage,
  { home, environment }: Subject,
  argv: readonly string[],
  onStart?: (pid: number) => void,
) {
  return runProcess({
    argv,
    cwd: createProject(stage.scratch),
    environment: { ...stage.environment(home), ...environment },
    ...(onStart && { onStart }),
  });
}

async function ask(stage: Stage, subject: Subject, server: MessagesServer) {
  const answer = subject.service === "openai" ? openAITextAnswer("Done.") : textAnswer("Done.");
  server.begin(Array.from({ length: ANSWERS }, () => answer));
  let peak: ReturnType<typeof watchPeakMemory> | undefined;
  const { startedAt } = await run(stage, subject, subject.print, (pid) => {
    peak = watchPeakMemory(pid);
  });
  peak?.stop();
  const [request] = server.requests;
  if (!request) throw new Error(`${subject.name} has sent no request.`);
  return { requestMs: request.arrivedAt - startedAt, megabytes: peak?.megabytes ?? 0 };
}
