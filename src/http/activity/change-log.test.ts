import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ActivityEntry } from "../../activity/activity-service.ts";
import { machineClock } from "../../lib/time/machine-clock.ts";
import { type AnsweredChange, ChangeLog } from "./change-log.ts";

const change = (more: Partial<AnsweredChange>): AnsweredChange => ({
  requestId: "1",
  user: "ann",
  address: "127.0.0.1",
  method: "POST",
  path: "/api/v1/tiles/import",
  status: 200,
  refusal: undefined,
  jobId: undefined,
  ms: 1,
  ...more,
});

test("the requests of one piece of work are one change, and each refused one is another", async () => {
  const recorded: ActivityEntry[] = [];
  const silent = { info: () => {}, warn: () => {}, error: () => {} };
  const log = new ChangeLog(
    silent,
    async (entry) => void recorded.push(entry),
    machineClock,
    () => ({ maskAddresses: false }),
  );
  const refusal = { code: "disk_full", message: "full" } as const;
  for (const more of [
    { repeats: "import a" },
    { repeats: "import a", requestId: "2" },
    { repeats: "import b", requestId: "3" },
    { repeats: "import a", user: "bob", requestId: "4" },
    { repeats: "import a", refusal, status: 507, requestId: "5" },
    { requestId: "6" },
    { requestId: "7" },
  ])
    log.answered(change(more));
  await turn();
  await turn();
  expect(recorded.map(({ requestId }) => requestId)).toEqual(["1", "3", "4", "5", "6", "7"]);
  log.close();
});

test("masked addresses are in no line and no record, and do not share the limit of lines", async () => {
  const recorded: ActivityEntry[] = [];
  const lines: unknown[] = [];
  const line = (_: string, fields: unknown): void => void lines.push(fields);
  const log = new ChangeLog(
    { info: line, warn: line, error: line },
    async (entry) => void recorded.push(entry),
    machineClock,
    () => ({ maskAddresses: true }),
  );
  const refusal = { code: "forbidden", message: "no" } as const;
  const addresses = ["203.0.113.9", "::ffff:203.0.113.10", "2001:db8:1:2:3:4:5:6", "2001:db8::1", "_hidden"];
  for (const address of addresses) log.answered(change({ address }));
  for (let n = 0; n < 25; n++) log.answered(change({ address: `198.51.100.${n}`, status: 403, refusal }));
  await turn();
  await turn();
  expect(recorded.map(({ address }) => address)).toEqual([
    "203.0.113.0",
    "203.0.113.0",
    "2001:db8:1::",
    "2001:db8:0::",
    "_hidden",
    ...Array.from({ length: 25 }, () => "198.51.100.0"),
  ]);
  expect(JSON.stringify(lines)).not.toMatch(/203\.0\.113\.[1-9]|198\.51\.100\.[1-9]|:2:3:4/);
  log.close();
});
