/**
 * Any character that steers a terminal, reorders or ends a line, or shows nothing: also half a surrogate
 * pair.
 */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu

/**
 * Returns a text as a terminal or a log may show it, on one line: unprintable characters become escapes of
 * JSON, such as `\u009b`. Everything that a client may have written goes through it.
 */
export function escapeUnprintable(text: string): string {
  return text.replace(UNPRINTABLE, escapeUnits)
}

function escapeUnits(character: string): string {
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}
