import type { StoreNews, TellStores } from "../../store/store-news.ts";

/** Takes what a member has found out, and ends its membership. */
export interface NewsMember {
  readonly found: (news: StoreNews) => void;
  readonly leave: () => void;
}

/**
 * Passes on what one process of this machine has found out about a remote store to the others, so that all have one
 * truth: the processes that serve, the renderers, and the coordinator, by which the server is ready or not.
 */
export class StoreNewsExchange {
  readonly #members = new Map<NewsMember, TellStores>();
  readonly #away = new Map<string, StoreNews>();
  readonly #changed: () => void;

  /** `changed`: called when all members have been told. */
  constructor(changed: () => void = () => {}) {
    this.#changed = changed;
  }

  /** Adds a member, which is told which stores are away. */
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
