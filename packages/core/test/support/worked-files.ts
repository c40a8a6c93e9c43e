import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CompactionDetails } from "../../src/session/types.ts";
import type { WireCall } from "./wire-services.ts";

interface Operation {
  callId: string;
  path: string;
  isChange: boolean;
}

/** Real files for real tools to work on, and what was done with them. */
export class WorkedFiles {
  private readonly operations: Operation[] = [];
  private calls = 0;
  private files = 0;

  /** @param root an empty directory. */
  constructor(private readonly root: string) {
    mkdirSync(join(root, "src"));
  }

  /** Reads a new file with this content. */
  read(content: string): WireCall {
    this.files++;
    const path = this.files % 10 === 0 ? `src/größe ${this.files} 部.ts` : `src/part-${this.files}.ts`;
    writeFileSync(join(this.root, path), `// version 0 of ${path}\n${content}\n`);
    return this.call("read", { file_path: path }, { path, isChange: false });
  }

  readMissing(): WireCall {
    return this.call("read", { file_path: `src/missing-${this.calls}.ts` });
  }

  /** Changes the first line of the file that was read last. */
  edit(): WireCall {
    const path = this.operations.findLast(({ isChange }) => !isChange)?.path ?? "";
    const line = `// version 0 of ${path}`;
    const input = { file_path: path, old_string: line, new_string: `// version ${this.calls} of ${path}` };
    return this.call("edit", input, { path, isChange: true });
  }

  write(content: string): WireCall {
    const path = `src/made-${this.calls}.ts`;
    return this.call("write", { file_path: `./${path}`, content }, { path, isChange: true });
  }

  /** The files of the calls that are not in a request any more, as the summary of it has to list them. */
  listsWithout(isShown: (callId: string) => boolean): CompactionDetails {
    const gone = this.operations.filter(({ callId }) => !isShown(callId));
    const modified = new Set(gone.flatMap(({ path, isChange }) => (isChange ? [path] : [])));
    const read = new Set(gone.flatMap(({ path }) => (modified.has(path) ? [] : [path])));
    return { readFiles: [...read].sort(), modifiedFiles: [...modified].sort() };
  }

  private call(name: string, input: Record<string, unknown>, done?: Omit<Operation, "callId">): WireCall {
    this.calls++;
    const id = `call_${String(this.calls).padStart(4, "0")}`;
    if (done) this.operations.push({ callId: id, ...done });
    return { id, name, input };
  }
}
