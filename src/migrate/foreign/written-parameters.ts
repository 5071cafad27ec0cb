/** Parameters of a WMS request in an address for which a source has keys. */
const OWN = ["LAYERS", "STYLES", "TRANSPARENT", "BGCOLOR"];

/** An address of a WMS from which parameters are removed, so that no request repeats a parameter. */
export class WrittenParameters {
  /** The address without these parameters. */
  readonly url: string;
  readonly #values = new Map<string, string>();

  constructor(address: string) {
    const at = address.indexOf("?");
    const [path, query] = at < 0 ? [address, ""] : [address.slice(0, at), address.slice(at + 1)];
    const others = query.split("&").filter((part) => {
      const [key = "", value = ""] = new URLSearchParams(part).entries().next().value ?? [];
      const name = key.toUpperCase();
      if (!OWN.includes(name)) return true;
      if (value !== "") this.#values.set(name, value);
      return false;
    });
    this.url = at < 0 ? address : `${path}?${others.join("&")}`;
  }

  get(name: string): string | undefined {
    return this.#values.get(name);
  }

  list(name: string): readonly string[] | undefined {
    return this.#values.get(name)?.split(",");
  }
}
