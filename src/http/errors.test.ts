import { expect, test } from "vitest";
import { StoreError } from "../store/tile-store.ts";
import { refusalOfFault, refusalProblem } from "./errors.ts";

const coded = (code: string): Error => Object.assign(new Error("database or disk is full"), { code });

test.each([
  ["SQLITE_FULL", 507],
  ["ENOSPC", 507],
  ["SQLITE_IOERR_WRITE", 503],
  ["EROFS", 503],
  ["ERR_INVALID_ARG_TYPE", undefined],
])("a fault with the code %s is answered with %s", (code, status) => {
  const refusal = refusalOfFault(coded(code));
  expect(refusal && refusalProblem(refusal).status).toBe(status);
});

test("a fault of the disk says what would help, and one that may pass when to try again", () => {
  const refusal = refusalOfFault(coded("SQLITE_FULL"));
  expect(refusal?.message).toBe("The disk is full, and nothing was changed: database or disk is full.");
  expect(refusal?.details).toEqual(["Make room on the disk of the data directory, then try again."]);
  const away = refusalOfFault(new StoreError("unavailable", "a is away from the store", undefined));
  expect(away && refusalProblem(away).headers).toEqual({ "Retry-After": "5" });
});
