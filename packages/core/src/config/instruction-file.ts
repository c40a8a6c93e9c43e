import { removeInvisible, revealInvisible } from "../infrastructure/content/invisible-text.ts";
import { decodeUtf8 } from "../infrastructure/content/text-file.ts";
import { type CheckedFile, readCheckedFile } from "../infrastructure/reading/checked-file.ts";
import { isInside } from "../infrastructure/reading/real-path.ts";
import type { ConfigWarning } from "./config-error.ts";

/** 32 KiB, about 8k tokens: what codex-rs allows as well. */
export const MAX_INSTRUCTION_BYTES = 32_768;

const CUT_MARK = "\n...(truncated)";

/** A file of instructions as the prompt takes it; paths are absolute, `realPath` has no links. */
export interface InstructionFile {
  path: string;
  realPath: string;
  /** Without what cannot be seen; cut at `MAX_INSTRUCTION_BYTES`, with a mark that says so. */
  content: string;
}

/** A file that is there and cannot be used is a warning, and never thrown. */
export interface InstructionReading {
  /** Undefined where there is no such file, where it is empty, and where it may not be used. */
  file?: InstructionFile;
  warnings: ConfigWarning[];
}

/** Reads one file of instructions. `boundary` is the directory it may not lead out of; none for the user's own. */
export async function readInstructionFile(
  path: string,
  boundary: string | undefined,
): Promise<InstructionReading> {
  const reading = await readCheckedFile(path, MAX_INSTRUCTION_BYTES + 1);
  if (reading.kind === "missing") return { warnings: [] };
  try {
    if (reading.kind === "unreadable") throw new Error(reading.reason);
    const { file } = reading;
    if (boundary !== undefined && !isInside(file.realPath, boundary)) {
      throw new Error(`it is a link to ${file.realPath}, outside ${boundary}`);
    }
    if (file.concern !== undefined) throw new Error(file.concern);
    return toInstruction(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { warnings: [warn("instructions_not_loaded", path, `is not loaded: ${reason}`)] };
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
    const message = `holds ${visible.removed} characters that cannot be seen; the model does not get them`;
    warnings.push(warn("invisible_characters", path, message));
  }
  if (isCut) {
    const message = `has ${size} bytes; the model gets the first ${MAX_INSTRUCTION_BYTES}`;
    warnings.push(warn("instructions_truncated", path, message));
  }
  if (visible.text.trim() === "") return { warnings };
  return { file: { path, realPath, content: isCut ? visible.text + CUT_MARK : visible.text }, warnings };
}

/** The greatest end at or before `limit` that splits no character. */
function characterEnd(bytes: Uint8Array, limit: number): number {
  let end = limit;
  // In UTF-8 every byte of a character but its first begins with the bits 10.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}

function warn(code: string, path: string, message: string): ConfigWarning {
  return { code, message: `${revealInvisible(path)} ${message}` };
}
