import { realpathSync, type Stats, statSync } from "node:fs";
import { opendir } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import {
  isInside,
  isSecretFile,
  readCheckedFile,
  readPromptDocument,
  readPromptImage,
  systemErrorText,
} from "@diligent/core/interactive";
import type { ContentBlock, SecretRedactor, ToolResult } from "@diligent/core/run";
import { describeError } from "../../errors.ts";
import { fence } from "../../text/format.ts";
import { toSingleLine } from "../../text/terminal-text.ts";
import { formatCount, showPath } from "../text.ts";

const MAX_ENTRIES = 200;

/**
 * The names in a mentioned directory, including hidden ones; directories end with a slash. In a very large
 * directory, an arbitrary selection.
 */
async function attachDirectory({ shown, realPath }: MentionedPath): Promise<Attachment> {
  try {
    const { names, isCut } = await listNames(realPath);
    const heading = `Attached listing of the directory ${shown}`;
    if (names.length === 0) {
      const block: ContentBlock = { type: "text", text: `${heading}: it is empty.` };
      return { blocks: [block], notes: [describeRead(shown, "an empty directory")] };
    }
    const amount = isCut ? ` (first ${MAX_ENTRIES} names)` : "";
    return {
      blocks: [createTextBlock(`${heading}${amount}:`, names.join("\n"))],
      notes: [describeRead(shown, isCut ? `first ${MAX_ENTRIES} names` : formatCount(names.length, "name"))],
    };
  } catch (error) {
    return notAttached(shown, systemErrorText(error));
  }
}

async function listNames(directory: string): Promise<{ names: string[]; isCut: boolean }> {
  const names: string[] = [];
  for await (const entry of await opendir(directory)) {
    if (names.length === MAX_ENTRIES) return { names: names.sort(), isCut: true };
    // A line break in a name would make one entry look like two.
    const name = /\p{Cc}/u.test(entry.name) ? JSON.stringify(entry.name) : entry.name;
    names.push(entry.isDirectory() ? `${name}/` : name);
  }
  return { names: names.sort(), isCut: false };
}

// Above this size, two files crowd the question out of a small window; the model can read the rest itself.
const MAX_TEXT_BYTES = 30 * 1024;
// Larger images and documents are not even opened.
const MAX_CONVERTED_BYTES = 50 * 1024 * 1024;

/**
 * The content of a mentioned file: an image, a PDF or a notebook by its name and content, or UTF-8 text cut at a line
 * end.
 */
async function attachFile({ shown, realPath }: MentionedPath): Promise<Attachment> {
  const mayBeImage = /\.(?:png|jpe?g|gif|webp)$/i.test(realPath);
  const mayBeDocument = /\.(?:pdf|ipynb)$/i.test(realPath);
  const isConverted = mayBeImage || mayBeDocument;
  const reading = await readCheckedFile(realPath, isConverted ? MAX_CONVERTED_BYTES : MAX_TEXT_BYTES + 1);
  if (reading.kind === "missing") return notAttached(shown, "it has just been removed");
  if (reading.kind === "unreadable") return notAttached(shown, reading.reason);
  const { content, size } = reading.file;
  if (isConverted && size > MAX_CONVERTED_BYTES)
    return notAttached(shown, `it is larger than ${MAX_CONVERTED_BYTES / 1024 / 1024} MB`);
  const image = mayBeImage ? await attachImage(shown, content) : undefined;
  const document = mayBeDocument ? await attachDocument(shown, content) : undefined;
  return image ?? document ?? attachText(shown, content, size);
}

async function attachDocument(shown: string, bytes: Uint8Array): Promise<Attachment | undefined> {
  try {
    const found = await readPromptDocument(shown, bytes);
    if (!found) return undefined;
    const { blocks, notes } = attachText(shown, new TextEncoder().encode(found.text));
    const about: ContentBlock = { type: "text", text: `${shown}: ${found.description}.` };
    return { blocks: [about, ...blocks, ...found.images], notes };
  } catch (error) {
    return notAttached(shown, describeError(error));
  }
}

