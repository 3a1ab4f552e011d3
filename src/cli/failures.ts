/** The command line is wrong. Ends the process with code 2. */
export class UsageError extends Error {}

/** An input, or a store, failed. Ends the process with code 1. */
export class InputError extends Error {}

/** A part of the output cannot be written; `printed`, which the command found, is printed all the same. */
export class PartialOutputError extends InputError {
  readonly printed: string

  constructor(message: string, printed: string) {
    super(message)
    this.printed = printed
  }
}
