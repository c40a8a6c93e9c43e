import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Uses OpenAI's Responses API. The version is pinned, so that figures stay comparable. */
const CODEX: Peer = {
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

const PI_MODEL = "claude-sonnet-5";

/** Uses Anthropic's API. The version is pinned, so that figures stay comparable. */
const PI: Peer = {
  name: "pi",
  package: "@earendil-works/pi-coding-agent@0.87.1",
  service: "anthropic",
  prepare({ installed, home, serverUrl }) {
    const model = {
      id: PI_MODEL,
      name: PI_MODEL,
      reasoning: false,
      input: ["text"],
      contextWindow: 200_000,
      maxTokens: 8_000,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    };
    const local = { baseUrl: serverUrl, api: "anthropic-messages", apiKey: "bench-key", models: [model] };
    writeSettings(home, ".pi/agent/models.json", { providers: { local } });
    // It wants a newer Node than many machines have; it also runs on Bun.
    const program = join(installed, "node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js");
    const start = [process.execPath, program];
    return {
      version: [...start, "--version"],
      print: [...start, "-p", "--provider", "local", "--model", PI_MODEL, "Do what is needed."],
      environment: { PI_OFFLINE: "1" },
    };
  },
};

const OPENCODE_MODEL = "local/claude-sonnet-5";

/** Uses Anthropic's API. The version is pinned, so that figures stay comparable. */
const OPENCODE: Peer = {
  name: "opencode",
  package: "opencode-ai@1.18.33",
  service: "anthropic",
  prepare({ installed, home, serverUrl }) {
    const local = {
      npm: "@ai-sdk/anthropic",
      options: { baseURL: `${serverUrl}/v1`, apiKey: "bench-key" },
      models: { "claude-sonnet-5": { name: "claude-sonnet-5" } },
    };
    const settings = {
      autoupdate: false,
      share: "disabled",
      model: OPENCODE_MODEL,
      small_model: OPENCODE_MODEL,
    };
    writeSettings(home, ".config/opencode/opencode.json", { ...settings, provider: { local } });
    // The package's own launcher only looks for this file, which its install script would put in place.
    const platform = `opencode-${process.platform}-${process.arch}`;
    const program = join(installed, "node_modules", platform, "bin", "opencode");
    return { version: [program, "--version"], print: [program, "run", "Do what is needed."] };
  },
};

/** In the order in which they are measured and shown. */
export const PEERS: readonly Peer[] = [CODEX, PI, OPENCODE];

/** Where a peer is installed and what it may use: everything is deleted afterwards. */
interface PeerLocation {
  /** The directory that contains `node_modules`. */
  installed: string;
  /** A new home directory, for its settings. */
  home: string;
  /** The loopback server that replaces the services, without a path. */
  serverUrl: string;
}

/** How to start an installed peer; each is a program with its arguments. */
export interface PeerCommands {
  version: readonly string[];
  /** One prompt without a screen. */
  print: readonly string[];
  /** In addition to what every program needs. */
  environment?: Readonly<Record<string, string>>;
}

/** A program that users could choose instead of diligent. */
export interface Peer {
  name: string;
  /** Package and exact version; its dependencies for this platform are installed with it. */
  package: string;
  /** Which answers it expects from the server. */
  service: "anthropic" | "openai";
  /** Writes its settings, so that it uses only the loopback server. */
  prepare(place: PeerLocation): PeerCommands;
}

/** Writes a file below a home directory; an object is written as JSON. */
function writeSettings(home: string, path: string, content: string | object): void {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content), { mode: 0o600 });
}