async function attachImage(shown: string, bytes: Uint8Array): Promise<Attachment | undefined> {
  try {
    const found = await readPromptImage(shown, bytes);
    if (!found) return undefined;
    const blocks: ContentBlock[] = [{ type: "text", text: found.description }, found.image];
    return { blocks, notes: [found.description.replace(/^Image /, "Read ")] };
  } catch (error) {
    return notAttached(shown, describeError(error));
  }
}

function attachText(shown: string, bytes: Uint8Array, size = bytes.length): Attachment {
  const isCut = size > MAX_TEXT_BYTES;
  const text = decodeText(bytes.subarray(0, MAX_TEXT_BYTES), isCut);
  if (text === undefined) return notAttached(shown, "it is neither UTF-8 text nor a supported image");
  if (!isCut) {
    const block = createTextBlock(`Attached file ${shown}:`, text);
    return { blocks: [block], notes: [describeRead(shown, countLines(text))] };
  }
  const kept = text.slice(0, text.lastIndexOf("\n") + 1) || text;
  const amount = `the first ${toKilobytes(Buffer.byteLength(kept))} of ${toKilobytes(size)} KB`;
  return {
    blocks: [createTextBlock(`Attached file ${shown} (${amount}; the rest is omitted):`, kept)],
    notes: [describeRead(shown, `${countLines(kept)}, ${amount}`)],
  };
}

function countLines(text: string): string {
  const ends = text.split("\n").length - 1;
  return formatCount(text === "" || text.endsWith("\n") ? ends : ends + 1, "line");
}

/** Undefined for content that is not UTF-8. A character cut off at the end is left out. */
function decodeText(bytes: Uint8Array, isCut: boolean): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: isCut });
  } catch {
    return undefined; // The exception itself is the answer.
  }
}

function toKilobytes(bytes: number): string {
  return (bytes / 1024).toLocaleString("en", { maximumFractionDigits: 1 });
}

/** Where to look for mentioned paths, and which paths. */
interface AttachOptions extends MentionLocation {
  /** The paths to attach; default: those that the text mentions. */
  mentions?: readonly string[];
  /** Paths that a command mentions: the user has not typed them, so nothing secret or outside the project is attached. */
  commandMentions?: readonly string[] | undefined;
  /** Reads what is not a file, such as a server's resource; undefined if it is nothing else either. */
  readMention?: (mention: string) => Promise<ToolResult | undefined>;
  /** Learns which placeholders the attached texts contain; see `Redactor`. */
  redactor?: Pick<SecretRedactor, "noteForeign"> | undefined;
}

/**
 * A prompt with its attachments. `notes` tell the user, a line each, what was attached, left out or not
 * found.
 */
interface PromptContent {
  /** The text itself if nothing is attached; otherwise blocks, the first of which is the text. */
  content: string | ContentBlock[];
  notes: string[];
}

const MAX_ATTACHED = 10;
const MAX_NAMED_MISSING = 10;
const MAX_NAME_COLUMNS = 80;

/**
 * Attaches the files that a prompt mentions: text, images, and the names in directories, ten at most.
 * Mentioning a file is consent to send it, even if it is secret or outside the project, which the notes then
 * say. Never throws.
 */
export async function attachFiles(text: string, options: AttachOptions): Promise<PromptContent> {
  const mentions = options.mentions ?? findMentions(text);
  const { found: typed, missing } = findEach(mentions, options);
  const { commandMentions = [] } = options;
  const others = findEach(commandMentions, options).found.filter(
    ({ realPath }) => !typed.some((each) => each.realPath === realPath),
  );
  const found = [...typed, ...others.filter(isHarmless)];
  const attachments: Attachment[] = [];
  for (const mentioned of found.slice(0, MAX_ATTACHED)) attachments.push(await attach(mentioned));
  const unknown: string[] = [];
  for (const mention of missing.filter((each) => isMarked(each, text))) {
    const other = await attachOther(mention, options);
    if (other) attachments.push(other);
    else unknown.push(mention);
  }
  const left = found.slice(MAX_ATTACHED).map(({ shown }) => shown);
  const blocks = attachments.flatMap((each) => each.blocks);
  for (const block of blocks) if (block.type === "text") options.redactor?.noteForeign(block.text);
  const notes = attachments.flatMap((each) => each.notes);
  if (left.length > 0)
    notes.push(`At most ${MAX_ATTACHED} files can be attached; omitted: ${left.join(", ")}`);
  notes.push(...others.filter((mentioned) => !isHarmless(mentioned)).map(describeRefusal));
  notes.push(...describeMissing(unknown));
  return { content: blocks.length === 0 ? text : [{ type: "text", text }, ...blocks], notes };
}

