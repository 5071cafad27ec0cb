import type { StoreNews, TellStores } from "../../store/store-news.ts";

/** A member of the exchange. `found` passes on its news, and `leave` removes it. */
export interface NewsMember {
  readonly found: (news: StoreNews) => void;
  readonly leave: () => void;
}

/**
 * Passes news of one process about a store to all other processes of this machine, so that all agree: the
 * serving processes, the renderers, and the coordinator, which decides whether the server is ready.
 */
export class StoreNewsExchange {
  readonly #members = new Map<NewsMember, TellStores>();
  readonly #away = new Map<string, StoreNews>();
  readonly #changed: () => void;

  /** @param changed called after all members have received news */
  constructor(changed: () => void = () => {}) {
    this.#changed = changed;
  }

  /** Adds a member, and sends it the remote stores that are unavailable. */
  join(tell: TellStores): NewsMember {
    const member: NewsMember = {
      found: (news) => this.#found(member, news),
      leave: () => void this.#members.delete(member),
    };
    this.#members.set(member, tell);
    for (const news of this.#away.values()) tell(news);
    return member;
  }

  #found(from: NewsMember, news: StoreNews): void {
    if (news.away === null) this.#away.delete(news.store);
    else this.#away.set(news.store, news);
    for (const [member, tell] of this.#members) if (member !== from) tell(news);
    this.#changed();
  }
}
