import { describeHalfMove, type MoveProgress } from "@diligent/core/light";

/** What is being done to files: `jump` goes to another place of the conversation. */
export type FileMove = "undo" | "redo" | "jump";

const DOING: Readonly<Record<FileMove, string>> = {
  undo: "Taking back",
  redo: "Bringing back",
  jump: "Bringing the files along",
};

/** For whoever leaves while files are being moved. */
export function describeLeaving(move: FileMove): string {
  return describeHalfMove(move, { undo: "diligent undo", redo: "diligent undo --redo" });
}

/** What is going on and how far it has come, on one line without an end. */
export function describeProgress(move: FileMove, progress: MoveProgress | undefined): string {
  if (progress === undefined) return `${DOING[move]}…`;
  const { doing, done, total } = progress;
  const amount = `${done.toLocaleString("en")} of ${total.toLocaleString("en")}`;
  switch (doing) {
    case "look":
      return `${DOING[move]}: looking at the files, ${amount}…`;
    case "restore":
      return `${DOING[move]}: ${amount} done…`;
    case "rollBack":
      return `Stopping: putting everything back, ${amount}…`;
  }
}
