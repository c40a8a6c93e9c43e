import {
  type AgentContext,
  type CreateElicitationRequest,
  methods,
  type RequestPermissionRequest,
  type SendRequestOptions,
} from "@agentclientprotocol/sdk";
import type { EditorFiles, UserQuestion } from "@diligent/core/harness";
import { describeError } from "../errors.ts";
import type { EditorAbilities } from "./initialize.ts";

/** An editor that has not answered for this long does not answer. */
const FILE_LIMIT_MS = 10_000;

/** Ids of the options of a question: the position of an answer, or this. */
const NO_ANSWER = "none";

/** What one session asks of the editor besides approvals. */
export class Editor {
  /** The call that runs: what is asked belongs to it. */
  callId = "";

  constructor(
    private readonly client: AgentContext,
    private readonly abilities: EditorAbilities,
    /** Known once the session is open. */
    private readonly sessionId: () => string,
  ) {}

  /** Undefined if the editor offers neither reading nor writing. */
  get files(): EditorFiles | undefined {
    const { readsFiles, writesFiles } = this.abilities;
    if (!readsFiles && !writesFiles) return undefined;
    const { readTextFile, writeTextFile } = methods.client.fs;
    return {
      ...(readsFiles && {
        read: async (path, signal) => {
          const answer: unknown = await this.request("read", { path, signal }, (options) =>
            this.client.request(readTextFile, { sessionId: this.sessionId(), path }, options),
          );
          const content = Object(answer).content;
          if (typeof content !== "string") throw new Error(`The editor's answer for ${path} has no text.`);
          return content;
        },
      }),
      ...(writesFiles && {
        write: async (path, content, signal) => {
          await this.request("write", { path, signal }, (options) =>
            this.client.request(writeTextFile, { sessionId: this.sessionId(), path, content }, options),
          );
        },
      }),
    };
  }

  /** See `AskUser`: a form if the editor has them, else one request for permission for each question. */
  async askUser(questions: readonly UserQuestion[], signal: AbortSignal): Promise<string[][] | undefined> {
    if (signal.aborted) return undefined;
    try {
      if (this.abilities.showsForms) return await this.askByForm(questions, signal);
      // An option can be chosen, but nothing can be typed.
      if (questions.some(({ options }) => options.length === 0)) return undefined;
      const answers: string[][] = [];
      for (const question of questions) {
        const answer = await this.askByOptions(question, signal);
        if (answer === undefined) return undefined;
        answers.push([answer]);
      }
      return answers;
    } catch {
      // The editor cannot ask, or the prompt was cancelled: nobody has answered.
      return undefined;
    }
  }

  private async request<T>(
    verb: "read" | "write",
    { path, signal }: { path: string; signal: AbortSignal },
    send: (options: SendRequestOptions) => Promise<T>,
  ): Promise<T> {
    const limit = AbortSignal.timeout(FILE_LIMIT_MS);
    try {
      return await send(stoppedBy(AbortSignal.any([signal, limit])));
    } catch (error) {
      if (signal.aborted) throw error;
      const reason = limit.aborted ? `no answer in ${FILE_LIMIT_MS / 1_000} s` : describeError(error);
      throw new Error(`The editor could not ${verb} ${path}: ${reason}`);
    }
  }

  private async askByForm(
    questions: readonly UserQuestion[],
    signal: AbortSignal,
  ): Promise<string[][] | undefined> {
    const names = questions.map((_, index) => `answer${index + 1}`);
    const [only] = questions.length === 1 ? questions : [];
    const form: CreateElicitationRequest = {
      mode: "form",
      sessionId: this.sessionId(),
      ...(this.callId !== "" && { toolCallId: this.callId }),
      message: only?.question ?? "Please answer these questions.",
      requestedSchema: {
        type: "object",
        properties: Object.fromEntries(
          questions.map((question, index) => [names[index] ?? "", toField(question)]),
        ),
      },
    };
    const { create } = methods.client.elicitation;
    const answer: unknown = await this.client.request(create, form, stoppedBy(signal));
    const { action, content } = Object(answer);
    if (action !== "accept") return undefined;
    return names.map((name) => toAnswers(Object(content)[name]));
  }

  private async askByOptions(
    { question, options }: UserQuestion,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const request: RequestPermissionRequest = {
      sessionId: this.sessionId(),
      toolCall: { toolCallId: this.callId, title: question, kind: "other" },
      options: [
        ...options.map((option, index) => ({
          optionId: `${index}`,
          name: toLabel(option),
          kind: "allow_once" as const,
        })),
        { optionId: NO_ANSWER, name: "Do not answer", kind: "reject_once" },
      ],
    };
    const { requestPermission } = methods.client.session;
    const { outcome } = await this.client.request(requestPermission, request, stoppedBy(signal));
    return outcome.outcome === "selected" ? options[Number(outcome.optionId)]?.label : undefined;
  }
}

/** An editor may leave a cancelled request open. */
function stoppedBy(cancellationSignal: AbortSignal): SendRequestOptions {
  return { cancellationSignal, stopWaitingOnCancel: true };
}

function toLabel({ label, description }: UserQuestion["options"][number]): string {
  return description === undefined ? label : `${label}: ${description}`;
}

type Field = NonNullable<
  Extract<CreateElicitationRequest, { mode: "form" }>["requestedSchema"]["properties"]
>[string];

function toField({ question, header, options, multiSelect }: UserQuestion): Field {
  const about = { title: header ?? question, description: question };
  if (options.length === 0) return { type: "string", ...about };
  const values = options.map((option) => ({ const: option.label, title: toLabel(option) }));
  return multiSelect
    ? { type: "array", ...about, items: { anyOf: values } }
    : { type: "string", ...about, oneOf: values };
}

function toAnswers(value: unknown): string[] {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.flatMap((each) =>
    typeof each === "string" || typeof each === "number" || typeof each === "boolean" ? [`${each}`] : [],
  );
}
