import type { ProjectSession } from "@diligent/core/harness";
import { DraftFile, readRecentInputs } from "@diligent/core/interactive";
import { now } from "@diligent/core/light";
import { type Environment, findProjectRoot, homeDirectory, type SecretRedactor } from "@diligent/core/run";
import type { CommandContext, SlashCommand } from "../commands/types.ts";
import { createCompletion } from "../editor/completion.ts";
import { DraftSaver, type DraftStore } from "../editor/draft.ts";
import { createFileIndex } from "../editor/file-index.ts";
import { PromptEditor, type PromptEditorOptions } from "../editor/prompt-editor.ts";
import type { InlineScreen } from "../screen/inline-screen.ts";

// A user who typed this recently has not finished.
const WRITING_MS = 2_000;

/** True for a login or logout command with more than a provider name: it may contain a key. */
function mayHoldKey(text: string): boolean {
  return /^\s*\/log(?:in|out)\s+(?:\S+\s+\S|\S{16,})/.test(text);
}

interface FieldDeps extends Pick<PromptEditorOptions, "theme" | "keys"> {
  /** Saves unsent text. */
  draft: DraftSaver;
  /** Receives the sent text, and its visible part. */
  submit(text: string, visibleText: string): void;
}

/** The prompt field: the editor, and its draft that survives the program. */
export class PromptField {
  readonly editor: PromptEditor;
  /** The time of the last change that was not a submission, in milliseconds. */
  private wroteAt: number | undefined;

  constructor(
    screen: InlineScreen,
    private readonly deps: FieldDeps,
  ) {
    const { theme, keys, draft, submit } = deps;
    this.editor = new PromptEditor(screen, {
      theme,
      ...(keys && { keys }),
      onSubmit: (text, { visibleText }) => {
        draft.sent();
        this.wroteAt = undefined;
        submit(text, visibleText);
      },
      isKept: (text) => !mayHoldKey(text),
      onChange: (text) => {
        draft.change(mayHoldKey(text) ? "" : text);
        this.wroteAt = now();
      },
    });
  }

  /** A user who has just deleted everything is still typing, too. */
  readonly isWriting = (): boolean =>
    !this.editor.isEmpty || (this.wroteAt !== undefined && now() - this.wroteAt < WRITING_MS);

  /**
   * From now on, prompts are typed for this session. Up first brings an unsent draft of it.
   * @returns true if there is such a draft.
   */
  openSession({ session, redactor }: Pick<ProjectSession, "session" | "redactor">): boolean {
    const draft = this.deps.draft.open(session, redactor);
    if (draft !== undefined) this.editor.offer(draft);
    return draft !== undefined;
  }

  /** Call it when the program ends: it resolves once unsent text is saved. */
  keepDraft(): Promise<void> {
    return this.deps.draft.flush();
  }
}

const MAX_HISTORY = 100;

const NO_STORE: DraftStore = { takeOver: () => undefined, write() {}, remove() {} };

interface DraftLocation {
  cwd: string;
  environment: Environment;
}

/** Gives the editor completion and earlier prompts, which the first words do not need. */
export async function assistEditor(
  editor: PromptEditor,
  { cwd, environment }: DraftLocation,
  context: CommandContext,
): Promise<void> {
  const root = findProjectRoot(cwd, homeDirectory(environment));
  editor.setCompletion(
    createCompletion({
      get commands() {
        return context.commands.map((command) => toCompletable(command, context));
      },
      files: createFileIndex({ cwd, root, environment }),
      listMentions: async () => (await context.session()).listMentions(),
    }),
  );
  // Prompts saved before secrets were masked in the history may contain some.
  const redactor = await loadRedactor(root, environment);
  const inputs = redactor.redact(readRecentInputs(environment, { root, limit: MAX_HISTORY }));
  editor.setHistory(inputs.map(({ text }) => text));
}

/**
 * The store for the unsent prompt of a session, so that it survives the program; undefined if nothing is
 * saved.
 */
export function openDraft(
  { cwd, environment }: DraftLocation,
  { isSaved }: { isSaved: boolean },
): DraftSaver {
  const root = findProjectRoot(cwd, homeDirectory(environment));
  return new DraftSaver({
    createStore: (sessionId) => (isSaved ? new DraftFile(environment, { root, sessionId }) : NO_STORE),
    loadRedactor: () => loadRedactor(root, environment),
  });
}

async function loadRedactor(root: string, environment: Environment): Promise<SecretRedactor> {
  return (await import("../../session/saved-secrets.ts")).openSavedRedactor(root, environment);
}

function toCompletable(command: SlashCommand, context: CommandContext) {
  const { name, aliases, description, complete } = command;
  return {
    name,
    description,
    ...(aliases && { aliases }),
    ...(complete && { complete: async (argument: string) => complete(argument, context) }),
  };
}
