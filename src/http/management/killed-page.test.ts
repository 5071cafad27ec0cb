import { expect, test } from "vitest";
import { killedPage, methodPage, seedSubmittedPage } from "./killed-page.ts";

test("every task that was ended is listed as GWC prints it, escaped", () => {
  const page = killedPage(
    [
      { id: 3, layer: "topp:states", type: "seed", status: 1 },
      { id: 4, layer: '<b>&"', type: "truncate", status: 0 },
    ],
    "Asked to end <all> tasks.",
    "/",
  );
  expect(page).toMatch(/^<!DOCTYPE html>\n<html lang="en">.*<title>Tasks ended<\/title>.*<\/html>\n$/s);
  expect(page).toContain(
    "<p>Asked to end &lt;all&gt; tasks.</p><ul><li>[3: topp:states, SEED, RUNNING]</li><li>[4: &lt;b&gt;&amp;&quot;, TRUNCATE, PENDING]</li></ul>",
  );
});

test("a kill that ended nothing is a complete page too", () => {
  expect(killedPage([], "x", "/")).toMatch(/There were none.*<a href="\/">.*<\/body><\/html>\n$/);
});

test("the pages for a form and for a browser", () => {
  expect(seedSubmittedPage("a<b", [7, 8], "/")).toContain("<p>Tasks of layer a&lt;b:</p><ul><li>7</li><li>8</li></ul>");
  expect(methodPage(["POST", "OPTIONS"], "/")).toMatch(/Allowed here: POST, OPTIONS\..*<a href="\/">/);
});
