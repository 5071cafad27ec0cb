import { expect, test } from "vitest";
import { atOnce } from "../../../lib/process/slices.ts";
import { refusalMessage } from "../../../lib/refusal.ts";
import { parseWindow } from "../../../plan/run-window.ts";
import { decodeJobs } from "./job-request-codec.ts";
import { decodeTermsChange } from "./job-terms-codec.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const requested = (fields: string) => atOnce(decodeJobs(JSON.parse(`{"layer":"a",${fields}}`)));
const refusal = (fields: string): string => {
  const decoded = requested(fields);
  return decoded.ok ? "accepted" : refusalMessage(decoded.error);
};
const changed = (text: string) => {
  const decoded = decodeTermsChange(bytes(text));
  return decoded.ok ? decoded.value : refusalMessage(decoded.error);
};
const night = parseWindow("22:00", "06:00");
const window = night.ok ? night.value : undefined;
const NIGHT = '"runWindow":{"from":"22:00","to":"06:00","timeZone":"Europe/Zurich"}';

test("terms are read with standard values for absent fields, and written as requested", () => {
  const decoded = requested(`"priority":"high","rateLimit":0.5,${NIGHT}`);
  const terms = { priority: 100, rateLimit: 0.5, runWindow: { window, timeZone: "Europe/Zurich" } };
  expect(decoded).toMatchObject({ ok: true, value: { request: { terms } } });
  expect(requested('"priority":7')).toMatchObject({
    value: { request: { terms: { priority: 7, rateLimit: null, runWindow: null } } },
  });
  expect(requested('"runWindow":{"from":"22:00","to":"06:00"}')).toMatchObject({
    value: { request: { terms: { runWindow: { timeZone: "UTC" } } } },
  });
});

test("a request without terms has none, so that its key is the one it always was", () => {
  const plain = requested('"priority":null,"rateLimit":null,"runWindow":null,"supersede":null');
  const before = requested('"type":"seed"');
  if (!plain.ok || !before.ok) throw new Error("a mistake of the test");
  expect({ ...plain.value, digest: plain.value.digest() }).toEqual({ ...before.value, digest: before.value.digest() });
  expect("request" in plain.value && "terms" in plain.value.request).toBe(false);
});

test.each([
  ['"priority":0', "priority: expected a whole number from 1 to 100, or low, normal or high, got 0"],
  ['"priority":1.5', "priority: expected a whole number from 1 to 100, or low, normal or high, got 1.5"],
  ['"priority":"urgent"', 'priority: expected a whole number from 1 to 100, or low, normal or high, got "urgent"'],
  ['"rateLimit":0', "rateLimit: expected a number of tiles per second, 0.001 to 1000000, got 0"],
  ['"rateLimit":"5"', 'rateLimit: expected a number of tiles per second, 0.001 to 1000000, got "5"'],
  ['"rateLimit":5,"type":"truncate"', "rateLimit: expected none for a truncate, as it renders nothing, got 5"],
  ['"runWindow":"22:00-06:00"', expect.stringMatching(/^runWindow: expected an object such as/)],
  ['"runWindow":{"from":"22:00"}', expect.stringMatching(/^runWindow.to: expected a time of the day.*, got null$/)],
  ['"runWindow":{"start":"22:00"}', 'runWindow.start: unknown field, expected one of from, to, timeZone, got "22:00"'],
  ['"runWindow":{"from":"22:00","to":"22:00"}', expect.stringMatching(/^runWindow.to: expected a time other than/)],
  ['"runWindow":{"from":"22:00","to":"6:00"}', expect.stringMatching(/^runWindow.to: expected a time of the day/)],
  [
    '"runWindow":{"from":"22:00","to":"06:00","timeZone":"+02:00"}',
    expect.stringMatching(/^runWindow.timeZone: expected a time zone of the IANA database/),
  ],
  ['"supersede":"yes"', 'supersede: expected true or false, got "yes"'],
  ['"supersede":true', expect.stringMatching(/^supersede: expected none for a seed/)],
  [
    '"supersede":true,"type":"reseed","tiles":["0/0/0"]',
    expect.stringMatching(/^supersede: expected none beside tiles/),
  ],
  [
    '"supersede":true,"type":"reseed","onlyExisting":true',
    expect.stringMatching(/^supersede: expected none beside onlyExisting/),
  ],
  ['"supersede":true,"type":"reseed","onlyExisting":false', "accepted"],
  ['"supersede":true,"type":"reseed"', "accepted"],
  ['"supersede":false', "accepted"],
])("%s", (fields, expected) => {
  expect(refusal(fields)).toEqual(expected);
});

test("a change contains the fields that it sets; null stands for the standard value, and absent fields do not change", () => {
  expect(changed('{"priority":"low"}')).toEqual({ priority: 1 });
  expect(changed('{"rateLimit":null,"runWindow":null}')).toEqual({ rateLimit: null, runWindow: null });
  expect(changed('{"priority":null,"rateLimit":20}')).toEqual({ priority: 10, rateLimit: 20 });
  expect(changed("{}")).toBe("body: expected at least one of priority, rateLimit, runWindow, threadCount");
  expect(changed('{"threadCount":2}')).toEqual({ threadCount: 2 });
  expect(changed('{"zoomStop":2}')).toMatch(/^zoomStop: unknown field/);
  expect(changed('{"priority":101}')).toMatch(/^priority: expected/);
});
