import { expect, test } from "vitest";
import type { StoreNews } from "../../store/store-news.ts";
import { StoreNewsExchange } from "./store-news-exchange.ts";

const away = (store: string): StoreNews => ({ store, away: { status: 0, code: "no answer in time" } });
const back = (store: string): StoreNews => ({ store, away: null });

/** Adds a member that records the news that it receives. */
function join(exchange: StoreNewsExchange) {
  const told: StoreNews[] = [];
  return { told, ...exchange.join((news) => void told.push(news)) };
}

test("what a member finds out is told to all others, and to none that has left", () => {
  let changes = 0;
  const exchange = new StoreNewsExchange(() => changes++);
  const [a, b, gone] = [join(exchange), join(exchange), join(exchange)];
  gone.leave();
  a.found(away("main"));
  b.found(back("main"));
  expect([a.told, b.told, gone.told]).toEqual([[back("main")], [away("main")], []]);
  expect(changes).toBe(2);
});

test("a member that joins later is told which stores are away", () => {
  const exchange = new StoreNewsExchange();
  const first = join(exchange);
  for (const news of [away("main"), away("other"), back("main")]) first.found(news);
  expect(join(exchange).told).toEqual([away("other")]);
});
