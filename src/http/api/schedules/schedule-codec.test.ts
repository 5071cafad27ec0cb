import { describe, expect, test } from "vitest";
import { atOnce } from "../../../lib/process/slices.ts";
import { refusalMessage } from "../../../lib/refusal.ts";
import { ok } from "../../../lib/result.ts";
import { jsonText } from "../../../lib/text/json-text.ts";
import type { SchedulePlan } from "../../../schedule/schedule.ts";
import { decodeSchedule, decodeScheduleChange, scheduleDocument } from "./schedule-codec.ts";

const decode = (document: unknown, known?: string) =>
  atOnce(decodeSchedule(new TextEncoder().encode(JSON.stringify(document)), known));
const refusal = (document: unknown, known?: string): string => {
  const decoded = decode(document, known);
  return decoded.ok ? "accepted" : `${decoded.error.code} ${refusalMessage(decoded.error)}`;
};
function planOf(document: unknown): SchedulePlan {
  const decoded = decode(document);
  if (!decoded.ok) throw new Error(refusalMessage(decoded.error));
  return decoded.value.plan;
}
/** Returns the fields of a schedule's document that a client may send back. */
function shown(plan: SchedulePlan): Record<string, unknown> {
  const schedule = { name: "a", plan, createdBy: null, createdMs: 0, nextMs: null, lastDueMs: null };
  return JSON.parse(jsonText(scheduleDocument({ schedule, runs: [] }, "in a list")));
}

const least = { name: "a", cron: "@daily", job: { layer: "ws:roads" } };
const whole = {
  name: "Nächtlich 1.2:b_c+d-e",
  cron: "30 2 * * MON-FRI",
  timeZone: "Europe/Zurich",
  missed: "skip",
  overlap: "never",
  window: { start: "22:00", end: "06:00" },
  job: {
    layer: "ws:roads",
    type: "reseed",
    gridSet: "EPSG:4326",
    srs: 4326,
    format: "image/png",
    parameters: { STYLES: "night" },
    bounds: [0, -1.5, 10, 10],
    zoomStart: 0,
    zoomStop: 3,
    threadCount: 2,
    tileFailureRetryCount: 0,
    tileFailureRetryWaitTime: 5,
    totalFailuresBeforeAborting: 7,
  },
};

test("every field is read and shown again as requested; absent fields have their defaults", () => {
  const { name: _, ...fields } = whole;
  expect(shown(planOf(whole))).toMatchObject(fields);
  expect(shown(planOf({ ...least, window: null, missed: null }))).toMatchObject({
    cron: "@daily",
    timeZone: "UTC",
    missed: "run_once",
    overlap: "never",
    window: null,
    job: { layer: "ws:roads", type: "seed" },
  });
  expect(decode(whole)).toMatchObject({ ok: true, value: { name: whole.name } });
});

test("the window may have the names that it has in jobs, and is shown as ever", () => {
  expect(shown(planOf({ ...least, window: { from: "22:00", to: "06:00" } }))).toMatchObject({
    window: { start: "22:00", end: "06:00" },
  });
});

describe("what a POST to jobs takes is read and shown again:", () => {
  const ring = [
    [-109, 37],
    [-102, 37],
    [-102, 41],
    [-109, 37],
  ];
  const wkt = "MULTIPOLYGON(((0 0,10.5 0,1e-7 7,0 0),(1 1,2 1,1 2,1 1)))";
  for (const [what, job] of [
    ["patterns, and all of each kind", { layers: ["ws:*", "other"], gridSets: "*", formats: "*", parameterSets: "*" }],
    ["lists", { layers: ["a"], gridSets: ["b"], formats: ["image/png"], parameterSets: [{ STYLES: "night" }, {}] }],
    ["several formats of a layer", { layer: "a", gridSet: "b", formats: ["image/png", "image/jpeg"], zoomStart: 3 }],
    ["bounds in a CRS of their own", { layer: "a", bounds: [1, 2, 3, 4.5], boundsCrs: "EPSG:32632" }],
    ["GeoJSON", { layer: "a", area: { type: "MultiPolygon", coordinates: [[ring], [ring]] } }],
    [
      "GeoJSON in another CRS",
      { layer: "a", area: { type: "MultiPolygon", coordinates: [[ring]] }, areaCrs: "EPSG:3857" },
    ],
    ["WKT in the grid set's CRS", { layer: "a", area: wkt }],
    ["tiles", { layer: "a", tiles: ["0/0/0", "12/4095/7"] }],
    [
      "terms",
      {
        layer: "a",
        type: "reseed",
        zoomStop: 3,
        order: "hot",
        maxFailurePercent: 0.5,
        priority: 3,
        rateLimit: 0.5,
        runWindow: { from: "22:00", to: "06:00", timeZone: "Europe/Zurich" },
        supersede: true,
        confirm: true,
      },
    ],
    ["a reseed of what is old", { layer: "a", type: "reseed", onlyExisting: true, olderThan: "P7D" }],
  ] as const)
    test(what, () => expect(shown(planOf({ ...least, job }))["job"]).toEqual({ type: "seed", ...job }));
});

test("a list leaves large places out and says so by a field that no request has", () => {
  const { job, ...rest } = planOf({ ...least, job: { layer: "a", tiles: ["0/0/0"] } });
  const { tiles: _, ...request } = job.many.request;
  const document = shown({ ...rest, job: { ...job, many: { ...job.many, request }, limit: "tiles" } })["job"];
  expect(document).toEqual({ layer: "a", type: "seed", limit: "tiles" });
  expect(refusal({ ...least, job: document })).toMatch(/^bad_field job\.limit: unknown field/);
});

