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
  const log = new ChangeLog(silent, async (entry) => void recorded.push(entry), machineClock);
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