async function attachOther(mention: string, { readMention }: AttachOptions): Promise<Attachment | undefined> {
  const shown = toSingleLine(mention, MAX_NAME_COLUMNS);
  try {
    const found = await readMention?.(mention);
    if (!found) return undefined;
    const { blocks, notes } = attachText(shown, new TextEncoder().encode(found.output));
    return { blocks: [...blocks, ...(found.images ?? [])], notes };
  } catch (error) {
    return notAttached(shown, describeError(error));
  }
}

/** The existing targets, each once however often they are mentioned, and the mentions without a target. */
function findEach(mentions: readonly string[], place: MentionLocation) {
  const byPath = new Map<string, MentionedPath>();
  const missing: string[] = [];
  for (const mention of mentions) {
    const found = findMentioned(mention, place);
    if (found === undefined) missing.push(mention);
    else if (!byPath.has(found.realPath)) byPath.set(found.realPath, found);
  }
  return { found: [...byPath.values()], missing };
}

/** True for a path after `@`; any other path may be that of a file yet to be created. */
function isMarked(mention: string, text: string): boolean {
  return text.includes(`@${mention}`) || text.includes(`@"${mention}"`);
}

function describeMissing(missing: readonly string[]): string[] {
  if (missing.length === 0) return [];
  const names = missing
    .slice(0, MAX_NAMED_MISSING)
    .map((mention) => `@${toSingleLine(mention, MAX_NAME_COLUMNS)}`);
  const more = missing.length > names.length ? [`${missing.length - names.length} more`] : [];
  return [`Not found: ${[...names, ...more].join(", ")}`];
}

async function attach(mentioned: MentionedPath): Promise<Attachment> {
  const { shown, kind } = mentioned;
  if (kind === "other") return notAttached(shown, "it is not a file or directory");
  const attachment = kind === "directory" ? await attachDirectory(mentioned) : await attachFile(mentioned);
  if (attachment.blocks.length === 0) return attachment;
  return { ...attachment, notes: [...describeConsent(mentioned), ...attachment.notes] };
}

function isHarmless({ isSecret, isOutside }: MentionedPath): boolean {
  return !isSecret && !isOutside;
}

function describeRefusal({ shown, isSecret }: MentionedPath): string {
  const reason = isSecret ? "may hold secrets" : "is outside the project";
  return `Cannot attach ${shown}: it ${reason}, and you have not typed its name yourself`;
}

function describeConsent({ shown, realPath, isOutside, isSecret }: MentionedPath): string[] {
  const what = [
    ...(isSecret ? ["may hold secrets"] : []),
    ...(isOutside ? [`is outside the project${shown === realPath ? "" : ` (${realPath})`}`] : []),
  ];
  return what.length === 0 ? [] : [`${shown} ${what.join(" and ")}; attached because you mentioned it`];
}

/** The text to send for a mentioned path, and the notes for the user. */
interface Attachment {
  blocks: readonly ContentBlock[];
  notes: readonly string[];
}

/** Text for the model under a heading, in a fence that the content cannot close. */
function createTextBlock(heading: string, content: string): ContentBlock {
  return { type: "text", text: `${heading}\n${fence(content)}` };
}

/** Says what was read, such as `Read src/add.ts (9 lines)`. */
function describeRead(shown: string, amount: string): string {
  return `Read ${shown} (${amount})`;
}

/** Sends nothing to the model, and one line to the user. `reason` follows a colon. */
function notAttached(shown: string, reason: string): Attachment {
  return { blocks: [], notes: [`Cannot attach ${shown}: ${reason}`] };
}