test("in a PUT the name is that of the path, and another one is refused", () => {
  expect(decode({ ...least, name: null }, "b")).toMatchObject({ ok: true, value: { name: "b" } });
  expect(decode({ ...least, name: "b" }, "b")).toMatchObject({ ok: true });
  expect(refusal(least, "b")).toBe('bad_field name: expected b, as in the path, got "a"');
  expect(refusal({ ...least, name: null }, "a/b")).toMatch(/^bad_field name: .* got "a\/b"$/);
});

describe("a refusal names the field and the value:", () => {
  const names =
    "bad_field name: expected 1 to 100 letters, digits, blanks or . _ : + -, a letter or digit first, and not preview, got";
  for (const [what, change, expected] of [
    ["no name", { name: undefined }, `${names} null`],
    ["a slash in the name", { name: "a/b" }, `${names} "a/b"`],
    ["the name of another resource", { name: "preview" }, `${names} "preview"`],
    ["a blank at the end of the name", { name: "a " }, `${names} "a "`],
    ["a name that is none", { name: 7 }, `${names} 7`],
    ["no cron", { cron: undefined }, "bad_field cron: expected five fields such as 0 2 * * *, or @daily, got null"],
    ["a bad cron", { cron: "61 * * * *" }, 'bad_field cron: expected five fields {any}, got "61 * * * *"'],
    ["a bad time zone", { timeZone: "Zurich" }, 'bad_field timeZone: expected a time zone {any}, got "Zurich"'],
    ["another rule", { missed: "all" }, 'bad_field missed: expected one of skip, run_once, got "all"'],
    ["another overlap", { overlap: "queue" }, 'bad_field overlap: expected never, got "queue"'],
    ["no job", { job: undefined }, "bad_field job: expected an object with the fields of a job, got null"],
    ["a job that is none", { job: [] }, "bad_field job: expected an object with the fields of a job, got []"],
    ["a job without layer", { job: {} }, "bad_field job.layer: expected the name of a layer, got null"],
    [
      "an unknown field of the job",
      { job: { layer: "a", zoomstop: 3 } },
      "bad_field job.zoomstop: unknown field, expected zoomStop, got 3",
    ],
    ["a window that is none", { window: "22-6" }, 'bad_field window: expected an object {any}, got "22-6"'],
    ["a window without end", { window: { start: "22:00" } }, "bad_field window.end: expected a time {any}, got null"],
    [
      "a window with from and no to",
      { window: { from: "22:00" } },
      "bad_field window.to: expected a time {any}, got null",
    ],
    [
      "a window with names of both kinds",
      { window: { from: "22:00", end: "06:00" } },
      'bad_field window.end: expected no start or end beside from and to, which are other names for them, got "06:00"',
    ],
    [
      "an unknown field of the window",
      { window: { until: "22:00" } },
      'bad_field window.until: unknown field, expected one of start, end, from, to, got "22:00"',
    ],
    ["an unknown field", { timezone: "UTC" }, 'bad_field timezone: unknown field, expected timeZone, got "UTC"'],
  ] as const)
    test(what, () => {
      const [before = "", after = ""] = expected.split("{any}");
      const got = refusal({ ...least, ...change });
      expect([got.startsWith(before), got.endsWith(after), got]).toEqual([true, true, got]);
    });
  test("a body that is not an object is malformed", () =>
    expect(refusal([])).toMatch(/^malformed body: expected a JSON object .* a schedule, got \[\]$/));
});

describe("a change", () => {
  const change = (document: unknown) =>
    atOnce(decodeScheduleChange(new TextEncoder().encode(JSON.stringify(document)), "nightly"));
  const refused = (document: unknown): string => {
    const decoded = change(document);
    return decoded.ok ? "accepted" : `${decoded.error.code} ${refusalMessage(decoded.error)}`;
  };

  test("holds the given fields and no others; null is the default of a PUT", () => {
    expect(change({ cron: "@daily" })).toEqual(ok({ time: { expression: "@daily" } }));
    expect(change({ name: "nightly", timeZone: "Europe/Zurich", cron: null })).toEqual(
      ok({ time: { timeZone: "Europe/Zurich" } }),
    );
    expect(change({ timeZone: null, missed: null, window: null })).toEqual(
      ok({ time: { timeZone: "UTC" }, missed: "run_once", window: null }),
    );
    expect(change({ missed: "skip", window: { from: "22:00", to: "06:00" } })).toEqual(
      ok({ time: {}, missed: "skip", window: { startMinute: 1320, endMinute: 360 } }),
    );
    expect(change({ job: { layer: "a" } })).toMatchObject({ ok: true, value: { job: { many: { layers: ["a"] } } } });
  });

  for (const [what, document, expected] of [
    [
      "without a field",
      {},
      "malformed body: expected at least one of name, cron, timeZone, missed, overlap, window, job",
    ],
    ["of the name", { name: "b" }, 'bad_field name: expected nightly, as in the path, got "b"'],
    ["to a bad cron", { cron: "61 * * * *" }, "bad_field cron: expected five fields"],
    ["to a bad time zone", { timeZone: "Zurich" }, "bad_field timeZone: expected a time zone"],
    ["to another rule", { missed: "all" }, 'bad_field missed: expected one of skip, run_once, got "all"'],
    ["to half a window", { window: { start: "22:00" } }, "bad_field window.end: expected a time"],
    ["to a job without layer", { job: {} }, "bad_field job.layer: expected the name of a layer"],
    ["of an unknown field", { paused: true }, "bad_field paused: unknown field"],
  ] as const)
    test(`${what} is refused`, () => expect(refused(document)).toContain(expected));
});
