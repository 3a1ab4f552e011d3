import { type RawIdentity, rawIdentityReader } from '../keys/identity.js'
import { isDisconnectedError } from '../keys/request.js'
import { addressReaderAmong } from '../keys/source-address.js'
import { type ModeSwitch, subjectAddress } from '../limiter/access-rules.js'
import type { BoundLimits } from '../limiter/core.js'
import { callPolicy, checkResolved, type Entry, type GivenPolicy } from '../limiter/read-limits.js'
import type { NamedPart } from '../limiter/receipt.js'
import {
  BLOCKED,
  type LimitContext,
  limitOf,
  type ResolveParts,
  resolvePart,
  warnFreshStart,
} from '../limiter/resolve-parts.js'
import { type MaybePromise, readAll, thenMaybe } from '../util/maybe-promise.js'
import { weakMemo } from '../util/memo.js'
import type { Effect, Rules } from './rules.js'
import { limitName } from './rules.js'

/**
 * Creates the functions that resolve subjects by rules with overrides. They read the keys, look up each
 * identity, and choose the policies accordingly. The lookups need no call of the store.
 */
export function ruledLimits(
  { entries, overrides }: Rules,
  context: LimitContext,
  modeSwitch: ModeSwitch,
): BoundLimits {
  const limits = entries.map((entry) => ruledLimit(entry, context))
  const readAddress = subjectAddress(addressReaderAmong(entries, context.reader))

  function resolver(isCharge: boolean): ResolveParts {
    return (subject, cost, names) => {
      const reads = readAll(limits, (limit) =>
        names?.includes(limit.name) === false ? undefined : limit.readIdentity(subject),
      )
      return thenMaybe(reads, (identities) => {
        const effects = effectsOf(identities, subject, isCharge)
        const access = isCharge ? accessBy(effects) : undefined
        if (access === 'exempt') return []
        if (access === 'block' && modeSwitch.mode !== 'report') return BLOCKED
        const parts = readAll([...limits.entries()], ([i, limit]) =>
          limit.partsFor(identities[i], effects[i]?.policies[i], subject, cost),
        )
        return thenMaybe(parts, (all) => all.flat())
      })
    }
  }

  /** Returns the effect on each limit. If no limit applies, the effect of the address follows. */
  function effectsOf(identities: readonly (RawIdentity | undefined)[], subject: unknown, isCharge: boolean) {
    const effects = identities.map((read) => read && overrides.ofIdentity(read.raw, read.identity))
    if (!overrides.hasNetworks || effects.every((effect) => effect !== undefined)) return effects
    const ofAddress = addressEffect(subject, isCharge)
    if (identities.every((read) => read === undefined)) return [...effects, ofAddress]
    return effects.map((effect, i) => effect ?? (identities[i] && ofAddress))
  }

  /** Returns the effect for the subject's address. An adjustment may have a subject without an address. */
  function addressEffect(subject: unknown, isCharge: boolean): Effect | undefined {
    try {
      return overrides.ofAddress(readAddress(subject))
    } catch (error) {
      if (isCharge || !isDisconnectedError(error)) throw error
      return undefined
    }
  }

  return { resolveCharge: resolver(true), resolveParts: resolver(false) }
}

/** Combines the effects of a subject's overrides. A block takes precedence over an exemption. */
function accessBy(effects: readonly (Effect | undefined)[]): Effect['access'] {
  let access: Effect['access']
  for (const effect of effects) {
    if (effect?.access === 'block') return 'block'
    access ??= effect?.access
  }
  return access
}

/** A limit whose policy may depend on the identity. */
function ruledLimit(entry: Entry, context: LimitContext) {
  const { owner, policy: usualPolicy, key = [context.usualKey], cost: limitCost = 1, skip } = entry
  const readIdentity = rawIdentityReader(key, context)
  const unrecorded = { ...context, limits: new Map() }
  const usualLimit = weakMemo((policy: object) => limitOf(entry, context, policy))
  const otherLimit = weakMemo((policy: object) => {
    if (typeof usualPolicy === 'object') usualLimit(usualPolicy)
    const limit = limitOf(entry, unrecorded, policy)
    warnFreshStart(owner, limit, context.limits.values())
    return limit
  })

  return {
    name: limitName(entry, context.name ?? ''),
    /** Returns the subject's identity; `undefined` if the limit does not apply. */
    readIdentity(subject: unknown): MaybePromise<RawIdentity | undefined> {
      if (skip === undefined) return readIdentity(subject)
      return thenMaybe(skip(subject), (isSkipped) => (isSkipped ? undefined : readIdentity(subject)))
    },
    /** Returns the limit's part of a charge, in an array; an empty one if the limit does not apply. */
    partsFor(
      read: RawIdentity | undefined,
      otherPolicy: GivenPolicy | undefined,
      subject: unknown,
      cost: number | undefined,
    ): MaybePromise<readonly NamedPart[]> {
      if (read === undefined) return []
      const given = otherPolicy ?? usualPolicy
      const policy = typeof given === 'function' ? callPolicy(owner, given, subject) : given
      const bind = otherPolicy === undefined ? usualLimit : otherLimit
      return thenMaybe<unknown, readonly NamedPart[]>(policy, (resolved) =>
        resolvePart(bind(checkResolved(owner, resolved)), read.identity, cost ?? limitCost, subject),
      )
    },
  }
}
