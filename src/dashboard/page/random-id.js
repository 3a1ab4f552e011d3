/** Returns a unique text. Pages that are served without TLS have no `crypto.randomUUID`. */
export function randomId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}
