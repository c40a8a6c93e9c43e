import { type CheckedFile, readCheckedFile } from "../infrastructure/fs/read.ts";
import { isInside } from "../infrastructure/fs/real-path.ts";
import { decodeUtf8 } from "../infrastructure/text/text-file.ts";
import { removeInvisible, revealInvisible } from "../infrastructure/text/unicode.ts";
import type { ConfigWarning } from "./errors.ts";

/** 32 KiB, about 8k tokens: the same limit as in codex-rs. */
export const MAX_INSTRUCTION_BYTES = 32_768;

const CUT_MARK = "\n...(truncated)";

/** The most that `readInstructionFile` returns of a file. */
export const MAX_INSTRUCTION_CHARACTERS = MAX_INSTRUCTION_BYTES + CUT_MARK.length;

/** An instruction file for the prompt; paths are absolute, `realPath` is resolved. */
export interface InstructionFile {
  path: string;
  realPath: string;
  /** Without invisible characters; truncated at `MAX_INSTRUCTION_BYTES`, with a note. */
  content: string;
}

/** An unusable file is a warning, never an exception. */
interface InstructionReading {
  /** Undefined if the file is missing, empty or must not be used. */
  file?: InstructionFile;
  warnings: ConfigWarning[];
}

/**
 * Reads one instruction file.
 * @param boundaries the directories of which one must contain the resolved file; undefined: it may be anywhere.
 */
export async function readInstructionFile(
  path: string,
  boundaries: readonly string[] | undefined,
): Promise<InstructionReading> {
  const reading = await readCheckedFile(path, MAX_INSTRUCTION_BYTES + 1);
  if (reading.kind === "missing") return { warnings: [] };
  try {
    if (reading.kind === "unreadable") throw new Error(reading.reason);
    const { file } = reading;
    if (boundaries && !boundaries.some((directory) => isInside(file.realPath, directory))) {
      const [boundary = ""] = boundaries;
      throw new Error(
        file.realPath === path
          ? `it is outside ${boundary}`
          : `it is a link to ${file.realPath}, outside ${boundary}`,
      );
    }
    if (file.concern !== undefined) throw new Error(file.concern);
    return toInstruction(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { warnings: [instructionWarning("instructions_not_loaded", path, `is not loaded: ${reason}`)] };
  }
}

function toInstruction({ path, realPath, content, size }: CheckedFile): InstructionReading {
  const isCut = size > MAX_INSTRUCTION_BYTES;
  const { text } = decodeUtf8(
    isCut ? content.subarray(0, characterEnd(content, MAX_INSTRUCTION_BYTES)) : content,
  );
  const visible = removeInvisible(text);
  const warnings: ConfigWarning[] = [];
  if (visible.removed > 0) {
    const message = `contains ${visible.removed} invisible characters, which are not sent to the model`;
    warnings.push(instructionWarning("invisible_characters", path, message));
  }
  if (isCut) {
    const message = `has ${size} bytes; only the first ${MAX_INSTRUCTION_BYTES} are sent to the model`;
    warnings.push(instructionWarning("instructions_truncated", path, message));
  }
  if (visible.text.trim() === "") return { warnings };
  return { file: { path, realPath, content: isCut ? visible.text + CUT_MARK : visible.text }, warnings };
}

/** The largest end at or before `limit` that does not split a character. */
function characterEnd(bytes: Uint8Array, limit: number): number {
  let end = limit;
  // In UTF-8 every byte of a character except the first begins with the bits 10.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}

/** A warning about an instruction file. */
export function instructionWarning(code: string, path: string, message: string): ConfigWarning {
  return { code, message: `${revealInvisible(path)} ${message}` };
}

/** The files and texts of one prompt: each is in it once. Line endings and outer white space are ignored. */
export class SeenInstructions {
  private readonly marks = new Set<string>();

  has(file: InstructionFile): boolean {
    return marksOf(file).some((mark) => this.marks.has(mark));
  }

  add(file: InstructionFile): void {
    for (const mark of marksOf(file)) this.marks.add(mark);
  }
}

function marksOf({ realPath, content }: InstructionFile): string[] {
  return [`path ${realPath}`, `text ${content.replaceAll("\r\n", "\n").trim()}`];
}
