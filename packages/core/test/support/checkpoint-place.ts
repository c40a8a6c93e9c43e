import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Checkpoints } from "../../src/checkpoint/checkpoints.ts";
import type { CheckpointOptions } from "../../src/checkpoint/types.ts";
import { makeTempDir } from "./temp-dir.ts";

/** A project and a user with a state directory, and sessions that work there. */
export class CheckpointPlace {
  readonly top = makeTempDir();
  readonly root = join(this.top, "project");
  readonly state = join(this.top, "state");
  readonly checkpoints = join(this.state, "diligent", "checkpoints");
  readonly notices: string[] = [];
  private readonly opened: Checkpoints[] = [];

  constructor() {
    mkdirSync(this.root);
  }

  path(name: string): string {
    return join(this.root, name);
  }

  open(options: Partial<CheckpointOptions> = {}): Checkpoints {
    const environment = { HOME: join(this.top, "home"), XDG_STATE_HOME: this.state };
    const checkpoints = new Checkpoints({ root: this.root, environment, sessionId: "one", ...options });
    this.opened.push(checkpoints);
    return checkpoints;
  }

  /** A run of the agent: each of `calls` is a call that changes something. */
  async run(checkpoints: Checkpoints, ...calls: (() => void)[]): Promise<void> {
    let isFirst = true;
    for (const call of calls) {
      await checkpoints.beforeChanges({
        isFirst,
        notify: (_, code, message) => this.notices.push(`${code}: ${message}`),
      });
      call();
      checkpoints.afterChanges();
      isFirst = false;
    }
    await checkpoints.settled();
  }

  close(): void {
    for (const each of this.opened) each.close();
  }
}
