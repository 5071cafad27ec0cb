import { expect, test } from "vitest";
import { cpuMs } from "../../test/support/cpu-time.ts";
import { decodeQuotaChange } from "../configuration/gwc/codec/quota-codec.ts";
import { atOnce } from "../lib/process/slices.ts";
import { decodeJobBody } from "./api/jobs/job-request-codec.ts";
import { decodeTermsChange } from "./api/jobs/job-terms-codec.ts";
import { decodeSchedule } from "./api/schedules/schedule-codec.ts";
import { decodeKill } from "./management/kill-codec.ts";
import { decodeMassTruncate } from "./management/mass-truncate-codec.ts";
import { decodeSeedForm, decodeSeedRequest } from "./management/seed-request-codec.ts";
import { parseForm } from "./request/query.ts";

/** An eighth of the longest allowed body. Code with quadratic time would take many seconds even for this length. */
const LENGTH = 128 * 1024;
const filled = (text: string): string => text.repeat(Math.floor(LENGTH / text.length));

/**
 * Texts for which a regular expression with two adjacent quantifiers, or one that is tried at every position, takes
 * minutes.
 */
const HOSTILE = [
  " ",
  "\n",
  "1",
  "1.",
  "a",
  "-",
  ";",
  " ;",
  ",",
  ", ",
  "=",
  "& ",
  "/",
  ".",
  ":",
  "*",
  "(",
  "<",
  "'",
  "%41",
];

const inJson = (text: string): string => JSON.stringify(text);
const inXml = (text: string): string => text.replaceAll("<", "&lt;").replaceAll("&", "&amp;");

const JOB_FIELDS = [
  "layer",
  "layers",
  "type",
  "gridSet",
  "format",
  "srs",
  "bounds",
  "area",
  "areaCrs",
  "tiles",
  "zoomStart",
  "olderThan",
  "order",
  "onlyExisting",
  "priority",
  "runWindow",
  "window",
  "rateLimit",
  "parameters",
];
const SEED_FIELDS = ["name", "srs", "zoomStart", "format", "type", "threadCount", "bounds", "parameters", "gridSetId"];
const QUOTA_FIELDS = ["enabled", "cacheCleanUpFrequency", "globalQuota", "layerQuotas", "maxConcurrentCleanUps"];

type Decode = (body: Uint8Array) => unknown;
const bytes = (text: string): Uint8Array => Buffer.from(text, "utf8");

const jobs = JOB_FIELDS.flatMap((field): [string, (text: string) => string][] => [
  [field, (text) => `{"layer":"a","${field}":${inJson(`${text}x`)}}`],
  [`${field}, several`, (text) => `{"layer":"a","${field}":[${inJson(`${text}x`)},2]}`],
]);
const CASES: readonly [string, Decode, readonly [string, (text: string) => string][]][] = [
  [
    "a job",
    (body) => atOnce(decodeJobBody(body)),
    [
      ...jobs,
      ["a value of a parameter", (text) => `{"layer":"a","parameters":{"A":${inJson(`${text}x`)}}}`],
      ["the key of a parameter", (text) => `{"layer":"a","parameters":{${inJson(`${text}x`)}:"1"}}`],
      ["a pattern", (text) => `{"layer":"a","parameterSets":[{"A":{"like":${inJson(`${text}x`)}}}]}`],
      ["an age", (text) => `{"layer":"a","parameterSets":[{"A":{"olderThan":${inJson(`${text}x`)}}}]}`],
      ["the name of a field", (text) => `{${inJson(`${text}x`)}:1}`],
      ["the whole body", (text) => text],
    ],
  ],
  [
    "terms of a job",
    decodeTermsChange,
    ["priority", "rateLimit", "runWindow", "window", "timeZone"].map((field) => [
      field,
      (text) => `{"${field}":${inJson(`${text}x`)}}`,
    ]),
  ],
  [
    "a schedule",
    (body) => atOnce(decodeSchedule(body)),
    ["name", "cron", "timeZone", "window", "missed"].map((field) => [
      field,
      (text) => `{"name":"a","cron":"0 0 * * *","job":{"layer":"a"},"${field}":${inJson(`${text}x`)}}`,
    ]),
  ],
  [
    "a seed request in JSON",
    decodeSeedRequest,
    [
      ...SEED_FIELDS.map((field): [string, (text: string) => string] => [
        field,
        (text) => `{"seedRequest":{"name":"a","${field}":${inJson(`${text}x`)}}}`,
      ]),
      ["the whole body", (text) => text],
    ],
  ],
  [
    "a seed request in XML",
    decodeSeedRequest,
    [
      ...SEED_FIELDS.map((field): [string, (text: string) => string] => [
        field,
        (text) => `<seedRequest><name>a</name><${field}>${inXml(text)}x</${field}></seedRequest>`,
      ]),
      ["an attribute", (text) => `<seedRequest a="${inXml(text)}x"></seedRequest>`],
      ["the whole body", (text) => text],
      ["behind the whole", (text) => `<seedRequest/>${text}`],
    ],
  ],
  [
    "a form of a seed",
    (body) => decodeSeedForm(parseForm(Buffer.from(body).toString())),
    [
      ...["gridSetId", "zoomStart", "format", "type", "minX", "parameter_A"].map(
        (field): [string, (text: string) => string] => [field, (text) => `${field}=${text}x`],
      ),
      ["the whole body", (text) => text],
    ],
  ],
  [
    "a kill",
    (body) => decodeKill(Buffer.from(body).toString(), new URLSearchParams()),
    [
      ["kill_all", (text) => `kill_all=${text}x`],
      ["the whole body", (text) => text],
      ["two pairs and blanks", (text) => `a=1${text}b=2`],
      ["a boundary", (text) => `--${text.slice(LENGTH / 2)}\n${text.slice(LENGTH / 2)}`],
      ["a part", (text) => `--a\r\nContent-Disposition:${text}`],
    ],
  ],
  [
    "a mass truncation",
    decodeMassTruncate,
    [
      ["a layer", (text) => `<truncateLayer><layerName>${inXml(text)}x</layerName></truncateLayer>`],
      ["the whole body", (text) => text],
    ],
  ],
  [
    "a quota in JSON",
    (body) => decodeQuotaChange(body, "json", new Set(["a"])),
    [
      ...QUOTA_FIELDS.map((field): [string, (text: string) => string] => [
        field,
        (text) => `{"gwcQuotaConfiguration":{"${field}":${inJson(`${text}x`)}}}`,
      ]),
      ["a value", (text) => `{"gwcQuotaConfiguration":{"globalQuota":{"value":${inJson(`${text}x`)}}}}`],
      ["a number", (text) => `{"gwcQuotaConfiguration":{"globalQuota":{"value":${text}}}}`],
      ["the whole body", (text) => text],
    ],
  ],
  [
    "a quota in XML",
    (body) => decodeQuotaChange(body, "xml", new Set(["a"])),
    [
      ...QUOTA_FIELDS.map((field): [string, (text: string) => string] => [
        field,
        (text) => `<gwcQuotaConfiguration><${field}>${inXml(text)}x</${field}></gwcQuotaConfiguration>`,
      ]),
      ["the whole body", (text) => text],
    ],
  ],
];

for (const [what, decode, places] of CASES) {
  for (const [place, write] of places) {
    test(`128 KiB in ${place} of ${what} is decoded in linear time`, () => {
      const slow = HOSTILE.map((text) => ({
        text,
        ms: cpuMs(() => decode(bytes(write(filled(text))))),
      })).filter(({ ms }) => ms > 1000);
      expect(slow).toEqual([]);
    });
  }
}
