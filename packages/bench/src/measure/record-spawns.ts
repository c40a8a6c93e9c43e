import { realpathSync } from "node:fs";

/** A command as it was started. */
export interface SpawnedCommand {
  argv: readonly string[];
  /** Where it really was: what names an open directory of ours is only good while that is open. */
  cwd: string;
  environment: Readonly<Record<string, string>>;
}

/** Does some work and returns the commands that this process started for it through `Bun.spawn(argv, options)`. */
export async function recordSpawns(work: () => Promise<unknown>): Promise<SpawnedCommand[]> {
  const commands: SpawnedCommand[] = [];
  const original = Bun.spawn;
  const recording = new Proxy(original, {
    apply(target, self, args: unknown[]) {
      const command = toCommand(args);
      if (command) commands.push(command);
      return Reflect.apply(target, self, args);
    },
  });
  Reflect.set(Bun, "spawn", recording);
  try {
    await work();
  } finally {
    Reflect.set(Bun, "spawn", original);
  }
  return commands;
}

function toCommand([argv, options]: readonly unknown[]): SpawnedCommand | undefined {
  if (!Array.isArray(argv) || typeof options !== "object" || options === null) return undefined;
  const cwd = "cwd" in options && typeof options.cwd === "string" ? options.cwd : process.cwd();
  const env = "env" in options && typeof options.env === "object" && options.env ? options.env : process.env;
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (typeof value === "string") environment[name] = value;
  return { argv: argv.map(String), cwd: realpathSync(cwd), environment };
}
