import { assertNever, type CompactionPreview } from "@diligent/core/run";
import { toSingleLine } from "../../text/terminal-text.ts";
import { createChoice } from "../pickers/picker.ts";
import { toContextStatus } from "../session-status.ts";
import { formatCount } from "../text.ts";
import { type CommandContext, formatNumber, formatRows, note, type SlashCommand } from "./types.ts";

const PREVIEW = "--preview";
const UNDO = "--undo";
const OPTIONS = [PREVIEW, UNDO];

/**
 * `/compact`: summarizes before the window is full; the argument says what the summary should focus on. `--preview`
 * shows what would be summarized and asks; `--undo` restores the context from before the last summary.
 */
export const COMPACT: SlashCommand = {
  name: "compact",
  aliases: ["compress", "summarize"],
  description: `Summarize older messages; ${PREVIEW} asks first, ${UNDO} restores them`,
  argumentHint: `[focus|${UNDO}]`,
  run(argument, context) {
    const [, option, text = ""] = /^(--\S*)\s*([\s\S]*)$/.exec(argument) ?? [];
    switch (option) {
      case undefined:
        return context.compact(argument || undefined);
      case PREVIEW:
        return previewCompaction(text || undefined, context);
      case UNDO:
        if (text !== "") throw new Error(`/compact ${UNDO} takes no text, not ${toSingleLine(text, 60)}.`);
        return undoCompaction(context);
      default:
        throw new Error(
          `/compact has no option ${toSingleLine(option, 60)}; its options are ${OPTIONS.join(" and ")}.`,
        );
    }
  },
  complete: (prefix) => OPTIONS.filter((option) => option.startsWith(prefix)),
};

async function previewCompaction(focus: string | undefined, context: CommandContext): Promise<void> {
  const { session } = await context.session();
  const preview = await session.previewCompaction();
  if (!preview) return note(context, "Nothing to summarize yet.");
  context.print(formatPreview(preview, context.columns()));
  const compact = () => context.compact(focus);
  if (context.confirm) {
    if (await context.confirm("Summarize now?")) await compact();
    else note(context, UNCHANGED);
    return;
  }
  context.open(
    createChoice("compact", "Summarize now?", [
      // The safe choice is first, so that an accidental Enter changes nothing.
      { label: "No", detail: "keep the conversation as it is", run: () => note(context, UNCHANGED) },
      { label: "Yes", detail: `${UNDO} restores it`, run: compact },
    ]),
  );
}

const UNCHANGED = "Not summarized; the conversation is unchanged.";

const MAX_WORDS = 120;
const MAX_FILES = 8;

function formatPreview(preview: CompactionPreview, columns: number): string {
  const { summarized, kept, pinned, arePinnedShortened, chosen, files } = preview;
  const size = ({ messages, tokens }: CompactionPreview["kept"]) =>
    `${formatCount(messages, "message")}, about ${formatNumber(tokens)} tokens`;
  const ends = ({ first = "", last = "", messages }: CompactionPreview["kept"]) => [
    ...(messages > 0 ? [["", `first: ${toSingleLine(first, MAX_WORDS)}`]] : []),
    ...(messages > 1 ? [["", `last: ${toSingleLine(last, MAX_WORDS)}`]] : []),
  ];
  const shortened = arePinnedShortened ? "; not all fit, so some are shortened or left out" : "";
  const rows = [
    ["summarized", size(summarized)],
    ...ends(summarized),
    ["kept", size(kept)],
    ...ends(kept),
    ...(chosen.messages > 0 ? [["pinned", `${size(chosen)}, by /pin`]] : []),
    ["pinned", `${size(pinned)}; what you said, verbatim after the summary${shortened}`],
    ["files", describeFiles(files)],
  ];
  return `What a summary would change\n\n${formatRows(rows, { columns })}`;
}

function describeFiles({ readFiles, modifiedFiles }: CompactionPreview["files"]): string {
  const paths = [...modifiedFiles, ...readFiles];
  if (paths.length === 0) return "none";
  const more = paths.length - MAX_FILES;
  const shown = paths.slice(0, MAX_FILES).map((path) => toSingleLine(path, MAX_WORDS));
  const rest = more > 0 ? ` and ${more} more` : "";
  return `${modifiedFiles.length} modified, ${readFiles.length} only read: ${shown.join(", ")}${rest}`;
}

/** `/pin`: opens the list of messages; choosing one pins or unpins it. */
export const PIN: SlashCommand = {
  name: "pin",
  description: "Pin messages that every summary keeps verbatim",
  isAlwaysPossible: true,
  opensList: true,
  async run(argument, context) {
    if (argument !== "") throw new Error("/pin takes no text; choose a message from its list.");
    const { pinPicker } = await import("../pickers/pins.ts");
    const picker = await pinPicker(context);
    if (picker) context.open(picker);
    else note(context, "No messages to pin yet.");
  },
};

async function undoCompaction(context: CommandContext): Promise<void> {
  const opened = await context.session();
  const outcome = await opened.session.undoCompaction();
  switch (outcome.kind) {
    case "nothing":
      return note(context, "No summary to undo in this conversation.");
    case "too_long":
      return note(
        context,
        `Cannot undo the summary: the previous context takes about ${formatNumber(outcome.tokens)} tokens, and ` +
          `${formatNumber(outcome.maxTokens)} fit. Nothing was changed.`,
      );
    case "undone":
      context.change((view) => ({ ...view, status: { ...view.status, ...toContextStatus(opened) } }));
      return note(
        context,
        `Summary undone: ${formatNumber(outcome.tokensBefore)} → ${formatNumber(outcome.tokensAfter)} tokens. ` +
          "The model sees the messages again; later ones follow them.",
      );
    default:
      assertNever(outcome);
  }
}
