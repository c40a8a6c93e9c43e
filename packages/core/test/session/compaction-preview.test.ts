import { expect, test } from "bun:test";
import { user } from "../support/agent-run.ts";
import { createSessionProject } from "../support/session-project.ts";
import { GOOD_SUMMARY } from "../support/summaries.ts";

const long = (word: string) => `${word} `.repeat(900);

test("previewCompaction() announces exactly what compact() then does, and changes nothing itself", async () => {
  const project = await createSessionProject(
    ...["one", "two", "three", "four"].map((text) => ({ text: long(text) })),
    { text: GOOD_SUMMARY },
  );
  const session = project.manager({ model: { contextWindow: 20_000, maxOutputTokens: 2_000 } });
  expect(await session.previewCompaction()).toBeUndefined();
  for (const prompt of ["alpha", "beta", "gamma", "delta"])
    await Array.fromAsync(session.run(user(long(prompt))));
  const lines = project.lines().length;
  const preview = await session.previewCompaction();
  if (!preview) throw new Error("There is nothing to summarize.");
  expect(project.lines()).toHaveLength(lines);
  const { summarized, kept, pinned, arePinnedShortened, files } = preview;
  expect([summarized.messages + kept.messages, arePinnedShortened]).toEqual([8, false]);
  expect(summarized.first).toStartWith("alpha alpha");
  expect(kept.last).toStartWith("four four");
  expect(kept.last).toHaveLength(201);
  expect(files).toEqual({ readFiles: [], modifiedFiles: [] });
  const ids: Record<string, number> = {};
  await session.compact({
    emit(event) {
      if (event.type !== "compaction_start") return;
      ids.cut = event.cutEntryIds.length;
      ids.kept = event.keptEntryIds.length;
    },
  });
  expect(ids).toEqual({ cut: summarized.messages, kept: kept.messages });
  const [summary] = session.context.messages;
  const said = JSON.stringify(summary).match(/<user-message>/g) ?? [];
  expect(said).toHaveLength(pinned.messages);
});
