import { ignoreRejection } from '../../util/maybe-promise.js'
import { escapeUnprintable } from '../../util/printable.js'

/** The longest label. */
const MAX_LENGTH = 80

/**
 * Returns what the application calls the client of a subject, on one line; `undefined` if its function throws, or
 * returns anything but a text or a number.
 */
export function readLabel(
  label: ((subject: never) => unknown) | undefined,
  subject: unknown,
): string | undefined {
  try {
    const text = label?.(subject as never)
    if (typeof text === 'number') return String(text)
    ignoreRejection(text)
    if (typeof text !== 'string' || text.trim() === '') return undefined
    return escapeUnprintable(text.trim().slice(0, MAX_LENGTH))
  } catch {
    return undefined
  }
}
