import { rmSync } from "node:fs";
import { join } from "node:path";
import { isAddress, isPublicAddress } from "../../infrastructure/network/addresses.ts";
import type { AskForHost, NetworkConnection } from "../../infrastructure/network/connection.ts";
import type { ResolveName } from "../../infrastructure/network/host-addresses.ts";
import { findLimitRefusal } from "../../infrastructure/network/host-limit.ts";
import {
  DEFAULT_PORTS,
  formatHostAndPort,
  type HostPattern,
  matchesHostPattern,
  toHostPatternText,
} from "../../infrastructure/network/host-pattern.ts";
import { type NetworkSetting, toHostPatterns } from "../../infrastructure/network/network-setting.ts";
import { type Environment, randomHex, sleep } from "../../infrastructure/runtime.ts";
import { NamespaceRelay } from "./namespace-relay.ts";
import { type Authorization, type ConnectionRecord, NetworkProxy, type WantedConnection } from "./proxy.ts";

/**
 * The hosts that the commands of a session may reach, who is asked about other hosts, and where connections are
 * reported.
 */
export interface SessionNetworkOptions {
  setting: Exclude<NetworkSetting, "off">;
  /** Its variables name the user's own proxy. */
  environment: Environment;
  /** The session's private temporary directory; undefined if there is none. */
  directory: string | undefined;
  /** Asks about a host for a process whose command has returned; left out if nobody can answer. */
  askForHost?: AskForHost | undefined;
  /** Called for every connection, allowed or refused, when it has ended. */
  onConnection?: ((connection: NetworkConnection) => void) | undefined;
  /** By default, the system's resolver. */
  resolve?: ResolveName | undefined;
  /** How long a connection waits for an answer; `ANSWER_LIMIT_MS` when left out. */
  answerLimitMs?: number | undefined;
}

/** The network namespace of a session. */
export interface JoinableNamespace {
  /** Changes when the namespace is created again. */
  id: number;
  /** The command line that runs another one in the network namespace only. */
  toJoiningNetwork(argv: readonly string[]): string[];
}

/** A command that is about to run. */
interface NetworkedCommand {
  /** The command line. */
  line: string;
  /** Asks about a host while the command runs. */
  askForHost?: AskForHost | undefined;
}

/** The network of one command. */
export interface CommandNetwork {
  /** The variables by which programs find the proxy. */
  environment: Readonly<Record<string, string>>;
  /** The refused hosts and the reasons, as a clause for the model; undefined if there were none. */
  explain(): string | undefined;
  /** Call it when the command has returned: from then on only the session is asked about hosts. */
  finish(): void;
  /** Call it when no process of the command is running. */
  end(): void;
}

interface OpenCommand extends NetworkedCommand {
  /** The user's answers for this command, by pattern. */
  answers: Map<string, boolean>;
  /** The refused hosts and ports, with the reasons. */
  refused: Map<string, string>;
  /** Patterns that would have allowed it. */
  unlisted: Set<string>;
  hasReturned: boolean;
}

const ANSWER_LIMIT_MS = 60_000;
const MAX_ATTEMPTS = 2;
const LABEL_BYTES = 16;

// A command that tries more hosts does not need a longer list.
const MAX_EXPLAINED = 5;

// The path of a Unix socket, with its closing zero, is at most 108 bytes.
const MAX_SOCKET_PATH_BYTES = 107;

/** Connects the network namespace of a session with the hosts that its commands may reach. */
export class SessionNetwork {
  private readonly patterns: readonly HostPattern[];
  private readonly commands = new Map<string, OpenCommand>();
  private readonly questions = new Map<string, Promise<boolean>>();
  private proxy: Promise<NetworkProxy> | undefined;
  private openProxy: NetworkProxy | undefined;
  private relay: { relay: NamespaceRelay; namespaceId: number } | undefined;

  constructor(private readonly options: SessionNetworkOptions) {
    const { setting } = options;
    this.patterns = setting === "on" ? [] : toHostPatterns(setting.allow);
  }

