/**
 * A program that tests need is neither on this machine nor can it be installed. Tests that fail with this
 * error are left out, and listed with the hint at the end of the run; in CI they fail (`../left-out`).
 */
export class NotInstalled extends Error {
  override readonly name = 'NotInstalled'

  constructor(
    problem: string,
    /** How the tests can be included. */
    readonly hint: string,
    options?: ErrorOptions,
  ) {
    super(`${problem} ${hint}`, options)
  }
}
