import type { MaskedPart, SecretRedactor } from "../../infrastructure/text/secret-redactor.ts";
import type { Workspace } from "../workspace.ts";

/** A file whose secrets the model has seen as placeholders. */
interface MaskedFile {
  path: string;
  /** Its text. */
  before: string;
}

interface ReplacedTexts {
  oldText: string;
  newText: string;
}

const MAY_BE_PLACEHOLDER = /\[(?:secret|key of|value of) /;

/**
 * The texts of a change with the secrets of the file in place of their placeholders, exactly as they stand in it. A
 * placeholder that the file does not have stands for its value if this session has issued it, else for itself.
 * @param names what the two texts are called in messages.
 * @throws Error that names a placeholder that cannot be restored; the file is unchanged then.
 */
export function restoreChange<T extends ReplacedTexts>(
  { redactor }: Workspace,
  file: MaskedFile,
  { texts, names }: { texts: T; names: { oldText: string; newText: string } },
): T {
  if (!redactor || !MAY_BE_PLACEHOLDER.test(texts.oldText + texts.newText)) return texts;
  const restorer = new Restorer(redactor, file);
  const { oldText, originals } = restorer.restoreOld(texts.oldText, names.oldText);
  return { ...texts, oldText, newText: restorer.restoreNew(texts.newText, names.newText, originals) };
}

/** The same for the whole text of a file; `before` is empty for a new one. */
export function restoreContent({ redactor }: Workspace, file: MaskedFile, content: string): string {
  if (!redactor || !MAY_BE_PLACEHOLDER.test(content)) return content;
  const restorer = new Restorer(redactor, file);
  return restorer.restoreNew(content, "content", restorer.allOriginals);
}

/** What each placeholder stands for in a text, in the order of its places. */
type Originals = ReadonlyMap<string, readonly string[]>;

class Restorer {
  private readonly parts: readonly MaskedPart[];
  readonly allOriginals: Originals;

  constructor(
    private readonly redactor: SecretRedactor,
    private readonly file: MaskedFile,
  ) {
    this.parts = redactor.findParts(file.before);
    this.allOriginals = groupOriginals(this.parts);
  }

  /** `originals`: what the placeholders of the text stand for. */
  restoreOld(text: string, name: string): { oldText: string; originals: Originals } {
    const placeholders = this.redactor.placeholdersIn(text);
    const isClear = placeholders.every((placeholder) => {
      const distinct = new Set(this.allOriginals.get(placeholder));
      return distinct.size + (this.isLiteral(placeholder) ? 1 : 0) <= 1;
    });
    if (!isClear) return this.locate(text, name);
    const oldText = replacePlaceholders(text, placeholders, (each) => this.allOriginals.get(each)?.[0]);
    return { oldText, originals: this.allOriginals };
  }

  restoreNew(text: string, name: string, originals: Originals): string {
    const placed = new Map<string, number>();
    const placeholders = this.redactor.placeholdersIn(text);
    for (const placeholder of placeholders) this.assertKnown({ text, placeholder, name, originals });
    return replacePlaceholders(text, placeholders, (placeholder) => {
      const own = originals.get(placeholder) ?? this.allOriginals.get(placeholder);
      if (own === undefined)
        return this.isLiteral(placeholder) ? undefined : this.redactor.valueOf(placeholder);
      const index = placed.get(placeholder) ?? 0;
      placed.set(placeholder, index + 1);
      return own[index] ?? own[0];
    });
  }

  /**
   * A placeholder that stands for several texts, such as a key and its form in base64, is what stands in the file at
   * the place of the text.
   */
  private locate(text: string, name: string): { oldText: string; originals: Originals } {
    const { masked, offsets } = this.mask();
    const start = masked.indexOf(text);
    if (start < 0 || masked.indexOf(text, start + 1) >= 0) throw this.unclear(text, name);
    const end = start + text.length;
    const inside = this.parts.filter((_, index) => {
      const at = offsets[index] ?? 0;
      return at >= start && at < end;
    });
    return {
      oldText: this.file.before.slice(this.toOriginal(start, offsets), this.toOriginal(end, offsets)),
      originals: groupOriginals(inside),
    };
  }

  /** The text as the model sees it, and where each placeholder begins in it. */
  private mask(): { masked: string; offsets: readonly number[] } {
    const { before } = this.file;
    let masked = "";
    let end = 0;
    const offsets: number[] = [];
    for (const part of this.parts) {
      masked += before.slice(end, part.start);
      offsets.push(masked.length);
      masked += part.placeholder;
      end = part.end;
    }
    return { masked: masked + before.slice(end), offsets };
  }

  private toOriginal(offset: number, offsets: readonly number[]): number {
    let shift = 0;
    for (const [index, part] of this.parts.entries()) {
      const maskedEnd = (offsets[index] ?? 0) + part.placeholder.length;
      if (maskedEnd > offset) break;
      shift += part.original.length - part.placeholder.length;
    }
    return offset + shift;
  }

  private isLiteral(placeholder: string): boolean {
    return this.file.before.includes(placeholder);
  }

  private assertKnown({
    text,
    placeholder,
    name,
    originals,
  }: {
    text: string;
    placeholder: string;
    name: string;
    originals: Originals;
  }): void {
    const own = originals.get(placeholder) ?? this.allOriginals.get(placeholder);
    if (own !== undefined) {
      const count = text.split(placeholder).length - 1;
      if (new Set(own).size > 1 && count !== own.length) throw this.unclear(placeholder, name);
      if (this.isLiteral(placeholder) && originals === this.allOriginals)
        throw this.unclear(placeholder, name);
      return;
    }
    if (this.isLiteral(placeholder) || this.redactor.valueOf(placeholder) !== undefined) return;
    throw new Error(
      `${this.file.path} was left unchanged: ${name} contains ${placeholder}, the placeholder of a secret that is not in this file, and whose value is not inserted: a text from outside has named the placeholder, or only a part of the value was seen. Ask the user to write it.`,
    );
  }

  private unclear(text: string, name: string): Error {
    const [placeholder = text] = this.redactor.placeholdersIn(text);
    return new Error(
      `${this.file.path} was left unchanged: ${name} contains ${placeholder}, which stands for different texts in this file. Change the lines one by one, each with enough of the lines around it.`,
    );
  }
}

function groupOriginals(parts: readonly MaskedPart[]): Originals {
  const groups = new Map<string, string[]>();
  for (const { placeholder, original } of parts) {
    const group = groups.get(placeholder);
    if (group) group.push(original);
    else groups.set(placeholder, [original]);
  }
  return groups;
}

/** Undefined keeps the placeholder as a text. */
function replacePlaceholders(
  text: string,
  placeholders: readonly string[],
  toValue: (placeholder: string) => string | undefined,
): string {
  return placeholders.reduce(
    (replaced, placeholder) =>
      replaced
        .split(placeholder)
        .reduce((before, after) => before + (toValue(placeholder) ?? placeholder) + after),
    text,
  );
}
