/** The clients on whose behalf one place in a `FairLine` is held: further clients may join while it waits. */
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

  /** Has the line told of clients that join from now on. */
  whenJoined(tell: (client: string) => void): void {
    this.#joined = tell;
  }
}

interface Waiting<T> {
  readonly turn: SharedTurn;
  readonly answer: (value: T) => void;
}

/**
 * Those who wait for one and the same thing. The clients take turns (round robin), and each client's own are answered first
 * come, first served: a client with many waiting delays another client's by one turn. A place that several clients share
 * is answered at the first turn of any of them. Each may leave by its signal.
 */
export class FairLine<T> {
  /** By client, the next one's first; none is empty. */
  readonly #byClient = new Map<string, Set<Waiting<T>>>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Resolves with what it is answered. @throws the signal's reason when it fires before */
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

  /** Answers the one whose turn it is. False: nobody waits. */
  answerFirst(value: T): boolean {
    for (const [client, own] of this.#byClient) {
      const [first] = own;
      first?.answer(value);
      if (own.size > 0) {
        // The next turn is another client's.
        this.#byClient.delete(client);
        this.#byClient.set(client, own);
      }
      return true;
    }
    return false;
  }

  /** Answers all but the one whose turn it is. */
  answerOthers(value: T): void {
    const all = new Set([...this.#byClient.values()].flatMap((own) => [...own]));
    for (const { answer } of [...all].slice(1)) answer(value);
  }

  /**
   * Whether one more of a client's would be the most that any client has waiting: of a full line such a one is refused, and
   * any other takes the place of one by `answerGreediest`.
   */
  isGreediest(client: string): boolean {
    const most = this.#greediest()?.size ?? 0;
    return (this.#byClient.get(client)?.size ?? 0) + 1 >= most;
  }

  /** Answers the one who came last of the client with the most waiting, where possible one that no other client shares. */
  answerGreediest(value: T): void {
    const own = [...(this.#greediest() ?? [])];
    (own.findLast(({ turn }) => turn.clients.size < 2) ?? own.at(-1))?.answer(value);
  }

  #greediest(): ReadonlySet<Waiting<T>> | undefined {
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