// `@` begins a mention except within a word, which excludes e-mail addresses. A file dragged into a terminal
// arrives as its path, quoted or with backslashes before blanks.
const PATHS =
  /(?<=^|[\s([{<"'`,;:])@(?:"(?<quotedMention>[^"\n]+)"|(?<mention>[^\s"'`,;<>@]+))|(?<=^|\s)(?:(?<quote>['"])(?<quotedImage>(?:~?\/|\.{1,2}\/)[^'"\n]+)\k<quote>|(?<word>(?:[^\s\\"'@]+|\\.)+))/gu;

const IMAGE = /\.(?:png|jpe?g|gif|webp)$/i;
// The longest path on Linux; longer text is not a path.
const MAX_PATH_CHARS = 4_096;

/**
 * The paths that a prompt mentions, each once, in order: after `@`, quoted if they contain blanks, and images
 * by a path with a slash. Whether the file exists is not checked; the sentence's own punctuation is left out.
 */
export function findMentions(text: string): string[] {
  const paths = Array.from(text.matchAll(PATHS), ({ groups = {} }) => {
    const { quotedMention, mention, quotedImage, word } = groups;
    if (mention !== undefined) return withoutPunctuation(mention);
    if (word !== undefined) return toImagePath(withoutPunctuation(word));
    if (quotedImage !== undefined) return IMAGE.test(quotedImage) ? quotedImage : "";
    return quotedMention ?? "";
  });
  return [...new Set(paths.filter((path) => path !== "" && path.length <= MAX_PATH_CHARS))];
}

function toImagePath(word: string): string {
  const isImagePath = word.includes("/") && !word.includes("://") && IMAGE.test(word);
  return isImagePath ? word.replace(/\\(.)/gu, "$1") : "";
}

const CLOSING: Readonly<Record<string, string>> = { ")": "(", "]": "[", "}": "{" };

/** A closing bracket belongs to the path if the path opened it, as in `app/(shop)/page.tsx`. */
function withoutPunctuation(text: string): string {
  if (text.length > MAX_PATH_CHARS) return "";
  let path = text;
  while (isLoose(path)) path = path.slice(0, -1);
  return path;
}

/** True if the last character belongs to the sentence. */
function isLoose(path: string): boolean {
  const last = path.at(-1) ?? "";
  const opening = CLOSING[last];
  if (opening !== undefined) return count(path, last) > count(path, opening);
  return /[.,;:!?]/.test(last) && !/(?:^|\/)\.{1,2}$/.test(path);
}

function count(text: string, character: string): number {
  return text.split(character).length - 1;
}

/** The base directories of mentions. All absolute and real. */
interface MentionLocation {
  cwd: string;
  /** The project. */
  root: string;
  /** What `~` stands for. */
  home?: string | undefined;
}

/** An existing path that a prompt mentions. */
interface MentionedPath {
  /** For the model: relative to the working directory if it lies in it. */
  shown: string;
  realPath: string;
  kind: "file" | "directory" | "other";
  isOutside: boolean;
  isSecret: boolean;
}

/** Undefined if nothing exists there, or nothing accessible: the mention is then ordinary text. */
function findMentioned(mention: string, { cwd, root, home }: MentionLocation): MentionedPath | undefined {
  const path = expandHome(mention, home);
  if (path === undefined) return undefined;
  const absolute = resolve(cwd, path);
  try {
    const realPath = realpathSync(absolute);
    return {
      shown: absolute === cwd ? "." : showPath(absolute, cwd),
      realPath,
      kind: kindOf(statSync(realPath)),
      isOutside: !isInside(realPath, root),
      isSecret: isSecretFile(realPath) || isSecretFile(absolute),
    };
  } catch {
    return undefined; // Missing, a dangling link, or in a directory that may not be searched.
  }
}

function expandHome(mention: string, home: string | undefined): string | undefined {
  if (mention !== "~" && !mention.startsWith("~/")) return mention;
  return home !== undefined && isAbsolute(home) ? join(home, mention.slice(1)) : undefined;
}

function kindOf(stats: Stats): MentionedPath["kind"] {
  if (stats.isDirectory()) return "directory";
  return stats.isFile() ? "file" : "other";
}
