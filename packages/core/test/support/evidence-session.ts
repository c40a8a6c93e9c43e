import { z } from "zod";
import { ensureDiligentDir } from "../../src/infrastructure/diligent-dir.ts";
import { SessionManager } from "../../src/session/manager.ts";
import type { Tool } from "../../src/tool/types.ts";
import { RequestWatch, type WatchedRequests } from "./request-watch.ts";
import { startSseServer } from "./sse-server.ts";
import { WIRE_SERVICES, type WireServiceName } from "./wire-services.ts";

const WINDOW = 200_000;
const PROTECTED_TOKENS = 40_000;
const READINGS = 40;
const TOKENS_PER_READING = 6_000;

const LINE = `${"evidence ".repeat(10)}\n`;

const READ_MUCH: Tool = {
  name: "read_much",
  description: "Read.",
  parameters: z.object({ number: z.number() }),
  readOnly: true,
  approval: () => undefined,
  execute: async ({ number }: { number?: number }) => ({
    output: `${number}\n${LINE.repeat(Math.ceil((TOKENS_PER_READING * 4) / LINE.length))}`,
  }),
};

export interface EvidenceReport extends WatchedRequests {
  prunings: number;
  invalid: string[];
}

/**
 * One long run in a window of 200,000 tokens that reads far more than fits, without summaries: old results are
 * shortened several times.
 * @param project an empty directory, its path absolute and real.
 */
export async function holdEvidenceSession(
  project: string,
  service: WireServiceName,
): Promise<EvidenceReport> {
  const watch = new RequestWatch(PROTECTED_TOKENS);
  let readings = 0;
  let prunings = 0;
  const { connect, toEvents } = WIRE_SERVICES[service];
  await using server = await startSseServer(({ body }) => {
    watch.inspect(body);
    const inputTokens = Math.ceil(JSON.stringify(body).length / 4);
    if (readings === READINGS) return { events: toEvents({ text: "Done.", inputTokens }) };
    const number = readings++;
    const calls = [{ id: `call_${number}`, name: "read_much", input: { number } }];
    return { events: toEvents({ calls, inputTokens }) };
  });
  const session = new SessionManager({
    cwd: project,
    paths: await ensureDiligentDir(project),
    context: { compaction: { enabled: false } },
    agentConfig: {
      model: {
        id: service === "openai" ? "gpt-5.4" : "claude-sonnet-5",
        provider: service,
        contextWindow: WINDOW,
        maxOutputTokens: 8_000,
        thinking: "none",
      },
      systemPrompt: "Read.",
      tools: [READ_MUCH],
      streamFunction: connect(server.url),
    },
  });
  await session.run({ role: "user", content: "Read it all.", timestamp: 1 }).consume((event) => {
    if (event.type !== "prune") return;
    prunings++;
    watch.allowChange();
  });
  session.close();
  return { ...watch.seen, prunings, invalid: server.problems };
}
