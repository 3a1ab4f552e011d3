/** The command line is wrong. Ends the process with code 2. */
export class UsageError extends Error {}

/** An input cannot be read. Ends the process with code 1. */
export class InputError extends Error {}

/** Any character that could steer a terminal, or that shows nothing. */
export const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu
const MAX_SHOWN = 80

/**
 * Returns a text of an input as a terminal may show it: on one line, shortened, without control characters.
 */
export function printable(text: string): string {
  const characters = Array.from(text.slice(0, 2 * MAX_SHOWN))
  const isLong = characters.length > MAX_SHOWN || text.length > 2 * MAX_SHOWN
  const shown = isLong ? `${characters.slice(0, MAX_SHOWN - 1).join('')}…` : text
  return shown.replace(UNPRINTABLE, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`)
}
