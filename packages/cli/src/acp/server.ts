import { realpathSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import {
  type SessionInfo as AcpSessionInfo,
  type AgentContext,
  type AnyMessage,
  agent,
  type McpServer,
  methods,
  ndJsonStream,
  RequestError,
  type Stream,
} from "@agentclientprotocol/sdk";
import { createProjectHarness, MissingKeyError } from "@diligent/core/harness";
import type { DiligentConfig } from "@diligent/core/run";
import { listSessions, removeSession, type SessionInfo } from "@diligent/core/sessions";
import { projectSessionsDir } from "../commands/list.ts";
import { describeError, EXIT_SUCCESS, UsageError } from "../errors.ts";
import { type CliIo, writeLine } from "../io/io.ts";
import { openSavedRedactor } from "../session/saved-secrets.ts";
import { SESSION_FORMATTER } from "../session/session-formatter.ts";
import { AcpSession } from "./acp-session.ts";
import {
  describeAgent,
  type EditorAbilities,
  readAbilities,
  SIGN_IN_METHOD,
  type StartedInput,
} from "./initialize.ts";

/** How an editor opens a session. */
interface Opening {
  cwd: string;
  additionalDirectories?: string[];
  mcpServers?: McpServer[];
}

/** The sessions of one connection. */
class AcpServer {
  private readonly sessions = new Map<string, AcpSession>();
  /** Directories in which sessions were opened, for those that are named by their id only. */
  private readonly directories = new Set<string>();

  constructor(
    private readonly io: CliIo,
    /** What the editor has announced. */
    public abilities: EditorAbilities,
  ) {
    this.directories.add(io.cwd);
  }

  async open(
    client: AgentContext,
    opening: Opening,
    start: { fresh: true } | { resume: string },
  ): Promise<AcpSession> {
    const cwd = toDirectory(opening.cwd);
    this.directories.add(cwd);
    try {
      const harness = await createProjectHarness({
        cwd,
        environment: this.io.environment,
        overrides: {
          formatter: SESSION_FORMATTER,
          addedDirectories: opening.additionalDirectories?.map(toDirectory),
          mcpServers: toServers(opening.mcpServers),
          warn: (message) => writeLine(this.io.stderr, message),
        },
      });
      const session = await AcpSession.open({ client, abilities: this.abilities }, harness, start);
      for (const { level, message } of session.opened.notices)
        if (level !== "info") writeLine(this.io.stderr, `${level}: ${message}`);
      await this.sessions.get(session.id)?.close();
      this.sessions.set(session.id, session);
      return session;
    } catch (error) {
      throw toRequestError(error);
    }
  }

  /** A session of an earlier time. @throws RequestError for an unknown one. */
  async reopen(client: AgentContext, sessionId: string, opening: Opening): Promise<AcpSession> {
    const known = await this.list(toDirectory(opening.cwd));
    if (!known.some(({ id }) => id === sessionId)) throw RequestError.resourceNotFound(sessionId);
    // The one that is open already: a running prompt goes to the editor that asks now.
    await this.sessions.get(sessionId)?.close();
    this.sessions.delete(sessionId);
    return this.open(client, opening, { resume: sessionId });
  }

  async list(cwd: string): Promise<SessionInfo[]> {
    const redactor = await openSavedRedactor(cwd, this.io.environment);
    const sessions = await listSessions(projectSessionsDir(cwd, this.io), { redactor });
    return sessions.filter(({ agent: subAgent, archived }) => subAgent === undefined && !archived);
  }

  /** @throws RequestError if it is not open. */
  get(sessionId: string): AcpSession {
    const session = this.sessions.get(sessionId);
    if (!session) throw RequestError.resourceNotFound(sessionId);
    return session;
  }

  find(sessionId: string): AcpSession | undefined {
    return this.sessions.get(sessionId);
  }

  async close(sessionId: string): Promise<void> {
    const session = this.get(sessionId);
    this.sessions.delete(sessionId);
    await session.close();
  }

  /** Deletes the file of a session. @throws RequestError if the session has no file. */
  async delete(sessionId: string): Promise<void> {
    const open = this.sessions.get(sessionId);
    if (open) await this.close(sessionId);
    for (const cwd of this.directories) {
      const session = (await this.list(cwd)).find(({ id }) => id === sessionId);
      if (session) return removeSession(session);
    }
    if (!open) throw RequestError.resourceNotFound(sessionId);
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.sessions.values()].map((session) => session.close()));
    this.sessions.clear();
  }

  flush(): void {
    for (const { opened } of this.sessions.values()) opened.session.flush();
  }
}

/**
 * Speaks the Agent Client Protocol until the editor closes the input or stdout.
 * @param input of which the first line may be answered already.
 */
