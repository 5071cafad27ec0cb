import type { XyzSourceOptions } from "../../layer/layer.ts";
import { placeholdersOf } from "../../source/tile-template.ts";
import { buildUpstream, checkAddresses } from "./build-upstream.ts";
import type { Path, Problems } from "./problems.ts";
import type { XyzSourceDocument } from "./schema.ts";

const braced = (names: readonly string[]): string => names.map((name) => `{${name}}`).join(", ");

const XYZ_PLACEHOLDERS = ["z", "x", "y", "-y", "q", "s"];

export function buildXyz(document: XyzSourceDocument, path: Path, problems: Problems): XyzSourceOptions {
  const { subdomains = [] } = document;
  const addresses = typeof document.url === "string" ? [document.url] : document.url;
  checkAddresses(document.url, [...path, "url"], problems, {
    subdomains,
    expected: (address) => {
      const names = placeholdersOf(address);
      const has = (name: string) => names.includes(name);
      if (names.some((name) => !XYZ_PLACEHOLDERS.includes(name)))
        return `no other placeholders than ${braced(XYZ_PLACEHOLDERS)}`;
      if (!has("q") && !(has("z") && has("x") && (has("y") || has("-y"))))
        return "{z}, {x} and {y} or {-y}, or else {q}";
      return has("s") && subdomains.length === 0 ? "subdomains beside it, as it has {s}" : undefined;
    },
  });
  if (subdomains.length > 0 && !addresses.some((address) => address.includes("{s}")))
    problems.add([...path, "subdomains"], "is given, but no address has {s}");
  return { type: "xyz", subdomains, ...buildUpstream(document, [], path, problems) };
}
