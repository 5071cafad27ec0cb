import { expect, test } from "vitest";
import { SourceCookies } from "./cookies.ts";

const url = new URL("http://maps.example.org/x/y");

// Found by `npm run fuzz -- cookies` (seed 7).
test.each(["a\u0000b", "\u00fc b", "a b", "[", "%zz", "a^b"])(
  "a cookie whose domain is no host, %j, is ignored, and the others are kept",
  async (domain) => {
    const cookies = new SourceCookies();
    await cookies.keep(url, { headers: { "set-cookie": [`bad=1; Domain=${domain}`, "good=2"] } });
    expect(await cookies.headerFor(url)).toBe("good=2");
  },
);
