/** If this share of all requests is denied, users notice. */
export const SEVERE_SHARE = 0.2

/** Returns the share of requests that are denied, from 0 to 1: of their counts, or of their rates. */
export function deniedShareOf(allowed: number, denied: number): number {
  return denied === 0 ? 0 : denied / (allowed + denied)
}
