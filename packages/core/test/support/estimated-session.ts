import { agentLoop } from "../../src/agent/loop.ts";
import type { AgentLoopConfig, PreparedContext, UpcomingRequest } from "../../src/agent/types.ts";
import type { Model } from "../../src/provider/types.ts";
import { Calibrator } from "../../src/session/compaction/calibration.ts";
import { type ContextWindow, openContextWindow } from "../../src/session/compaction/context-window.ts";
import { toContextLimits } from "../../src/session/compaction/limits.ts";
import {
  countContextTokens,
  countFixedCharacters,
  findCountedReply,
} from "../../src/session/compaction/tokens.ts";
import { buildSessionContext } from "../../src/session/context-builder.ts";
import { SessionLog } from "../../src/session/log.ts";

/** A session in memory that keeps, for each request, the tokens it was estimated at right before it was made. */
export class EstimatedSession {
  readonly estimates: number[] = [];
  /** How often the context had been changed before each request. */
  readonly changes: number[] = [];
  readonly window: ContextWindow;
  private readonly log = new SessionLog(undefined);
  // Learns beside the window's own, from the same requests.
  private readonly calibrator = new Calibrator();

  constructor(
    private readonly config: AgentLoopConfig & { model: Model },
    settings: Parameters<typeof toContextLimits>[1] = {},
  ) {
    this.window = openContextWindow(this.log, config, { limits: toContextLimits(config.model, settings) });
  }

  /** @throws when the run does not reach its end. */
  async ask(content: string): Promise<void> {
    this.log.append((place) => ({
      type: "message",
      ...place,
      message: { role: "user", content, timestamp: 1 },
    }));
    const { entries, leafId } = this.log;
    const run = agentLoop(buildSessionContext(entries, leafId).messages, {
      ...this.config,
      record: (message) => this.log.append((place) => ({ type: "message", ...place, message })),
      prepareContext: (request) => this.prepare(request),
    });
    await run.consume((event) => {
      if (event.type === "error") throw new Error(event.error.message);
    });
  }

  private async prepare(request: UpcomingRequest): Promise<PreparedContext | undefined> {
    this.calibrator.learn(request.context, findCountedReply(this.log.path())?.message);
    const prepared = await this.window.prepare(request);
    const path = this.log.path();
    const { messages = request.context.messages } = prepared ?? {};
    const size = { fixedCharacters: countFixedCharacters(request.context), messages };
    this.estimates.push(countContextTokens(path, size, this.calibrator.estimator));
    this.changes.push(path.filter(({ type }) => type === "compaction" || type === "prune").length);
    return prepared;
  }
}
