/** The command line is wrong. Ends the process with code 2. */
export class UsageError extends Error {}

/** An input, or a store, failed. Ends the process with code 1. */
export class InputError extends Error {}
