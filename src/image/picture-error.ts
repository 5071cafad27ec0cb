/** The bytes are not the requested picture. */
export class PictureError extends Error {
  readonly reason: "truncated" | "wrong_size" | "not_a_picture" | "too_large";
  constructor(reason: PictureError["reason"], message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.name = "PictureError";
    this.reason = reason;
  }
}
