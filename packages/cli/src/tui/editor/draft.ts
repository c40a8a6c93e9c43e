/** Where a draft outlives the program, such as core's `DraftFile`. */
export interface DraftStore {
  takeOver(): string | undefined;
  write(text: string): void;
  remove(): void;
}

/** A session whose prompts are written; `leafId` is null until something was said in it. */
export interface DraftedSession {
  readonly sessionId: string;
  readonly leafId: string | null;
}

// What a program that is killed may lose of it.
const PAUSE_MS = 300;

/**
 * Keeps what is being written and was not sent yet: at once, and then every 300 ms at most. It belongs to the session that
 * it is written in; one in which nothing was said yet cannot be resumed, so its draft is for the next new session.
 */
export class DraftSaver {
  private readonly stores = new Map<string | undefined, DraftStore>();
  private session: DraftedSession | undefined;
  /** Where the draft was written last. */
  private written: DraftStore | undefined;
  private latest: string | undefined;
  private pause: Timer | undefined;

  /** @param createStore the place for the drafts of a session, or for those of new sessions. */
  constructor(
    private readonly createStore: (sessionId: string | undefined) => DraftStore,
    private readonly pauseMs = PAUSE_MS,
  ) {}

  /**
   * From now on prompts are written for this session.
   * @returns what an earlier process left behind in it; it stays kept until something is written or sent.
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

  /** To be called when the program ends: what was changed last is kept too. */
  flush(): void {
    this.stop();
    if (this.latest !== undefined) this.write(this.latest);
    this.latest = undefined;
  }

  /** The prompt is on its way; there is nothing left to lose. */
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

  /** What is being written when another session opens goes along. */
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
