/** What reads, ranks and writes knowledge; loaded where there is some, since most sessions begin without any. */
export function loadKnowledge(): Promise<typeof import("./index.ts")> {
  return import("./index.ts");
}
