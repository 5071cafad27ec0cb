/** An object decoded from JSON or YAML, such as the value of `layers[0]` in the configuration file. */
export type Content = Readonly<Record<string, unknown>>;

/** Returns whether a decoded value is an object with members. */
export const isMap = (value: unknown): value is Content =>
  typeof value === "object" && value !== null && !Array.isArray(value);
