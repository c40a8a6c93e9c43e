/** The longest name that every provider accepts. */
const MAX_NAME_CHARS = 64;

/** A tool and its server, by their own names. */
export interface ToolReference {
  server: string;
  tool: string;
}

/** What all names of a server's tools begin with. */
export function toolPrefix(server: string): string {
  return `mcp__${toNamePart(server)}__`;
}

/**
 * The names by which the model calls tools: `mcp__SERVER__TOOL`, where other characters than letters, digits, `_` and
 * `-` become `_`. A name that is too long, or that another tool has, ends with a hash of both names.
 */
export class ToolNames {
  private readonly references = new Map<string, ToolReference>();

  /** The same name for the same tool, as long as no other tool had its name first. */
  add({ server, tool }: ToolReference): string {
    const plain = toolPrefix(server) + toNamePart(tool);
    const name = plain.length > MAX_NAME_CHARS ? withHash(plain, { server, tool }) : plain;
    const free = this.isFree(name, { server, tool }) ? name : withHash(plain, { server, tool });
    this.references.set(free, { server, tool });
    return free;
  }

  /** The tool that a name stands for. */
  find(name: string): ToolReference | undefined {
    return this.references.get(name);
  }

  private isFree(name: string, wanted: ToolReference): boolean {
    const known = this.references.get(name);
    return known === undefined || (known.server === wanted.server && known.tool === wanted.tool);
  }
}

function toNamePart(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, "_");
}

function withHash(name: string, { server, tool }: ToolReference): string {
  const hash = Bun.SHA256.hash(JSON.stringify([server, tool]), "hex").slice(0, 8);
  return `${name.slice(0, MAX_NAME_CHARS - hash.length - 1)}_${hash}`;
}
