import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { randomHex } from "../../infrastructure/runtime.ts";
import { fitImage, inspectImage } from "../../infrastructure/text/images.ts";
import type { ToolResult } from "../../tool/types.ts";
import type { ImageBlock } from "../../types.ts";

type Block = CallToolResult["content"][number];

/** Where parts of a result are saved that no model takes. */
export interface ResultFiles {
  /** An existing private directory; undefined if there is none. */
  outputDirectory(): string | undefined;
}

/** A part of a result for the model. */
interface Part {
  text?: string;
  image?: ImageBlock;
}

/**
 * A result for the model: texts and images as they are, everything else as a file with a note, or as a note that says
 * how to read it.
 */
export async function toToolResult(
  { content = [], structuredContent, isError }: CallToolResult,
  { server, files }: { server: string; files: ResultFiles },
): Promise<ToolResult> {
  const parts = await Promise.all(content.map((block) => toPart(block, { server, files })));
  const texts = parts.flatMap(({ text }) => text ?? []);
  const images = parts.flatMap(({ image }) => image ?? []);
  // A server gives the same data as text; where it does not, the data itself is shown.
  const hasText = content.some(({ type }) => type === "text" || type === "resource");
  const data =
    structuredContent !== undefined && !hasText ? [JSON.stringify(structuredContent, undefined, 2)] : [];
  return {
    output: [...texts, ...data].join("\n"),
    ...(images.length > 0 && { images }),
    ...(isError === true && { isError: true }),
  };
}

/** The content of a resource, by the same rules. */
export async function toResourceParts(
  contents: readonly ResourceContent[],
  context: { server: string; files: ResultFiles },
): Promise<ToolResult> {
  const parts = await Promise.all(
    contents.map((resource) => toPart({ type: "resource", resource }, context)),
  );
  const images = parts.flatMap(({ image }) => image ?? []);
  return { output: parts.flatMap(({ text }) => text ?? []).join("\n"), ...(images.length > 0 && { images }) };
}

type ResourceContent = Extract<Block, { type: "resource" }>["resource"];

async function toPart(
  block: Block,
  { server, files }: { server: string; files: ResultFiles },
): Promise<Part> {
  switch (block.type) {
    case "text":
      return { text: block.text };
    case "image":
      return toImage(block.data, block.mimeType, files);
    case "audio":
      return saveData(block.data, { what: "audio", mediaType: block.mimeType, files });
    case "resource_link": {
      const description = block.description === undefined ? "" : ` ${block.description}`;
      const call = JSON.stringify({ server, uri: block.uri });
      return { text: `[resource ${block.name}:${description} read it with mcp_resource ${call}]` };
    }
    case "resource": {
      const { resource } = block;
      if ("text" in resource) return { text: `[resource ${resource.uri}]\n${resource.text}` };
      return toImage(resource.blob, resource.mimeType ?? "application/octet-stream", files);
    }
  }
}

/** An image that models take; everything else is saved, whatever the server calls it. */
async function toImage(data: string, mediaType: string, files: ResultFiles): Promise<Part> {
  const bytes = Buffer.from(data, "base64");
  const header = inspectImage(bytes);
  const sized = header && (await fitImage(bytes, header).catch(() => undefined));
  if (!sized) return saveData(data, { what: "content", mediaType, files });
  const source = { mediaType: sized.mediaType, data: Buffer.from(sized.bytes).toString("base64") };
  return {
    text: `[image ${sized.mediaType} ${sized.width}x${sized.height}]`,
    image: { type: "image", source: { type: "base64", ...source } },
  };
}

function saveData(
  data: string,
  { what, mediaType, files }: { what: string; mediaType: string; files: ResultFiles },
): Part {
  const bytes = Buffer.from(data, "base64");
  const type = mediaType.slice(0, 100);
  const path = save(bytes, type, files);
  const where = path === undefined ? "which could not be saved" : `saved as ${path}`;
  return { text: `[${what} of type ${type}, ${bytes.length} bytes, ${where}]` };
}

function save(bytes: Uint8Array, mediaType: string, { outputDirectory }: ResultFiles): string | undefined {
  const directory = outputDirectory();
  if (directory === undefined) return undefined;
  const extension = /^[a-z]+\/([a-z0-9]{1,8})\b/.exec(mediaType)?.[1] ?? "bin";
  const path = join(directory, `mcp-${randomHex(4)}.${extension}`);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(path, bytes, { mode: 0o600 });
    return path;
  } catch {
    return undefined; // The note says so.
  }
}