  /** Opens the network for a command. @throws Error with the reason, a clause, when that is not possible. */
  async open(namespace: JoinableNamespace, command: NetworkedCommand): Promise<CommandNetwork> {
    // Commands see the proxy's socket, and could pretend to be others by a label that they guess.
    const label = randomHex(LABEL_BYTES);
    const { relay, port } = await this.openPort(namespace, label);
    const opened: OpenCommand = {
      ...command,
      answers: new Map(),
      refused: new Map(),
      unlisted: new Set(),
      hasReturned: false,
    };
    this.commands.set(label, opened);
    return {
      environment: toProxyEnvironment(port),
      explain: () => explainRefused(opened) ?? (relay.isAlive ? undefined : RELAY_LOST),
      finish: () => {
        opened.hasReturned = true;
      },
      end: () => {
        relay.closePort(label);
        this.commands.delete(label);
      },
    };
  }

  /** Starts what the first command would wait for. */
  prepare(namespace: JoinableNamespace): void {
    // The command that needs it reports the failure.
    this.findRelay(namespace).catch(() => {});
  }

  private async openPort(namespace: JoinableNamespace, label: string) {
    for (let attempt = 1; ; attempt++) {
      const relay = await this.findRelay(namespace);
      try {
        return { relay, port: await relay.openPort(label) };
      } catch (error) {
        // It may have been killed just now.
        if (attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  /** Ends all connections; they are reported before this returns. */
  endConnections(): void {
    this.openProxy?.endConnections();
  }

  /** Call this when nothing is running. */
  async close(): Promise<void> {
    const proxy = await this.proxy?.catch(() => undefined);
    this.relay?.relay.end();
    proxy?.close();
    rmSync(this.socketPath, { force: true });
  }

  /** Started with the first command, and again if it or its namespace has ended. */
  private async findRelay(namespace: JoinableNamespace): Promise<NamespaceRelay> {
    this.proxy ??= this.startProxy();
    this.openProxy = await this.proxy;
    const known = this.relay;
    if (known?.namespaceId === namespace.id && known.relay.isAlive) return known.relay;
    known?.relay.end();
    const relay = NamespaceRelay.start({
      join: (argv) => namespace.toJoiningNetwork(argv),
      socketPath: this.socketPath,
    });
    this.relay = { relay, namespaceId: namespace.id };
    return relay;
  }

  private get socketPath(): string {
    return join(this.options.directory ?? "", "network.sock");
  }

  private async startProxy(): Promise<NetworkProxy> {
    const { directory, environment, resolve } = this.options;
    if (directory === undefined) throw new Error("there is no directory for its socket");
    if (Buffer.byteLength(this.socketPath) > MAX_SOCKET_PATH_BYTES)
      throw new Error(`the path of its socket, ${this.socketPath}, is too long`);
    return NetworkProxy.listen(this.socketPath, {
      environment,
      resolve,
      authorize: (wanted) => this.authorize(wanted),
      onConnection: (record) => this.report(record),
    });
  }

  private report({ label, isAllowed, ...record }: ConnectionRecord): void {
    const command = this.commands.get(label);
    if (!isAllowed) command?.refused.set(formatHostAndPort(record), record.by);
    const { line } = command ?? {};
    this.options.onConnection?.({
      ...record,
      allowed: isAllowed,
      ...(line !== undefined && { command: line }),
    });
  }

  private async authorize(wanted: WantedConnection): Promise<Authorization> {
    const { host, port } = wanted;
    if (!this.commands.has(wanted.label)) return refuse("it does not come from a command of this session");
    const beyondLimit = findLimitRefusal(wanted);
    if (beyondLimit !== undefined) return refuse(beyondLimit);
    const pattern = this.patterns.find((each) => matchesHostPattern(each, wanted));
    if (pattern) {
      const mayBePrivate = isAddress(pattern.host);
      return { isAllowed: true, by: `the entry ${pattern.text}`, mayBePrivate };
    }
    if (isAddress(host) && !isPublicAddress(host))
      return refuse(
        `it is not a public address, and "sandboxNetwork" does not name ${formatHostAndPort(wanted)}`,
      );
    if (/(?:^|\.)localhost$/.test(host))
      return refuse("localhost is reached directly, not through the proxy");
    if (this.options.setting === "on") {
      return DEFAULT_PORTS.includes(port)
        ? { isAllowed: true, by: 'the setting "on"', mayBePrivate: false }
        : refuse(`only ports ${DEFAULT_PORTS.join(" and ")} are allowed`);
    }
    return this.ask(wanted);
  }

  private async ask(wanted: WantedConnection): Promise<Authorization> {
    const command = this.commands.get(wanted.label);
    const key = toHostPatternText(wanted);
    const askForHost = command?.hasReturned === false ? command.askForHost : this.options.askForHost;
    if (askForHost === undefined) return this.refuseUnlisted(wanted, "");
    // The answers "once" and "no" apply to this command; other commands are asked about again.
    const answered = command?.answers.get(key);
    const isAllowed =
      answered ?? (await this.waitForAnswer(key, command, () => askForHost(wanted, command?.line)));
    if (isAllowed === undefined) return this.refuseUnlisted(wanted, ", and nobody has answered yet");
    return isAllowed
      ? { isAllowed, by: "the user's answer", mayBePrivate: false }
      : this.refuseUnlisted(wanted, "");
  }

  /**
   * Connections to the same host share a question. Undefined if there is no answer in time; the question stays open.
   */
  private async waitForAnswer(
    key: string,
    command: OpenCommand | undefined,
    ask: () => Promise<boolean>,
  ): Promise<boolean | undefined> {
    const question = this.questions.get(key) ?? this.putQuestion(key, ask);
    // A late answer applies to the next connection.
    const answer = question.then((isAllowed) => {
      command?.answers.set(key, isAllowed);
      return isAllowed;
    });
    const limit = new AbortController();
    const late = sleep(this.options.answerLimitMs ?? ANSWER_LIMIT_MS, limit.signal).then(() => undefined);
    try {
      return await Promise.race([answer, late]);
    } finally {
      limit.abort();
    }
  }

  /** Never rejects: without an answer, the answer is no. */
  private putQuestion(key: string, ask: () => Promise<boolean>): Promise<boolean> {
    const question = ask()
      .catch(() => false)
      .finally(() => this.questions.delete(key));
    this.questions.set(key, question);
    return question;
  }

  private refuseUnlisted(wanted: WantedConnection, addition: string): Authorization {
    this.commands.get(wanted.label)?.unlisted.add(toHostPatternText(wanted));
    return refuse(`it is not among the allowed hosts${addition}`);
  }
}

const RELAY_LOST =
  "the way to the network was lost, because its process was ended; the next command gets a new one";

function refuse(by: string): Authorization {
  return { isAllowed: false, by };
}

/** Programs that read none of these variables have no route. */
function toProxyEnvironment(port: number): Record<string, string> {
  const http = `http://127.0.0.1:${port}`;
  const socks = `socks5h://127.0.0.1:${port}`;
  const own = "localhost,127.0.0.1,::1";
  return {
    http_proxy: http,
    https_proxy: http,
    HTTP_PROXY: http,
    HTTPS_PROXY: http,
    all_proxy: socks,
    ALL_PROXY: socks,
    no_proxy: own,
    NO_PROXY: own,
    // Without this variable, Node's `fetch` ignores the others.
    NODE_USE_ENV_PROXY: "1",
  };
}

function explainRefused({ refused, unlisted }: OpenCommand): string | undefined {
  if (refused.size === 0) return undefined;
  const list = [...refused].map(([host, by]) => `${host} (${by})`);
  const entries = [...unlisted].slice(0, MAX_EXPLAINED).join(",");
  const wayOut =
    unlisted.size === 0
      ? ""
      : `. The user can allow ${unlisted.size === 1 ? "it" : "them"} with --network ${entries} or the setting "sandboxNetwork"`;
  return `the network of the sandbox refused ${shorten(list)}${wayOut}`;
}

function shorten(list: readonly string[]): string {
  const more = list.length > MAX_EXPLAINED ? ` and ${list.length - MAX_EXPLAINED} more` : "";
  return list.slice(0, MAX_EXPLAINED).join(", ") + more;
}
