import { useEffect, useState } from "preact/hooks";
import { send } from "./api.ts";

interface Described {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Described>>;
}
interface OpenApi {
  readonly components: { readonly schemas: Readonly<Record<string, Described>> };
}

let served: Promise<OpenApi> | undefined;

/** Returns the descriptions of a document's fields from the server's OpenAPI document. Empty until it is loaded. */
export function useDescriptions(name: string): Readonly<Record<string, string | undefined>> {
  const [fields, setFields] = useState<Readonly<Record<string, string | undefined>>>({});
  useEffect(() => {
    served ??= send<OpenApi>({ method: "GET", path: "openapi.json" });
    served.then(
      ({ components }) => {
        const found = components.schemas[name]?.properties ?? {};
        setFields(Object.fromEntries(Object.entries(found).map(([key, { description }]) => [key, description])));
      },
      // Without descriptions only the values are shown. The next tab requests them again.
      () => {
        served = undefined;
      },
    );
  }, [name]);
  return fields;
}
