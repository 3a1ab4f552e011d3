import type { Policy } from '../policies/policy.js'
import { policyFromSpec } from '../policies/policy-from-spec.js'
import type { PolicySpec } from '../policies/spec.js'
import type { Documents } from '../stores/documents.js'
import { StoreError } from '../stores/store-error.js'
import { once } from '../util/memo.js'
import { NAME } from '../util/validate.js'
import { limitsIn, type PublishedLimit } from './limits-document.js'

/** What a scope says about the limit whose keys have it. */
export interface ScopedLimit {
  /** The name of the limiter; `_default` for one without a name. */
  readonly limiter: string
  /** The limit's own name, if it is one of several. */
  readonly limit: string | undefined
  /** Whether it belongs to the candidate of the limiter, and so never denies a request. */
  readonly isCandidate: boolean
}

const scopePattern = /* @__PURE__ */ once(() => {
  const name = NAME.source.slice('^'.length, -'$'.length)
  return new RegExp(`^(_default|${name})(/_candidate)?(?:/(${name}))?:(.+)$`)
})

/** Reads a scope, such as `login/account:tb`. Returns `undefined` for any other text. */
export function readScope(scope: string): (ScopedLimit & { readonly code: string }) | undefined {
  const [, limiter, candidate, limit, code] = scopePattern().exec(scope) ?? []
  if (limiter === undefined || code === undefined) return undefined
  return { limiter, limit, isCandidate: candidate !== undefined, code }
}

/**
 * Reads the limits that a limiter has published under a key. Returns none if it has published nothing, or if
 * the store's user is not permitted to read them.
 */
export async function readPublishedLimits(
  documents: Documents | undefined,
  key: string,
): Promise<readonly PublishedLimit[]> {
  try {
    const [stored] = (await documents?.read([{ key }])) ?? []
    return limitsIn(stored?.text)
  } catch (error) {
    if (error instanceof StoreError && error.replied) return []
    throw error
  }
}

/** Returns the policy of a published spec; `undefined` if no policy has such numbers. */
export function publishedPolicy(spec: PolicySpec): Policy | undefined {
  try {
    return policyFromSpec(spec)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}
