import { inspectImage } from "../infrastructure/text/images.ts";
import type { ContentBlock, ImageBlock, Message, ToolResultMessage, UserMessage } from "../types.ts";

// Anthropic's limits (platform.claude.com, "Vision"): 8000 pixels a side, 2000 if a request contains more than 20
// images, 5 MB of base64 an image, 32 MB a request. One image beyond them would make every later request of a session
// fail.
const MAX_SIDE_PIXELS = 8000;
const MAX_IMAGE_CHARS = 5 * 1024 * 1024;
const MAX_IMAGES = 20;
const MAX_TOTAL_CHARS = 20 * 1024 * 1024;
// Dropping several at once leaves the beginning of the request, and so the cache, unchanged until there are six more.
const IMAGES_AFTER_DROP = 15;
const TOTAL_CHARS_AFTER_DROP = 12 * 1024 * 1024;

const DROPPED_NOTE = "[An older image was here; it was left out to keep the request small.]";

/** An image that can be sent, or the text that replaces it. */
type Fate = ImageBlock | string;

/**
 * The messages with valid images only: a wrong media type is corrected from the bytes, an incomplete or too large
 * image becomes a note, and if there are too many images, the oldest become notes. Which ones depends only on the
 * messages up to the newest image.
 */
export function limitImages(messages: readonly Message[]): Message[] {
  const images = messages.flatMap(imagesOf);
  if (images.length === 0) return [...messages];
  const fates = dropOldest(images.map(evaluateImage)).values();
  const nextFate = () => fates.next().value ?? DROPPED_NOTE;
  return messages.map((message) => {
    if (message.role === "user") return limitUserImages(message, nextFate);
    return message.role === "tool_result" && message.images ? limitResultImages(message, nextFate) : message;
  });
}

function imagesOf(message: Message): ImageBlock[] {
  if (message.role === "tool_result") return message.images ?? [];
  if (message.role === "assistant" || typeof message.content === "string") return [];
  return message.content.filter((block) => block.type === "image");
}

// Every request of a session evaluates the same images again, and each would have to be decoded again.
const evaluated = new WeakMap<ImageBlock["source"], Fate>();

function evaluateImage({ source }: ImageBlock): Fate {
  const known = evaluated.get(source);
  if (known !== undefined) return known;
  const fate = inspectSource(source);
  evaluated.set(source, fate);
  return fate;
}

function inspectSource(source: ImageBlock["source"]): Fate {
  const data = source.data.replace(/^data:[^,]*,/, "");
  if (data.length > MAX_IMAGE_CHARS) {
    return `[An image of ${toMegabytes(data.length)} MB was left out: the limit is ${toMegabytes(MAX_IMAGE_CHARS)} MB in base64.]`;
  }
  const bytes = Buffer.from(data, "base64");
  const header = inspectImage(bytes);
  if (!header) return "[A file was left out: it is not a complete PNG, JPEG, GIF or WebP image.]";
  if (Math.max(header.width, header.height) > MAX_SIDE_PIXELS) {
    return `[An image of ${header.width}x${header.height} pixels was left out: the limit is ${MAX_SIDE_PIXELS} a side.]`;
  }
  return {
    type: "image",
    source: { type: "base64", mediaType: header.mediaType, data: bytes.toString("base64") },
  };
}

function toMegabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1).replace(/\.0$/, "");
}

function dropOldest(fates: Fate[]): Fate[] {
  const sizes = fates.map((fate) => (typeof fate === "string" ? undefined : fate.source.data.length));
  const firstKept = findFirstKept(sizes);
  return fates.map((fate, index) => (index < firstKept && typeof fate !== "string" ? DROPPED_NOTE : fate));
}

/** Processes the images in order, so that an earlier decision stands until the limits are reached again. */
function findFirstKept(sizes: ReadonlyArray<number | undefined>): number {
  let first = 0;
  let count = 0;
  let total = 0;
  sizes.forEach((size, index) => {
    if (size === undefined) return;
    count += 1;
    total += size;
    if (count <= MAX_IMAGES && total <= MAX_TOTAL_CHARS) return;
    for (; first < index && (count > IMAGES_AFTER_DROP || total > TOTAL_CHARS_AFTER_DROP); first++) {
      const dropped = sizes[first];
      if (dropped === undefined) continue;
      count -= 1;
      total -= dropped;
    }
  });
  return first;
}

function limitUserImages(message: UserMessage, nextFate: () => Fate): UserMessage {
  if (typeof message.content === "string") return message;
  const content = message.content.map((block): ContentBlock => {
    if (block.type !== "image") return block;
    const fate = nextFate();
    return typeof fate === "string" ? { type: "text", text: fate } : fate;
  });
  return { ...message, content };
}

function limitResultImages(message: ToolResultMessage, nextFate: () => Fate): ToolResultMessage {
  const fates = (message.images ?? []).map(nextFate);
  const notes = fates.filter((fate) => typeof fate === "string");
  const images = fates.filter((fate) => typeof fate !== "string");
  const output = [message.output, ...notes].filter((part) => part !== "").join("\n");
  return { ...message, output, images };
}

/** The image as a `data:` URL, the form of OpenAI's APIs; undefined for a type that they do not accept. */
export function toImageUrl({ source: { mediaType, data } }: ImageBlock): string | undefined {
  return /^image\/(png|jpeg|gif|webp)$/.test(mediaType) ? `data:${mediaType};base64,${data}` : undefined;
}

/** The placeholder for an image that cannot be sent. */
export function toUnsentImageNote({ source }: ImageBlock): string {
  return `[An image of type ${source.mediaType} cannot be sent.]`;
}
