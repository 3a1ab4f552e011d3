import type { Fixes } from './fixes.js'

/** The options that only `rateLimit` has. */
export const MIDDLEWARE_OPTIONS: readonly string[] = /* @__PURE__ */ words(
  'count actualCost delay headers resetFormat onDenied statusCode message',
)

/** The options that belong beside `limits`, not in each limit. */
export const BESIDE_LIMITS: readonly string[] = /* @__PURE__ */ words(
  'store prefix secret onStoreError fallbackShare denyCache timeout skip allow block mode candidate settings',
).concat(MIDDLEWARE_OPTIONS)

/** Returns the words of a text. */
/* @__NO_SIDE_EFFECTS__ */
export function words(text: string): readonly string[] {
  return text.split(' ')
}

/** Returns a fix for each option that belongs elsewhere: `where`. */
/* @__NO_SIDE_EFFECTS__ */
export function placementFixes(elsewhere: readonly string[], where: string): Fixes {
  return Object.fromEntries(elsewhere.map((name) => [name, `Write ${name} ${where}.`]))
}
