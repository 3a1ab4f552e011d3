import { parseAddress } from '../keys/address.js'
import { addressList } from '../keys/address-list.js'
import { addressReaderAmong } from '../keys/address-use.js'
import { peerAddress } from '../keys/connection.js'
import { optional, type Settings, withDefault } from '../options/option-table.js'
import { isPromise, type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { once } from '../util/memo.js'
import { type Decision, reportedDecision } from './decision.js'
import { checkMode, isReport, type Mode, type ModeSwitch } from './mode.js'
import type { Entry } from './parse-limits.js'
import { BLOCKED, denyDisconnected, UNLIMITED } from './uncharged-decision.js'

/** Who is exempt from the limits, and who is blocked. */
export interface AccessOptions {
  /** Addresses and CIDR ranges that are allowed, unlimited and uncounted. */
  allow?: readonly string[]
  /** Addresses and CIDR ranges that are denied: middleware responds 403. Takes precedence over `allow`. */
  block?: readonly string[]
  /**
   * `'report'` decides, counts and emits events, but denies nothing: middleware sets no headers, and
   * `limiter.charge` returns an allowed decision, whose `parts` say which limits would have denied. Default
   * `'enforce'`. Set `limiter.mode` to switch it while the limiter runs.
   */
  mode?: Mode
}

/** Before the limits of a limiter: who is exempt, and whether denials only report. */
export interface Access {
  /** Returns the decision on a subject that no limit decides on; `undefined` for others. Absent = no rule. */
  readonly check: ((subject: unknown) => MaybePromise<Decision | undefined>) | undefined
  /** Returns what a caller is given for a decision of the limits. */
  readonly apply: (decision: Decision) => Decision
}

/** How these options are read. */
export const ACCESS_ROWS = {
  allow: optional(readAddresses),
  block: optional(readAddresses),
  mode: withDefault('enforce', checkMode),
}

/** Returns the decision on a subject that no limit decides on, by its address; `undefined` for others. */
export type AccessRule = (subject: unknown) => Decision | undefined

/** Creates the rule of `allow` and `block`; `undefined` where neither is given. */
export function accessRule(
  owner: string,
  { allow = [], block = [] }: Settings<typeof ACCESS_ROWS>,
  entries: readonly Entry[],
  modeSwitch: ModeSwitch,
): AccessRule | undefined {
  if (allow.length + block.length === 0) return undefined
  const read = addressReaderAmong(entries)
  const isAllowed = addressList(owner, 'allow', allow, read.embeddings)
  const isBlocked = addressList(owner, 'block', block, read.embeddings)
  return (subject) => {
    try {
      const address = typeof subject === 'string' ? parseAddress(subject, read.embeddings) : read(subject)
      if (!isReport(modeSwitch) && isBlocked(address)) return BLOCKED
      return isAllowed(address) ? UNLIMITED : undefined
    } catch (error) {
      return denyDisconnected(error)
    }
  }
}

/** The option that lists an address. */
export type Listing = 'allow' | 'block'

/** Creates the function that returns which option lists an address, as a person writes it. */
export function addressListing(
  owner: string,
  { allow = [], block = [] }: Settings<typeof ACCESS_ROWS>,
  entries: readonly Entry[],
): (address: string) => Listing | undefined {
  const lists = once(() => {
    const { embeddings } = addressReaderAmong(entries)
    const isAllowed = addressList(owner, 'allow', allow, embeddings)
    const isBlocked = addressList(owner, 'block', block, embeddings)
    return { embeddings, isAllowed, isBlocked }
  })
  return (text) => {
    const { embeddings, isAllowed, isBlocked } = lists()
    const address = parseAddress(text, embeddings)
    if (isBlocked(address)) return 'block'
    return isAllowed(address) ? 'allow' : undefined
  }
}

/** Creates what stands before the limits of `createLimiter`. */
export function accessOf(
  owner: string,
  settings: Settings<typeof ACCESS_ROWS> & { readonly entries: readonly Entry[] },
  skip: ((subject: never) => MaybePromise<boolean>) | undefined,
  modeSwitch: ModeSwitch,
): Access {
  const rule = accessRule(owner, settings, settings.entries, modeSwitch)
  const apply = (decision: Decision) => {
    return isReport(modeSwitch) && !decision.allowed ? reportedDecision(decision) : decision
  }
  if (rule === undefined && skip === undefined) return { check: undefined, apply }
  const mayBlock = () => !isReport(modeSwitch) && (settings.block ?? []).length > 0
  /** Where nothing is blocked, the limits decide on a connection that closed before its address was read. */
  function checkAddress(subject: unknown): Decision | undefined {
    const known = rule?.(subject)
    return known?.source === 'closed' && !mayBlock() ? undefined : known
  }
  return {
    check(subject) {
      if (skip === undefined) return checkAddress(subject)
      const skips = skip(subject as never)
      if (isPromise(skips)) peerAddress(subject) // Node.js remembers it now
      return thenMaybe(skips, (isSkipped) => (isSkipped ? UNLIMITED : checkAddress(subject)))
    },
    apply,
  }
}

/** Returns a checked list. `accessRule` compiles it, for the networks that the key reads as IPv4. */
function readAddresses(owner: string, option: string, entries: unknown): readonly string[] {
  addressList(owner, option, entries)
  return entries as readonly string[]
}
