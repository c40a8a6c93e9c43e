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

// The most that a killed program may lose of it.
const PAUSE_MS = 300;

/**
 * Saves the prompt being typed: at once, then at most every 300 ms. A draft belongs to its session. A session
 * without messages cannot be resumed, so its draft is for the next new session.
 */
export class DraftSaver {
  private readonly stores = new Map<string | undefined, DraftStore>();
  private session: DraftedSession | undefined;
  /** Where the draft was saved last. */
  private written: DraftStore | undefined;
  private latest: string | undefined;
  private pause: Timer | undefined;

  /** @param createStore the store for the drafts of a session, or of new sessions. */
  constructor(
    private readonly createStore: (sessionId: string | undefined) => DraftStore,
    private readonly pauseMs = PAUSE_MS,
  ) {}

  /**
   * From now on, prompts are typed for this session.
   * @returns the draft that an earlier process left for it; it is kept until something is typed or sent.
   */
  open(session: DraftedSession): string | undefined {
    const before = this.key;
    const wasOpen = this.session !== undefined;
    this.session = session;
    return wasOpen && this.key === before ? undefined : this.store.takeOver();
  }

  change(text: string): void {
    this.latest = text;
    if (this.pause === undefined) this.save();
  }

  /** Call it when the program ends, so that the last change is saved too. */
  flush(): void {
    this.stop();
    if (this.latest !== undefined) this.write(this.latest);
    this.latest = undefined;
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
    const store = this.stores.get(key) ?? this.createStore(key);
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
    const text = this.latest;
    this.latest = undefined;
    this.pause = undefined;
    if (text === undefined) return;
    this.write(text);
    this.pause = setTimeout(() => this.save(), this.pauseMs);
    this.pause.unref();
  }

  private stop(): void {
    clearTimeout(this.pause);
    this.pause = undefined;
  }
}
