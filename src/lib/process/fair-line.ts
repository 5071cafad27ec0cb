/**
 * The clients that share one entry of a `FairLine`. Further clients may join while the entry waits. All entries without
 * a client count as the entries of one client.
 */
export class SharedTurn {
  readonly #clients = new Set<string>();
  #joined: (client: string) => void = () => {};

  constructor(...clients: readonly string[]) {
    for (const client of clients) this.#clients.add(client);
  }

  get clients(): ReadonlySet<string> {
    return this.#clients;
  }

  join(client: string): void {
    if (this.#clients.has(client)) return;
    this.#clients.add(client);
    this.#joined(client);
  }

  /** Sets the function that is called for each client that joins from now on. */
  whenJoined(report: (client: string) => void): void {
    this.#joined = report;
  }
}

interface Waiting<T> {
  readonly turn: SharedTurn;
  readonly answer: (value: T) => void;
}

/**
 * Waiting entries for one resource. The clients take turns (round robin); the entries of one client are answered first
 * come, first served. A client with many entries delays another client by one turn. An entry that several clients share
 * is answered at the first turn of any of its clients. An entry is removed when its signal fires.
 */
export class FairLine<T> {
  /** The entries of each client; the client whose turn is next comes first. No set is empty. */
  readonly #byClient = new Map<string, Set<Waiting<T>>>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /**
   * Adds an entry, and waits for `answerFirst`, `answerOthers` or `answerInLongestQueue`. Returns the value given
   * there.
   * @throws the signal's reason if it fires before the answer
   */
  wait(turn: SharedTurn, signal: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting<T> = {
        turn,
        answer: (value) => {
          signal.removeEventListener("abort", leave);
          this.#remove(waiting);
          resolve(value);
        },
      };
      const leave = () => {
        this.#remove(waiting);
        reject(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#length++;
      for (const client of turn.clients.size === 0 ? [""] : turn.clients) this.#add(client, waiting);
      turn.whenJoined((client) => this.#add(client, waiting));
    });
  }

  /** Answers the entry whose turn it is. Returns false when no entry waits. */
  answerFirst(value: T): boolean {
    for (const [client, own] of this.#byClient) {
      const [first] = own;
      first?.answer(value);
      if (own.size > 0) {
        // The client has had its turn: move it to the end of the line.
        this.#byClient.delete(client);
        this.#byClient.set(client, own);
      }
      return true;
    }
    return false;
  }

  /** Answers all entries except the entry whose turn it is. */
  answerOthers(value: T): void {
    const all = new Set([...this.#byClient.values()].flatMap((own) => [...own]));
    for (const { answer } of [...all].slice(1)) answer(value);
  }

  /**
   * Returns whether this client, with one more entry, would have at least as many entries as any other client. When a
   * line is full, the caller refuses an entry of such a client. For any other client the caller frees space with
   * `answerInLongestQueue`.
   */
  hasLongestQueue(client: string): boolean {
    const most = this.#longest()?.size ?? 0;
    return (this.#byClient.get(client)?.size ?? 0) + 1 >= most;
  }

  /** Answers the newest entry of the client with the most entries, preferring an entry that no other client shares. */
  answerInLongestQueue(value: T): void {
    const own = [...(this.#longest() ?? [])];
    (own.findLast(({ turn }) => turn.clients.size < 2) ?? own.at(-1))?.answer(value);
  }

  #longest(): ReadonlySet<Waiting<T>> | undefined {
    let most: ReadonlySet<Waiting<T>> | undefined;
    for (const own of this.#byClient.values()) if (most === undefined || own.size > most.size) most = own;
    return most;
  }

  #add(client: string, waiting: Waiting<T>): void {
    const own = this.#byClient.get(client);
    if (own === undefined) this.#byClient.set(client, new Set([waiting]));
    else own.add(waiting);
  }

  #remove(waiting: Waiting<T>): void {
    this.#length--;
    waiting.turn.whenJoined(() => {});
    for (const [client, own] of this.#clientsOf(waiting))
      if (own.delete(waiting) && own.size === 0) this.#byClient.delete(client);
  }

  *#clientsOf({ turn }: Waiting<T>): Generator<[string, Set<Waiting<T>>]> {
    for (const client of turn.clients.size === 0 ? [""] : turn.clients) {
      const own = this.#byClient.get(client);
      if (own !== undefined) yield [client, own];
    }
  }
}
