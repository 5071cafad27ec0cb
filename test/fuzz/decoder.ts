type ErrorKind = abstract new (...args: never[]) => Error;

/** A decoder of bytes from elsewhere. */
export interface Decoder {
  readonly name: string;
  /** Inputs that it accepts. */
  readonly examples: () => readonly Uint8Array[];
  /** Words of the format, which changes insert. */
  readonly words: readonly string[];
  /** The errors of the domain. Empty: it throws nothing. */
  readonly refusals: readonly ErrorKind[];
  /**
   * Decodes bytes and returns the kind of the outcome. Throws an error outside of the domain where encoding and decoding a
   * value again gives another value.
   */
  readonly decode: (bytes: Uint8Array) => string | Promise<string>;
}