export async function serveAcp(io: CliIo, { answer, lines, continueLines }: StartedInput): Promise<number> {
  const server = new AcpServer(io, answer?.abilities ?? readAbilities(undefined));
  let isAnnounced = answer !== undefined;
  const app = agent({ name: "diligent" })
    .onRequest(methods.agent.initialize, ({ params }) => {
      // What stands for a first request that was answered early announces nothing.
      if (!isAnnounced) server.abilities = readAbilities(params);
      isAnnounced = false;
      return describeAgent();
    })
    .onRequest(methods.agent.authenticate, ({ params: { methodId } }) => {
      if (methodId !== SIGN_IN_METHOD)
        throw RequestError.invalidParams({ methodId }, `unknown method ${methodId}`);
      return {};
    })
    .onRequest(methods.agent.session.new, async ({ params, client }) => {
      const session = await server.open(client, params, { fresh: true });
      later(() => session.sendCommands());
      return { sessionId: session.id, modes: session.modes, configOptions: await session.configOptions() };
    })
    .onRequest(methods.agent.session.load, async ({ params, client }) => {
      const session = await server.reopen(client, params.sessionId, params);
      await session.replay();
      later(() => session.sendCommands());
      return { modes: session.modes, configOptions: await session.configOptions() };
    })
    .onRequest(methods.agent.session.resume, async ({ params, client }) => {
      const session = await server.reopen(client, params.sessionId, params);
      later(() => session.sendCommands());
      return { modes: session.modes, configOptions: await session.configOptions() };
    })
    .onRequest(methods.agent.session.list, async ({ params: { cwd } }) => {
      const sessions = await server.list(cwd ? toDirectory(cwd) : io.cwd);
      return { sessions: sessions.map(toAcpInfo) };
    })
    .onRequest(methods.agent.session.close, async ({ params }) => {
      await server.close(params.sessionId);
      return {};
    })
    .onRequest(methods.agent.session.delete, async ({ params }) => {
      await server.delete(params.sessionId);
      return {};
    })
    .onRequest(methods.agent.session.setMode, async ({ params: { sessionId, modeId } }) => {
      await server.get(sessionId).setMode(modeId);
      return {};
    })
    .onRequest(methods.agent.session.setConfigOption, async ({ params }) => {
      const session = server.get(params.sessionId);
      await session.setOption(params.configId, params.value);
      return { configOptions: await session.configOptions() };
    })
    .onRequest(methods.agent.session.prompt, ({ params, signal }) =>
      server.get(params.sessionId).prompt(params.prompt, signal),
    )
    .onNotification(methods.agent.session.cancel, ({ params }) => server.find(params.sessionId)?.cancel());
  const output = new WritableStream<Uint8Array>({
    write(chunk) {
      io.stdout.write(new TextDecoder().decode(chunk));
    },
  });
  const stream = ndJsonStream(output, lines);
  const connection = app.connect(answer ? withoutAnswer(stream, answer.message.id, continueLines) : stream);
  const stop = () => connection.close();
  const unsubscribe = io.onSignal(stop);
  io.stdout.closed.addEventListener("abort", stop, { once: true });
  io.onExit(() => server.flush());
  await connection.closed;
  unsubscribe();
  await server.closeAll();
  return EXIT_SUCCESS;
}

/** The stream without the first answer with this id: it was sent already. @param skipped called when it is left out. */
function withoutAnswer({ readable, writable }: Stream, id: number | string, skipped: () => void): Stream {
  const writer = writable.getWriter();
  let isSkipped = false;
  const remaining = new WritableStream<AnyMessage>({
    async write(message) {
      const isAnswer = !isSkipped && !("method" in message) && message.id === id;
      if (!isAnswer) return writer.write(message);
      isSkipped = true;
      skipped();
    },
    close: () => writer.close(),
    abort: (reason) => writer.abort(reason),
  });
  return { readable, writable: remaining };
}

/** After the answer: an editor ignores updates of a session that it does not know yet. */
function later(action: () => void): void {
  setTimeout(action, 0);
}

/** @throws RequestError for what is not a directory. */
function toDirectory(path: string): string {
  try {
    const real = realpathSync(path);
    if (isAbsolute(path) && statSync(real).isDirectory()) return real;
  } catch {
    // It does not exist, or contains a NUL.
  }
  throw RequestError.invalidParams({ path }, `not the absolute path of a directory: ${path}`);
}

type ServerSettings = NonNullable<DiligentConfig["mcpServers"]>;

/** The servers that the editor wants a session to use; they have the rights of the user's own. */
function toServers(servers: readonly McpServer[] = []): ServerSettings | undefined {
  if (servers.length === 0) return undefined;
  const toRecord = (pairs: readonly { name: string; value: string }[]) =>
    Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
  return Object.fromEntries(
    servers.map((server) => {
      if (!("command" in server))
        return [server.name, { type: server.type, url: server.url, headers: toRecord(server.headers) }];
      const { command, args, env } = server;
      return [server.name, { command, args: [...args], env: toRecord(env) }];
    }),
  );
}

function toAcpInfo({ id, cwd, name, firstUserMessage, modified }: SessionInfo): AcpSessionInfo {
  const title = name ?? firstUserMessage?.replaceAll(/\s+/g, " ").slice(0, 80);
  return { sessionId: id, cwd, title: title ?? null, updatedAt: modified.toISOString() };
}

function toRequestError(error: unknown): unknown {
  if (error instanceof RequestError) return error;
  if (error instanceof MissingKeyError) return RequestError.authRequired(undefined, error.message);
  if (error instanceof UsageError) return RequestError.invalidParams(undefined, describeError(error));
  return error;
}
