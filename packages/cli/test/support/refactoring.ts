import type { GiveAnswer } from "./counting-service.ts";
import type { TemporaryProject } from "./temporary-project.ts";
import type { VendorCall } from "./vendor-service.ts";

const READ = Array.from({ length: 12 }, (_, index) => `src/config/part-${index + 1}.ts`);
const WRITTEN = READ.slice(0, 4);

/** The files that are only read, and those that are also written. */
export const REFACTORED = { read: READ.slice(4).sort(), modified: WRITTEN };

export const REFACTORING_DONE = "The config module is refactored.";

export interface Refactoring {
  /** How often the four files are written. */
  rounds: number;
  /** The size of each file. */
  characters: number;
}

/**
 * Writes twelve files into a project, and answers like a model that reads all of them, repeatedly writes four
 * of them, and finishes; later requests get `later`.
 */
export function refactorConfig(
  place: TemporaryProject,
  { rounds, characters }: Refactoring,
  later = "We were refactoring the config module.",
): GiveAnswer {
  for (const path of READ) place.write(path, toFile(path, characters));
  const calls: VendorCall[] = [...READ.map(read), ...Array.from({ length: rounds }, writeAll).flat()];
  let next = 0;
  function writeAll(_: unknown, round: number): VendorCall[] {
    return WRITTEN.map((path, index) => {
      const content = toFile(`${path}, version ${round}`, characters);
      return { id: `toolu_w${round}_${index}`, name: "write", input: { file_path: path, content } };
    });
  }
  return () => {
    const call = calls[next++];
    if (call) return { text: `Step ${next}.`, calls: [call] };
    return next === calls.length + 1 ? REFACTORING_DONE : later;
  };
}

function read(path: string, index: number): VendorCall {
  return { id: `toolu_r${index}`, name: "read", input: { file_path: path } };
}

function toFile(title: string, characters: number): string {
  // Long lines, since a change is shown line by line.
  const line = `// ${`${title}: const value = parse(input); `.repeat(12)}\n`;
  return line.repeat(Math.ceil(characters / line.length)).slice(0, characters);
}
