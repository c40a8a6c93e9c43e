import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  createProjectHarness,
  type ProjectOverrides,
  type ProjectSession,
} from "../../src/harness/harness.ts";
import type { SessionStart } from "../../src/harness/types.ts";
import type { RequestEntry } from "../../src/session/types.ts";
import type { CachingService } from "./caching-service.ts";
import { makeTempDir } from "./temp-dir.ts";

/** A project whose sessions speak with a caching service. */
export class CostStage {
  readonly home: string;
  readonly root: string;
  private open: (() => Promise<void>)[] = [];

  constructor(
    private readonly service: Pick<CachingService, "url">,
    private readonly config: Readonly<Record<string, unknown>> = {},
    private readonly overrides: ProjectOverrides = {},
  ) {
    this.home = realpathSync(makeTempDir());
    this.root = join(this.home, "project");
    mkdirSync(join(this.root, ".git"), { recursive: true });
  }

  write(path: string, text: string): void {
    const file = join(this.root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  async openSession(
    start: SessionStart = { fresh: true },
    model = "claude-sonnet-5",
  ): Promise<ProjectSession> {
    const config = {
      sandbox: "off",
      provider: { anthropic: { apiKey: "sk-ant-test", baseUrl: this.service.url } },
      ...this.config,
    };
    const path = join(this.home, ".config", "diligent", "diligent.jsonc");
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
    const harness = await createProjectHarness({
      cwd: this.root,
      environment: { HOME: this.home, PATH: process.env.PATH },
      overrides: this.overrides,
    });
    this.open.push(() => harness.close());
    return harness.openSession(start, { model });
  }

  async close(): Promise<void> {
    for (const close of this.open.splice(0)) await close();
  }
}

/** Sends a prompt. */
export async function say({ session }: Pick<ProjectSession, "session">, text: string): Promise<void> {
  await session.run({ role: "user", content: text, timestamp: Date.now() }).result();
}

/** The requests that a session has kept. */
export function requestsOf({ session }: Pick<ProjectSession, "session">): RequestEntry[] {
  return session.branches.entries.flatMap((entry) => (entry.type === "request" ? [entry] : []));
}
