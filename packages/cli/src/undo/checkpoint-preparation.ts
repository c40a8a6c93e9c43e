import type { Checkpoints } from "@diligent/core/light";
import type { StreamFunction } from "@diligent/core/run";

// By then the first request has been sent, if the model has not begun to answer before.
const REQUEST_MS = 300;

interface PreparationParts {
  /** Undefined where nothing is kept. */
  open(): Promise<Checkpoints | undefined>;
  /** False where nothing of the session is to be written. */
  isKept: boolean;
  /** False where no tool changes anything: then nothing is made ready. */
  isChanging: boolean;
}

/** Lets the project be kept as it is before its first change: beside the first request, never before it. */
export class CheckpointPreparation {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isBegun = false;

  constructor(private readonly parts: PreparationParts) {}

  /** Requests go through unchanged; the first of the conversation begins the preparation. */
  wrap(stream: StreamFunction): StreamFunction {
    return (model, context, options) => {
      const answer = stream(model, context, options);
      const { isKept, isChanging } = this.parts;
      if (this.isBegun || !isKept || !isChanging || options.purpose === "summary") return answer;
      this.isBegun = true;
      this.timer = setTimeout(() => this.prepare(), REQUEST_MS);
      const unsubscribe = answer.subscribe(() => {
        unsubscribe();
        this.prepare();
      });
      return answer;
    };
  }

  /**
   * Keeps the project, if that was not done yet. What `canUndo` and `canUndoEverything` say holds from then on, so that
   * nobody decides about a command before; it would have to wait for this in any case.
   */
  async makeReady(): Promise<void> {
    const checkpoints = await this.parts.open();
    if (checkpoints === undefined || !this.parts.isChanging) return;
    this.cancel();
    await checkpoints.prepare();
  }

  /** It does not begin any more by itself. */
  cancel(): void {
    clearTimeout(this.timer);
  }

  private prepare(): void {
    this.cancel();
    void this.parts.open().then((checkpoints) => checkpoints?.prepare());
  }
}
