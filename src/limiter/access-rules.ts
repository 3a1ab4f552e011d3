import { type Address, parseAddress } from '../keys/address.js'
import { addressList } from '../keys/address-list.js'
import { peerAddress } from '../keys/request.js'
import type { AddressReader } from '../keys/source-address.js'
import { optional, type Settings, withDefault } from '../options/option-table.js'
import { isPromise, type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { choice } from '../util/validate.js'
import { fieldsOf } from '../util/values.js'
import { type Decision, denyDisconnected, unchargedDecision } from './decision.js'

/** Whether a limiter denies, or only reports what it would deny. */
export type Mode = 'enforce' | 'report'

/** Checks a mode. Throws a `TypeError` for another value. */
export const checkMode = choice<Mode>('enforce', 'report')

/** A limiter's mode, shared by its components. It may change at any time. */
export interface ModeSwitch {
  mode: Mode
}

/** Options that exempt or block clients. */
export interface AccessOptions {
  /** IP addresses and CIDR ranges that are exempt: allowed, unlimited and uncounted. */
  allow?: readonly string[]
  /**
   * IP addresses and CIDR ranges that are denied. Middleware responds with 403. Takes precedence over
   * `allow`.
   */
  block?: readonly string[]
  /**
   * Whether to enforce the limits (`'enforce'`) or only to report denials (`'report'`). Default `'enforce'`.
   * In report mode, the limiter decides, counts and emits events. Middleware sets no headers, and
   * `limiter.charge` returns an allowed decision, whose `parts` say which limits would have denied. Set
   * `limiter.mode` to switch it while the limiter runs.
   */
  mode?: Mode
}

/** Decides on subjects without asking a limit: `skip` or `allow` exempts them, or `block` denies them. */
export interface Access {
  /**
   * Returns the decision on such a subject; `undefined` for others. `response` is passed to `skip`. Absent
   * if the options have no such rule.
   */
  readonly check: ((subject: unknown, response?: unknown) => MaybePromise<Decision | undefined>) | undefined
  /** Returns the option that lists an address, in any spelling; `undefined` if none does. */
  listingOf(address: string): Listing | undefined
}

/** How these options are read. */
export const ACCESS_ROWS = {
  allow: optional(readAddresses),
  block: optional(readAddresses),
  mode: withDefault('enforce', checkMode),
}

/** The option that lists an address. */
export type Listing = 'allow' | 'block'

/** A function that exempts subjects. With middleware it also gets the response. */
export type Skip = (subject: unknown, response: unknown) => MaybePromise<boolean>

/** Creates the access rules of a limiter, which reads addresses with `read`. */
export function accessRules(
  owner: string,
  { allow = [], block = [], skip }: Settings<typeof ACCESS_ROWS> & { readonly skip?: Skip | undefined },
  read: AddressReader,
  modeSwitch: ModeSwitch,
): Access {
  const addressOf = subjectAddress(read)
  const isAllowed = addressList(owner, 'allow', allow, read.embeddings)
  const isBlocked = addressList(owner, 'block', block, read.embeddings)

  function checkAddress(subject: unknown): Decision | undefined {
    try {
      const address = addressOf(subject)
      if (modeSwitch.mode !== 'report' && isBlocked(address)) return unchargedDecision('blocked')
      return isAllowed(address) ? unchargedDecision('none') : undefined
    } catch (error) {
      return denyDisconnected(error)
    }
  }

  const checkLists = allow.length + block.length > 0 ? checkAddress : undefined
  return {
    check: skip === undefined ? checkLists : skipRule(skip, checkLists),
    listingOf(text) {
      const address = parseAddress(text, read.embeddings)
      if (isBlocked(address)) return 'block'
      return isAllowed(address) ? 'allow' : undefined
    },
  }
}

/**
 * Creates a function that returns the address of a subject: that of a request, or a text itself. Throws a
 * `DisconnectedError` for a request whose connection is gone.
 */
export function subjectAddress(read: AddressReader): (subject: unknown) => Address | undefined {
  return (subject) => (typeof subject === 'string' ? parseAddress(subject, read.embeddings) : read(subject))
}

/** Creates the rule of `skip`, before that of `allow` and `block`. */
function skipRule(skip: Skip, checkLists: Access['check']): Access['check'] {
  return (subject, response = responseOf(subject)) => {
    const skips = skip(subject, response)
    if (isPromise(skips)) peerAddress(subject) // reading it makes Node.js cache it
    return thenMaybe(skips, (isSkipped) => (isSkipped ? unchargedDecision('none') : checkLists?.(subject)))
  }
}

/** Returns the response that belongs to a request: of Koa or Express; `undefined` elsewhere. */
function responseOf(subject: unknown): unknown {
  const { response, res } = fieldsOf(subject)
  return response ?? res
}

/** Returns a checked list. `accessRules` compiles it, for the networks that the key reads as IPv4. */
function readAddresses(owner: string, option: string, entries: unknown): readonly string[] {
  addressList(owner, option, entries)
  return entries as readonly string[]
}
