import { readCheckedFile } from "../../infrastructure/fs/read.ts";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import { decodeUtf8 } from "../../infrastructure/text/text-file.ts";
import { removeInvisible, revealInvisible } from "../../infrastructure/text/unicode.ts";
import type { DefinitionDirectory } from "./directories.ts";

// The largest of 271 public skills has 73 kB.
const MAX_BYTES = 256 * 1024;

/** The text of a definition, or the reason why it is not used: a clause without a full stop. */
export type DefinitionReading =
  | { kind: "missing" }
  | { kind: "refused"; reason: string }
  | { kind: "text"; text: string; realPath: string; sha256: string };

/**
 * Reads a definition of at most 256 KiB, without invisible characters. In a project, a file that a link leads out of it
 * is refused, and so is one that another user could have written. Never throws.
 */
export async function readDefinition(
  path: string,
  { boundary }: Partial<Pick<DefinitionDirectory, "boundary">>,
): Promise<DefinitionReading> {
  const reading = await readCheckedFile(path, MAX_BYTES + 1);
  if (reading.kind === "missing") return { kind: "missing" };
  if (reading.kind === "unreadable") return { kind: "refused", reason: reading.reason };
  const { realPath, content, concern } = reading.file;
  if (boundary !== undefined && !isInside(realPath, boundary))
    return { kind: "refused", reason: `it is a link out of the project, to ${revealInvisible(realPath)}` };
  if (concern !== undefined) return { kind: "refused", reason: concern };
  if (content.length > MAX_BYTES) return { kind: "refused", reason: `it is larger than ${MAX_BYTES} bytes` };
  try {
    const { text } = removeInvisible(decodeUtf8(content).text.replaceAll("\r\n", "\n"));
    return { kind: "text", text, realPath, sha256: Bun.SHA256.hash(content, "hex") };
  } catch (error) {
    return { kind: "refused", reason: error instanceof Error ? error.message : "it is not UTF-8 text" };
  }
}
