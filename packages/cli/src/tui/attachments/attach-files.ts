import type { ContentBlock } from "@diligent/core/run";
import { attachDirectory } from "./attach-directory.ts";
import { attachFile } from "./attach-file.ts";
import { type Attachment, notAttached } from "./attachment.ts";
import { findMentions } from "./find-mentions.ts";
import { findMentioned, type MentionedPath, type MentionPlace } from "./mentioned-path.ts";

/** Where mentioned paths are looked for, and which. */
export interface AttachOptions extends MentionPlace {
  /** The paths to attach; those the text itself names when left out. */
  mentions?: readonly string[];
}

/** A prompt with what it names. `notes` tell the user, a line each, what was attached or left out against expectation. */
export interface PromptContent {
  /** The text itself where there is nothing to attach, else blocks of which it is the first. */
  content: string | ContentBlock[];
  notes: string[];
}

const MAX_ATTACHED = 10;

/**
 * Adds to a prompt the files that it names: text, images, the names in directories, ten at most. Naming a file is consent
 * to send it, also a secret one or one outside the project, which the notes then say. Never throws.
 */
export async function attachFiles(text: string, options: AttachOptions): Promise<PromptContent> {
  const found = findEach(options.mentions ?? findMentions(text), options);
  const attachments: Attachment[] = [];
  for (const mentioned of found.slice(0, MAX_ATTACHED)) attachments.push(await attach(mentioned));
  const left = found.slice(MAX_ATTACHED).map(({ shown }) => shown);
  const blocks = attachments.flatMap((each) => each.blocks);
  const notes = attachments.flatMap((each) => each.notes);
  if (left.length > 0) notes.push(`At most ${MAX_ATTACHED} files are attached; left out: ${left.join(", ")}`);
  return { content: blocks.length === 0 ? text : [{ type: "text", text }, ...blocks], notes };
}

/** What is there, each once whatever ways lead to it. */
function findEach(mentions: readonly string[], place: MentionPlace): MentionedPath[] {
  const byPath = new Map<string, MentionedPath>();
  for (const mention of mentions) {
    const found = findMentioned(mention, place);
    if (found && !byPath.has(found.realPath)) byPath.set(found.realPath, found);
  }
  return [...byPath.values()];
}

async function attach(mentioned: MentionedPath): Promise<Attachment> {
  const { shown, kind } = mentioned;
  if (kind === "other") return notAttached(shown, "it is neither a file nor a directory");
  const attachment = kind === "directory" ? await attachDirectory(mentioned) : await attachFile(mentioned);
  if (attachment.blocks.length === 0) return attachment;
  return { ...attachment, notes: [...describeConsent(mentioned), ...attachment.notes] };
}

function describeConsent({ shown, realPath, isOutside, isSecret }: MentionedPath): string[] {
  const what = [
    ...(isSecret ? ["may hold secrets"] : []),
    ...(isOutside ? [`is outside the project${shown === realPath ? "" : ` (${realPath})`}`] : []),
  ];
  return what.length === 0 ? [] : [`${shown} ${what.join(" and ")}; attached because you named it`];
}
