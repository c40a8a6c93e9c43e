import { join } from "node:path";
import type { Peer } from "./peer.ts";
import { writeSettings } from "./write-settings.ts";

/** Asks the server as OpenAI's Responses API. The version is pinned, so that figures stay comparable. */
export const CODEX: Peer = {
  name: "codex",
  package: "@openai/codex@0.169.0",
  service: "openai",
  prepare({ installed, home, serverUrl }) {
    const settings = [
      'model = "gpt-5.4"',
      'model_provider = "local"',
      "[model_providers.local]",
      'name = "local"',
      `base_url = "${serverUrl}/v1"`,
      'env_key = "BENCH_KEY"',
      'wire_api = "responses"',
    ];
    writeSettings(home, ".codex/config.toml", `${settings.join("\n")}\n`);
    const program = join(installed, "node_modules", ".bin", "codex");
    return {
      version: [program, "--version"],
      print: [program, "exec", "--skip-git-repo-check", "Do what is needed."],
      environment: { BENCH_KEY: "bench-key" },
    };
  },
};
