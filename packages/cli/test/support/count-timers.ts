import { writeFileSync } from "node:fs";

// Loaded before the program: counts how often its timers fire, and writes the count to TIMERS_FILE on
// SIGUSR2.

let count = 0;

function countCalls<Timed extends typeof setTimeout | typeof setInterval>(start: Timed): Timed {
  return new Proxy(start, {
    apply(target, self, [callback, ...more]) {
      const counted = (...values: unknown[]) => {
        count++;
        return callback(...values);
      };
      return Reflect.apply(target, self, [counted, ...more]);
    },
  });
}

globalThis.setTimeout = countCalls(setTimeout);
globalThis.setInterval = countCalls(setInterval);
process.on("SIGUSR2", () => writeFileSync(process.env.TIMERS_FILE ?? "", `${count}\n`));
