import { expect, test } from "vitest";
import { QuickClock } from "../../../test/support/quick-clock.ts";
import { networkOf, Throttle } from "./throttle.ts";

const stays = (): AbortSignal => new AbortController().signal;
const from = (address: string, name = "ann") => ({ address, name });
const clock = new QuickClock();

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["::1", "0:0:0:0::/64"],
  ["::", "0:0:0:0::/64"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:DB8:1:2::", "2001:db8:1:2::/64"],
  ["2001:db8::2:0:0:0:1", "2001:db8:0:2::/64"],
  ["2001:db8:1:2::192.0.2.1", "2001:db8:1:2::/64"],
  ["64:ff9b::192.0.2.1", "64:ff9b:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["unknown", "unknown"],
  ["", ""],
])("an attempt from %s counts for %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test("all addresses of an IPv6 network are one", async () => {
  const own = new QuickClock();
  const throttle = new Throttle(own);
  for (let n = 0; n < 4; n++) await throttle.wrong(from(`2001:db8::${n}`));
  await throttle.wrong(from("2001:db8:0:1::1"));
  expect(own.slept).toEqual([50, 100, 200, 400, 50]);
});

/** A verification that ends when the test ends it. */
function heldVerification() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  return {
    begun,
    of: (name: string) => () => {
      begun.push(name);
      return new Promise<boolean>((resolve) => ends.push(() => resolve(false)));
    },
    async end() {
      ends.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test("known pairs come first, then addresses by their failures", async () => {
  const throttle = new Throttle(clock);
  const held = heldVerification();
  await throttle.wrong(from("suspect"));
  const all = [
    throttle.verify(from("a"), false, held.of("a"), stays()),
    throttle.verify(from("b"), false, held.of("b"), stays()),
    throttle.verify(from("suspect"), false, held.of("suspect"), stays()),
    throttle.verify(from("c"), false, held.of("c"), stays()),
    throttle.verify(from("suspect"), true, held.of("known"), stays()),
  ];
  for (const _ of all) await held.end();
  expect(await Promise.all(all)).toEqual([false, false, false, false, false]);
  expect(held.begun).toEqual(["a", "b", "known", "c", "suspect"]);
});

test("in a full queue a suspect gives way to another client, and no client gives way to a suspect", async () => {
  const throttle = new Throttle(clock);
  const held = heldVerification();
  for (let n = 0; n < 200; n++) await throttle.wrong(from(`suspect ${n}`));
  const crowd = Array.from({ length: 4_098 }, (_, n) => {
    const name = `suspect ${n % 200}`;
    return throttle.verify(from(name), false, held.of(name), stays());
  });
  const right = throttle.verify(from("new"), false, async () => true, stays());
  const late = throttle.verify(from("suspect 0"), true, async () => true, stays());
  expect(await crowd.at(-1), "the newest suspect").toBeUndefined();
  expect(await crowd.at(-2), "the second newest").toBeUndefined();
  await held.end();
  await held.end();
  expect([await right, await late]).toEqual([true, true]);
});

test("in a crowd the newest comes first, so that the right one does not wait for all guesses", async () => {
  const throttle = new Throttle(clock);
  const held = heldVerification();
  for (let n = 0; n < 280; n++) void throttle.verify(from(`address ${n}`), false, held.of(`guess ${n}`), stays());
  const right = throttle.verify(from("new"), false, held.of("right"), stays());
  await held.end();
  expect(held.begun).toEqual(["guess 0", "guess 1", "right"]);
  for (let n = 0; n < 281; n++) await held.end();
  expect(await right).toBe(false);
  expect(held.begun).toHaveLength(281);
});

test("a bounded number of wrong pairs is compared with the other kinds, the rest is answered at whole seconds", async () => {
  const own = new QuickClock(2_300);
  const throttle = new Throttle(own);
  const held = heldVerification();
  const comparison = async (name: string) => void (await held.of(name)());
  const compared = Array.from({ length: 8 }, (_, n) => throttle.equalise(0, () => comparison(`guess ${n}`)));
  await throttle.equalise(1_200, () => comparison("a mistyped password"));
  await throttle.equalise(2_300, () => comparison("another"));
  expect(own.slept).toEqual([900, 1_000]);
  for (let n = 0; n < 8; n++) await held.end();
  await Promise.all(compared);
  expect(held.begun).toEqual(Array.from({ length: 8 }, (_, n) => `guess ${n}`));
});

test("in a crowd that never ends the oldest has its turn too", async () => {
  const throttle = new Throttle(clock);
  const held = heldVerification();
  for (let n = 0; n < 40; n++) void throttle.verify(from(`address ${n}`), false, held.of(`guess ${n}`), stays());
  const right = throttle.verify(from("new"), false, held.of("right"), stays());
  for (let n = 40; n < 440; n++) {
    void throttle.verify(from(`address ${n}`), false, held.of(`guess ${n}`), stays());
    await held.end();
  }
  expect(held.begun).toContain("right");
  for (let n = 0; n < 500; n++) await held.end();
  expect(await right).toBe(false);
});

test("attempts whose clients have left are not verified, and delay no other attempt", async () => {
  const throttle = new Throttle(clock);
  const held = heldVerification();
  const clients = Array.from({ length: 5_000 }, () => new AbortController());
  const crowd: Promise<boolean | undefined>[] = [];
  for (const [n, client] of clients.entries()) {
    crowd.push(throttle.verify(from(`address ${n}`), false, held.of(`guess ${n}`), client.signal));
    clients[n - 200]?.abort();
  }
  const right = throttle.verify(from("new"), false, held.of("right"), stays());
  for (const client of clients) client.abort();
  await held.end();
  expect(held.begun).toEqual(["guess 0", "guess 1", "right"]);
  await held.end();
  await held.end();
  expect(await right).toBe(false);
  expect(new Set(await Promise.all(crowd.slice(2)))).toEqual(new Set([undefined]));
});

test("guesses at one name do not delay another name from the same address", async () => {
  const throttle = new Throttle(clock);
  const held = heldVerification();
  for (let n = 0; n < 5; n++) await throttle.wrong(from("proxy", "bob"));
  const crowd = Array.from({ length: 40 }, (_, n) =>
    throttle.verify(from("proxy", "bob"), false, held.of(`guess ${n}`), stays()),
  );
  const right = throttle.verify(from("proxy", "ann"), false, held.of("right"), stays());
  await held.end();
  expect(held.begun).toEqual(["guess 0", "guess 1", "right"]);
  for (let n = 0; n < 40; n++) await held.end();
  expect(await right).toBe(false);
  expect((await Promise.all(crowd)).filter((one) => one === undefined)).toHaveLength(8);
});

test("invented names share their failures", async () => {
  const throttle = new Throttle(clock);
  const held = heldVerification();
  for (let n = 0; n < 5; n++) await throttle.wrong(from("proxy", ""));
  const all = [
    ...[0, 1, 2].map((n) => throttle.verify(from("proxy", ""), false, held.of(`guess ${n}`), stays())),
    throttle.verify(from("proxy", "ann"), false, held.of("right"), stays()),
  ];
  for (const _ of all) await held.end();
  await Promise.all(all);
  expect(held.begun).toEqual(["guess 0", "guess 1", "right", "guess 2"]);
});

test("the right one is among the next hashes, though a crowd at its own name and address guesses on", async () => {
  const throttle = new Throttle(clock);
  const held = heldVerification();
  const guess = (n: number) => void throttle.verify(from("proxy"), false, held.of(`guess ${n}`), stays());
  for (let n = 0; n < 30; n++) guess(n);
  const right = throttle.verify(from("proxy"), false, held.of("right"), stays());
  let next = 30;
  while (!held.begun.includes("right")) {
    await held.end();
    guess(next++);
  }
  expect(held.begun.length).toBeLessThan(5);
  for (let n = 0; n < 100; n++) await held.end();
  expect(await right).toBe(false);
});

test("a crowd from ever new addresses at one name does not delay another name, though its guesses are newer", async () => {
  const throttle = new Throttle(clock);
  const held = heldVerification();
  let guesses = 0;
  /** Starts a guess of a new address. Its client guesses again after each response. */
  const guess = (): void => {
    const sender = from(`address ${guesses++}`, "attacked");
    const answer = throttle.verify(sender, false, held.of("guess"), stays());
    void answer.then(() => throttle.wrong(sender)).then(guess);
  };
  for (let n = 0; n < 40; n++) guess();
  for (let n = 0; n < 40; n++) await held.end();
  // An earlier mistyped password does not move the user behind the crowd.
  await throttle.wrong(from("home", "bob"));
  held.begun.length = 0;
  void throttle.verify(from("home"), false, held.of("right"), stays());
  guess();
  await held.end();
  expect(held.begun).toEqual(["right"]);
});
