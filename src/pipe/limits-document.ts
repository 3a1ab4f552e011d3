import { IDENTITY_START } from '../keys/identity-braces.js'
import type { Policy } from '../policies/policy.js'
import { isSpec, type PolicySpec } from '../policies/spec.js'
import { isObject } from '../util/values.js'

/** A limit of a limiter: its policy, and what its keys start with. */
export interface ScopedPolicy {
  readonly policy: Policy
  readonly scope: string
}

/** A limit as the document of its limiter has it. */
export interface PublishedLimit {
  /** What its keys have between the version of the state format and the identity: `login/account:tb`. */
  readonly scope: string
  /** Its numbers. A policy function may return several limits of one scope. */
  readonly spec: PolicySpec
}

/** The most limits that a document has. */
const MAX_PUBLISHED = 64

/** Returns the key of the document in which a limiter publishes the numbers of its limits. */
export function limitsKey(prefix: string, limiter: string): string {
  return `${prefix}:limits:${limiter}`
}

/** Returns what a limiter publishes of its limits. `start` is what its keys have before its name. */
export function publishedLimits(limits: Iterable<ScopedPolicy>, start: string): readonly PublishedLimit[] {
  const published = Array.from(limits, ({ scope, policy }) => {
    return { scope: scope.slice(start.length, -IDENTITY_START.length), spec: policy.spec }
  })
  return published.slice(0, MAX_PUBLISHED)
}

/** Returns the text of a document. */
export function limitsText(limits: readonly PublishedLimit[]): string {
  return JSON.stringify({ limits })
}

/** Returns the limits in a document. Leaves out what is not one, such as a limit of a later version. */
export function limitsIn(text: string | undefined): readonly PublishedLimit[] {
  const { limits } = parse(text)
  return Array.isArray(limits) ? limits.slice(0, MAX_PUBLISHED).filter(isPublished) : []
}

function parse(text = '{}'): { readonly limits?: unknown } {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

function isPublished(value: unknown): value is PublishedLimit {
  return isObject(value) && 'scope' in value && 'spec' in value && isSpec(value.spec)
}
