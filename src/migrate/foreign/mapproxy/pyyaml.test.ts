import { expect, test } from "vitest";
import { Origins } from "../origins.ts";
import { readPyYaml } from "./pyyaml.ts";

const TEXT = `
a: &A { x: yes, y: n, z: 012, k: 08, s: 1:30, f: 1:30.5, e: 1e5, g: 1.0e+5, u: 5_000_000, h: 0x1F, b: 0b11, neg: -012 }
list: [off, "off", ~, 190:20:30, .inf, 2020-01-01, 0o12]
nul:
merged:
  <<: *A
  y: Yes
y: 3
On: 4
alias: *A
dup: 1
dup: 2
`;
const A = { x: true, y: "n", z: 10, k: "08", s: 90, f: 90.5, e: "1e5", g: 1e5, u: 5e6, h: 31, b: 3, neg: -10 };

test("a file has the values that PyYAML reads", () => {
  // The values are those of PyYAML 6.0, except for the date, which PyYAML does not read as text, and the key On, which
  // it reads as true.
  expect(readPyYaml(TEXT, "m.yaml", new Origins())).toEqual({
    ok: true,
    value: {
      a: A,
      list: [false, "off", null, 685230, Number.POSITIVE_INFINITY, "2020-01-01", "0o12"],
      nul: null,
      merged: { ...A, y: true },
      y: 3,
      true: 4,
      alias: A,
      dup: 2,
    },
  });
});

test("each value has the line where it is written", () => {
  const origins = new Origins();
  const read = readPyYaml(TEXT, "m.yaml", origins);
  if (!read.ok) throw new Error(read.error);
  const at = (...path: string[]) => origins.at(read.value, path);
  expect([at("a", "x"), at("merged", "y"), at("merged", "x"), at("alias", "x"), at("list", "3"), at("dup")]).toEqual([
    "m.yaml:2",
    "m.yaml:7",
    "m.yaml:2",
    "m.yaml:2",
    "m.yaml:3",
    "m.yaml:12",
  ]);
  expect(at("nul", "none")).toBe("m.yaml:4");
});

test("a text that is no YAML is refused with its line", () => {
  expect(readPyYaml("a: [1\nb: 2\n", "m.yaml", new Origins())).toMatchObject({ ok: false, error: /line/ });
});

test("a file with more aliases than any real one is refused", () => {
  const nested = Array.from({ length: 40 }, (_, i) => `m${i + 1}: &m${i + 1} { a: *m${i}, b: *m${i} }`).join("\n");
  expect(readPyYaml(`m0: &m0 { a: 1 }\n${nested}\n`, "m.yaml", new Origins())).toMatchObject({ ok: false });
});
