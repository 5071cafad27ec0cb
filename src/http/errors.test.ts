import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { StoreError } from "../store/tile-store.ts";
import { protocolStatus, refusalOfFault, refusalProblem, refusalText, STATUS } from "./errors.ts";

const coded = (code: string): Error => Object.assign(new Error("database or disk is full"), { code });

test.each([
  ["SQLITE_FULL", 507],
  ["ENOSPC", 507],
  ["SQLITE_IOERR_WRITE", 503],
  ["EROFS", 503],
  ["unavailable", 503],
  ["corrupt", 503],
  ["misconfigured", undefined],
  ["SQLITE_CONSTRAINT_UNIQUE", undefined],
  ["full_of_stars", undefined],
  ["ERR_INVALID_ARG_TYPE", undefined],
])("a fault with the code %s is answered with %s", (code, status) => {
  const refusal = refusalOfFault(coded(code));
  expect(refusal && refusalProblem(refusal).status).toBe(status);
});

test("the page of errors lists every code with its status, and no other", () => {
  const page = readFileSync(new URL("../../docs/reference/errors.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| (`.*?`) +\| (\d{3})/gm)];
  const listed = rows.flatMap(([, codes = "", status]) =>
    [...codes.matchAll(/`(\w+)`/g)].map(([, code]) => [code, Number(status)]),
  );
  expect(Object.fromEntries(listed)).toEqual(STATUS);
  expect(listed).toHaveLength(Object.keys(STATUS).length);
});

test.each([
  ["unknown_layer", 400, 404, 400, 400],
  ["bad_field", 400, 400, 400, 400],
  ["outside_coverage", 404, 404, 404, 400],
  ["not_found", 404, 404, 404, 400],
] as const)("%s is %s as text, %s in a path, %s in WMS and %s in WMTS", (code, text, path, wms, wmts) => {
  expect(refusalText({ code, message: "" }).status).toBe(text);
  expect(refusalProblem({ code, message: "" }).status).toBe(path);
  expect(protocolStatus(code, "plain")).toBe(path);
  expect([protocolStatus(code, "wms-1.1.1"), protocolStatus(code, "wms-1.3.0")]).toEqual([wms, wms]);
  expect(protocolStatus(code, "ows")).toBe(wmts);
});

test("the message of a disk fault says what would help, and the answer to a temporary fault says when to try again", () => {
  const refusal = refusalOfFault(coded("SQLITE_FULL"));
  expect(refusal?.message).toBe("The disk is full, and nothing was changed: database or disk is full.");
  expect(refusal?.details).toEqual(["Make room on the disk of the data directory, then try again."]);
  const away = refusalOfFault(new StoreError("unavailable", "a is away from the store", undefined));
  expect(away && refusalProblem(away).headers).toEqual({ "Retry-After": "5" });
});
