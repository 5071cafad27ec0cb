import { expect, test } from "vitest";
import { combinations, jobRequest } from "../../test/support/jobs/job-request.ts";
import type { ParameterFilter } from "../layer/filter/parameter-filter.ts";
import type { JobRequest } from "./job/job-request.ts";
import { isSuperseded } from "./supersede.ts";

const rect = (z: number, [minX, maxX]: readonly [number, number]) => ({ z, minX, maxX, minY: 0, maxY: 3 });
const ranges = (...rects: ReturnType<typeof rect>[]) => [{ gridSet: "g", rects }];

const older = jobRequest({ ranges: ranges(rect(2, [0, 3]), rect(3, [2, 5])) });
const around = ranges(rect(1, [0, 1]), rect(2, [0, 3]), rect(3, [0, 7]));

const FILTERS: readonly ParameterFilter[] = [{ type: "string", key: "STYLES", default: "", values: ["night"] }];
const stored = { type: "truncate", ranges: around, format: null, parameters: null, parametersId: null } as const;
const night = { parameters: { STYLES: "night" }, parametersId: "x" };

const three = combinations(3);
const third = { parameters: { STYLES: "s2" }, parametersId: "id2" };
const likeS = [[["STYLES", { kind: "like", pattern: "s*" }]]] as const;

const CASES: readonly (readonly [string, boolean, Partial<JobRequest>, Partial<JobRequest>?])[] = [
  ["a reseed around it", true, { type: "reseed", ranges: around }],
  ["the same range", true, { type: "reseed", ranges: older.ranges }],
  ["one that begins a column later", false, { type: "reseed", ranges: ranges(rect(2, [1, 3]), rect(3, [0, 7])) }],
  ["one that lacks a zoom", false, { type: "reseed", ranges: ranges(rect(2, [0, 3])) }],
  ["another grid set", false, { type: "reseed", ranges: [{ gridSet: "h", rects: around[0]?.rects ?? [] }] }],
  ["another layer", false, { type: "reseed", ranges: around, layer: "b" }],
  ["another format", false, { type: "reseed", ranges: around, format: "image/jpeg" }],
  ["other parameters", false, { type: "reseed", ranges: around, parametersId: "x" }],
  [
    "a truncate of all formats and parameters",
    true,
    { type: "truncate", ranges: around, format: null, parametersId: null },
  ],
  [
    "a truncate of chosen values",
    true,
    { ...stored, parametersChosen: [[["STYLES", { kind: "like", pattern: "*" }]]] },
  ],
  ["a truncate of this value", true, { ...stored, parametersChosen: [[["styles", "night"]]] }, night],
  ["a truncate of another value", false, { ...stored, parametersChosen: [[["STYLES", "day"]]] }, night],
  ["a truncate of defaults", false, { ...stored, parametersChosen: [[]] }, night],
  [
    "a newer one of several combinations with this one",
    true,
    { type: "reseed", ranges: around, ...three },
    { ...third },
  ],
  ["a newer one of several others", false, { type: "reseed", ranges: around, ...three }, night],
  ["a newer one of one of several", false, { type: "reseed", ranges: around, ...third }, three],
  ["a newer one of the same several", true, { type: "reseed", ranges: around, ...three }, three],
  ["a truncate of values that mean all of several", true, { ...stored, parametersChosen: likeS }, three],
  [
    "a truncate of values that mean one of several",
    false,
    { ...stored, parametersChosen: [[["STYLES", "s2"]]] },
    three,
  ],
  ["an older truncate", false, { type: "truncate", ranges: around, format: null }, { type: "truncate" }],
];

for (const [what, expected, newer, old = {}] of CASES)
  test(`${what} ${expected ? "makes" : "does not make"} an older job pointless`, () => {
    expect(isSuperseded({ ...older, ...old }, jobRequest(newer), FILTERS)).toBe(expected);
  });
