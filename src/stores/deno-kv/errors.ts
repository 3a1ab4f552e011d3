import { asStoreError, messageOf, type StoreError } from '../store-error.js'

/** The operator's fix for an error, by its text. */
const FIXES: readonly (readonly [RegExp, string])[] = [
  [/^Too many checks/, 'A charge can name at most 100 keys.'],
  [/^Bad resource ID/, 'The KV is closed. Close it only after the last request.'],
  [/PermissionDenied|Requires \w+ access|NotCapable/, 'Run Deno with the permissions that its KV needs.'],
]

/** Returns whether Deno rejected the call itself, before it sent anything. */
const isOfCall = (error: unknown) => error instanceof TypeError

/** Returns the `StoreError` for an error of Deno KV. */
export function kvError(error: unknown): StoreError {
  const message = messageOf(error)
  const hint = FIXES.find(([pattern]) => pattern.test(message))?.[1]
  return asStoreError('deno-kv', error, { hint, replied: isOfCall(error), unsent: isLocked(error) })
}

/**
 * Returns whether another process had the file of a local KV locked, so that nothing was written. SQLite
 * says so before it begins a transaction.
 */
export function isLocked(error: unknown): boolean {
  return /database (?:table )?is locked|SQLITE_BUSY/i.test(messageOf(error))
}
