import { expect, test } from "vitest";
import { linesOf, parseLine } from "./list-lines.ts";

const part = (text: string): Uint8Array => Buffer.from(text);

test("a line is a tile with its row from the top, and any other line is none", () => {
  expect(parseLine("14/8513/5512")).toEqual({ level: 14, column: 8513, row: 5512 });
  expect(parseLine(" 0/0/0\r")).toEqual({ level: 0, column: 0, row: 0 });
  for (const bad of ["", "14/8513", "a/b/c", "14/-1/2", "14/8513/5512/1", "1".repeat(1000)])
    expect(parseLine(bad)).toBeUndefined();
});

test("the last line is read when it is complete, or when the file has stopped growing", () => {
  expect(linesOf(part("1/0/0\n1/1/"), false, false)).toEqual({ lines: ["1/0/0"], bytes: 6 });
  expect(linesOf(part("1/0/0\n1/1/1"), true, false)).toEqual({ lines: ["1/0/0", "1/1/1"], bytes: 11 });
  expect(linesOf(part("1/0/0\n"), true, false)).toEqual({ lines: ["1/0/0"], bytes: 6 });
  expect(linesOf(part(""), true, false)).toEqual({ lines: [], bytes: 0 });
});

test("a part without any line break is passed over", () => {
  expect(linesOf(part("xxxx"), false, false)).toEqual({ lines: [], bytes: 0 });
  expect(linesOf(part("xxxx"), false, true)).toEqual({ lines: ["xxxx"], bytes: 4 });
});
