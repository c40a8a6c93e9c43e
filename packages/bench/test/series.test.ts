import { describe, expect, test } from "bun:test";
import { Series, takeTurns } from "../src/measure/statistics.ts";

describe("takeTurns", () => {
  test("alternates between the series and ignores the first round", async () => {
    const order: string[] = [];
    const create = (name: string) =>
      new Series(async () => {
        order.push(name);
        return order.length;
      });
    const [a, b] = [create("a"), create("b")];
    await takeTurns([a, b], 2);
    expect(order).toEqual(["a", "b", "a", "b", "a", "b"]);
    expect([a.values, b.values]).toEqual([
      [3, 5],
      [4, 6],
    ]);
  });
});
