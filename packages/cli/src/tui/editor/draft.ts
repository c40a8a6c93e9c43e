import type { SecretRedactor } from "@diligent/core/run";

type Redactor = Pick<SecretRedactor, "redact">;

/** Where a draft survives the program, such as core's `DraftFile`. */
export interface DraftStore {
  takeOver(): string | undefined;
  write(text: string): void;
  remove(): void;
}

/** The session that prompts are typed for; `leafId` is null until it has a message. */
export interface DraftedSession {
  readonly sessionId: string;
  readonly leafId: string | null;
}

interface DraftOptions {
  /** The store for the drafts of a session, or of new sessions. */
  createStore(sessionId: string | undefined): DraftStore;
  /** Masks secrets until a session does it. Called once, for the first text to be saved. */
  loadRedactor(): Promise<Redactor>;
  pauseMs?: number;
}

// The most that a killed program may lose of it.
const PAUSE_MS = 300;

/**
 * Saves the prompt being typed, without its secrets: at once, then at most every 300 ms. A draft belongs to its session.
 * A session without messages cannot be resumed, so its draft is for the next new session.
 */
export class DraftSaver {
  private readonly stores = new Map<string | undefined, DraftStore>();
  private session: DraftedSession | undefined;
  /** Where the draft was saved last. */
  private written: DraftStore | undefined;
  private latest: string | undefined;
  private pause: Timer | undefined;
  private redactor: Redactor | undefined;
  private loading: Promise<void> | undefined;

  constructor(private readonly options: DraftOptions) {}

  /**
   * From now on, prompts are typed for this session.
   * @param redactor that of the session.
   * @returns the draft that an earlier process left for it; it is kept until something is typed or sent.
   */
  open(session: DraftedSession, redactor: Redactor): string | undefined {
    const before = this.key;
    const wasOpen = this.session !== undefined;
    this.session = session;
    this.redactor = redactor;
    if (wasOpen && this.key === before) return undefined;
    const left = this.store.takeOver();
    const masked = redactor.redact(left);
    if (masked !== undefined && masked !== left) this.store.write(masked);
    return masked;
  }

  change(text: string): void {
    this.latest = text;
    if (this.pause === undefined) this.save();
  }

  /** Call it when the program ends: it resolves once the last change is saved too. */
  async flush(): Promise<void> {
    this.stop();
    if (this.latest !== undefined && this.redactor === undefined) await this.loadRedactor();
    this.save();
    this.stop();
  }

  /** The prompt was sent, so there is nothing to save. */
  sent(): void {
    this.stop();
    this.latest = undefined;
    (this.written ?? this.store).remove();
  }

  private get key(): string | undefined {
    const { session } = this;
    return session && session.leafId !== null ? session.sessionId : undefined;
  }

  private get store(): DraftStore {
    const { key } = this;
    const store = this.stores.get(key) ?? this.options.createStore(key);
    this.stores.set(key, store);
    return store;
  }

  /** A prompt being typed moves to the newly opened session. */
  private write(text: string): void {
    const { store } = this;
    if (this.written !== undefined && this.written !== store) this.written.remove();
    this.written = store;
    store.write(text);
  }

  private save(): void {
    const { latest, redactor } = this;
    this.pause = undefined;
    if (latest === undefined) return;
    if (redactor === undefined) {
      void this.loadRedactor().then(() => this.save());
      return;
    }
    this.latest = undefined;
    this.write(redactor.redact(latest));
    this.pause = setTimeout(() => this.save(), this.options.pauseMs ?? PAUSE_MS);
    this.pause.unref();
  }

  private async loadRedactor(): Promise<void> {
    this.loading ??= this.options.loadRedactor().then((loaded) => {
      this.redactor ??= loaded;
    });
    await this.loading;
  }

  private stop(): void {
    clearTimeout(this.pause);
    this.pause = undefined;
  }
}
