import { join } from "node:path";
import type { Peer } from "./peer.ts";
import { writeSettings } from "./write-settings.ts";

const MODEL = "claude-sonnet-5";

/** Asks the server as Anthropic's. The version is pinned, so that figures stay comparable. */
export const PI: Peer = {
  name: "pi",
  package: "@earendil-works/pi-coding-agent@0.87.1",
  service: "anthropic",
  prepare({ installed, home, serverUrl }) {
    const model = {
      id: MODEL,
      name: MODEL,
      reasoning: false,
      input: ["text"],
      contextWindow: 200_000,
      maxTokens: 8_000,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    };
    const local = { baseUrl: serverUrl, api: "anthropic-messages", apiKey: "bench-key", models: [model] };
    writeSettings(home, ".pi/agent/models.json", { providers: { local } });
    // It wants a newer Node than many machines have; Bun runs it as well.
    const program = join(installed, "node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js");
    const start = [process.execPath, program];
    return {
      version: [...start, "--version"],
      print: [...start, "-p", "--provider", "local", "--model", MODEL, "Do what is needed."],
      environment: { PI_OFFLINE: "1" },
    };
  },
};
