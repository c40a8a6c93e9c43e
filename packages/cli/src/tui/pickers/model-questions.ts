import type { UserQuestion } from "@diligent/core/harness";
import { now } from "@diligent/core/run";
import { toSingleLine } from "../../text/terminal-text.ts";
import { finish, notice, type PickerItem, type View } from "../view.ts";
import { closePicker, createPickerDialog, type Picker } from "./picker.ts";

const NAME = "model-question";
// A key pressed before this was meant for the prompt that the list has replaced.
const GUARD_MS = 400;
const MAX_LABEL_COLUMNS = 200;
const MAX_TITLE_COLUMNS = 60;
const OTHER: PickerItem = { id: "other", label: "Other…", detail: "answer in your own words" };
const DONE: PickerItem = { id: "done", label: "Done" };

interface QuestionDeps {
  open(picker: Picker): void;
  change(change: (view: View) => View): void;
  /** Holds approval questions back until the returned function is called; resolves once none is open. */
  holdApprovals(): Promise<() => void>;
}

/**
 * Asks the model's questions, one list after the other; own text is always possible. Undefined if the user closes a
 * list, or the run is stopped.
 */
export async function askModelQuestions(
  questions: readonly UserQuestion[],
  { signal }: { signal: AbortSignal },
  deps: QuestionDeps,
): Promise<string[][] | undefined> {
  const release = await deps.holdApprovals();
  const closeList = () => deps.change((view) => closePicker(view, NAME));
  signal.addEventListener("abort", closeList, { once: true });
  try {
    const answers: string[][] = [];
    for (const question of questions) {
      if (signal.aborted) return undefined;
      // A list shows one line of its title, and the transcript keeps the question.
      deps.change((view) => finish(view, notice("info", describeQuestion(question))));
      const answer = await Promise.race([askOne(question, deps), whenAborted(signal)]);
      if (answer === undefined) return undefined;
      answers.push(answer);
    }
    return answers;
  } finally {
    signal.removeEventListener("abort", closeList);
    closeList();
    release();
  }
}

function describeQuestion({ header, question }: UserQuestion): string {
  return header === undefined ? question : `${header}: ${question}`;
}

function whenAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));
}

function askOne(question: UserQuestion, { open, change }: QuestionDeps): Promise<string[] | undefined> {
  const { promise, resolve } = Promise.withResolvers<string[] | undefined>();
  const chosen = new Set<string>();
  const show = (selected = 0) => open(toPicker(selected));
  if (question.options.length === 0) writeAnswer();
  else show();
  return promise;

  function toPicker(selected: number): Picker {
    const openedAt = now();
    const isEarly = () => now() - openedAt < GUARD_MS;
    const title = toSingleLine(question.header ?? question.question, MAX_TITLE_COLUMNS);
    let isAnswered = false;
    const finishWith = (answer: string[]) => {
      isAnswered = true;
      resolve(answer);
    };
    return {
      dialog: createPickerDialog({ name: NAME, title, items: listItems(question, chosen), selected }),
      choose(id) {
        isAnswered = true;
        if (isEarly() && chosen.size === 0) return show(selected);
        if (id === OTHER.id) return writeAnswer();
        if (id === DONE.id) return finishWith([...chosen]);
        const position = Number(id);
        const label = question.options[position]?.label ?? "";
        if (!question.multiSelect) return finishWith([label]);
        if (!chosen.delete(label)) chosen.add(label);
        show(position);
      },
      close() {
        if (!isAnswered) resolve(undefined);
      },
    };
  }

  function writeAnswer(): void {
    const picker = toPicker(question.options.length);
    open({
      ...picker,
      dialog: { ...picker.dialog, input: { label: "Your answer", text: "" } },
      submit(text) {
        change((view) => closePicker(view, NAME));
        if (text.trim() === "") return show();
        resolve([...chosen, text.trim()]);
      },
    });
  }
}

function listItems({ options, multiSelect }: UserQuestion, chosen: ReadonlySet<string>): PickerItem[] {
  const items = options.map(({ label, description }, index) => ({
    id: String(index),
    label: toSingleLine(
      `${multiSelect ? (chosen.has(label) ? "[x] " : "[ ] ") : ""}${label}`,
      MAX_LABEL_COLUMNS,
    ),
    ...(description !== undefined && { detail: description }),
  }));
  return [...items, OTHER, ...(multiSelect ? [DONE] : [])];
}
