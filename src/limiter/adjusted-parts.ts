import { isNotRequestError } from '../keys/request.js'
import { catchMaybe, type MaybePromise, readAll, thenMaybe } from '../util/maybe-promise.js'
import type { NamedPart } from './receipt.js'
import type { ResolveParts } from './resolve-parts.js'

/**
 * Returns the parts of a subject to adjust. Limits for which it has no key are left out: `{ body }` names an
 * account and has no address. Throws if there is no key for any of them.
 */
export function resolveAdjusted(
  resolveParts: ResolveParts,
  subject: unknown,
  limitNames: readonly string[] | undefined,
): MaybePromise<readonly NamedPart[]> {
  return unlessNotRequest(
    () => resolveParts(subject, 0),
    (error) => {
      const read = readAll(limitNames ?? [], (name) =>
        unlessNotRequest<readonly NamedPart[] | undefined>(
          () => resolveParts(subject, 0, [name]),
          () => undefined,
        ),
      )
      return thenMaybe(read, (found) => {
        if (found.every((parts) => parts === undefined)) throw error
        return found.flatMap((parts) => parts ?? [])
      })
    },
  )
}

function unlessNotRequest<T>(
  call: () => MaybePromise<T>,
  use: (error: unknown) => MaybePromise<T>,
): MaybePromise<T> {
  return catchMaybe(call, (error) => {
    if (isNotRequestError(error)) return use(error)
    throw error
  })
}
