/** Returns a text that no other has. `crypto.randomUUID` is missing on pages that are served without TLS. */
export function randomId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}
