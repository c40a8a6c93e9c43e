import { join } from "node:path";
import type { Peer } from "./peer.ts";
import { writeSettings } from "./write-settings.ts";

const MODEL = "local/claude-sonnet-5";

/** Asks the server as Anthropic's. The version is pinned, so that figures stay comparable. */
export const OPENCODE: Peer = {
  name: "opencode",
  package: "opencode-ai@1.18.33",
  service: "anthropic",
  prepare({ installed, home, serverUrl }) {
    const local = {
      npm: "@ai-sdk/anthropic",
      options: { baseURL: `${serverUrl}/v1`, apiKey: "bench-key" },
      models: { "claude-sonnet-5": { name: "claude-sonnet-5" } },
    };
    const settings = { autoupdate: false, share: "disabled", model: MODEL, small_model: MODEL };
    writeSettings(home, ".config/opencode/opencode.json", { ...settings, provider: { local } });
    // The package's own start only looks for this one, by a script that is run when it is installed.
    const platform = `opencode-${process.platform}-${process.arch}`;
    const program = join(installed, "node_modules", platform, "bin", "opencode");
    return { version: [program, "--version"], print: [program, "run", "Do what is needed."] };
  },
};
