import { textAnswer } from "../../../core/test/support/answers.ts";
import {
  completed,
  created,
  item,
  messageItem,
  textPart,
} from "../../../core/test/support/openai-answers.ts";
import { startSseServer } from "../../../core/test/support/sse-server.ts";

// The server refuses what the real services refuse, so these are the tests' own.

const SERVICES = {
  anthropic: { model: "claude-sonnet-5", events: textAnswer("Going on.") },
  openai: {
    model: "gpt-5",
    events: [created(), ...item(0, messageItem("msg_1", [textPart("Going on.")])), completed()],
  },
} as const;

/** Which of the services that check requests is asked. */
export type Service = keyof typeof SERVICES;

interface NextRequestOptions {
  program: string;
  cwd: string;
  environment: Readonly<Record<string, string>>;
  sessionId: string;
  service: Service;
}

/** Goes on with a session on a service that checks the request; returns what is wrong with that, in words. */
export async function findInvalidRequest(options: NextRequestOptions): Promise<string[]> {
  const { program, cwd, environment, sessionId, service } = options;
  const { model, events } = SERVICES[service];
  await using server = await startSseServer({ events });
  const child = Bun.spawn([program, "-p", `--continue=${sessionId}`, "-m", model, "Go on."], {
    cwd,
    env: {
      ...environment,
      ANTHROPIC_API_KEY: "bench-key",
      ANTHROPIC_BASE_URL: server.url,
      OPENAI_API_KEY: "bench-key",
      OPENAI_BASE_URL: `${server.url}/v1`,
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: 30_000,
    killSignal: "SIGKILL",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (server.problems.length > 0) return server.problems;
  const isAnswered = child.exitCode === 0 && stdout === "Going on.\n" && server.requests.length === 1;
  return isAnswered
    ? []
    : [`exit code ${child.exitCode}, ${server.requests.length} requests: ${stderr.trim()}`];
}
