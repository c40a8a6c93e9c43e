import { createToolRegistry, type ToolRegistry } from "../tool/registry.ts";
import { LoopDetector } from "./loop-detector.ts";
import type { AgentLoopConfig, NoticeLevel } from "./types.ts";

/** The tools of one run, and what is known of the calls so far. */
export class RunTools {
  readonly registry: ToolRegistry;
  readonly loopDetector = new LoopDetector();
  /** Set when something was rejected because nobody was there to ask. */
  unattendedRejection = false;
  private hasChanged = false;

  /** @throws Error when two tools share a name. */
  constructor(private readonly config: Pick<AgentLoopConfig, "tools" | "changes">) {
    this.registry = createToolRegistry(config.tools);
  }

  /** Lets be kept what the next call may change. @param writes see `ChangeKeeper`. */
  async keepChanges(
    writes: string | undefined,
    notify: (level: NoticeLevel, code: string, message: string) => void,
  ): Promise<void> {
    const isFirst = !this.hasChanged;
    this.hasChanged = true;
    await this.config.changes?.beforeChanges({ isFirst, notify, writes });
  }
}
