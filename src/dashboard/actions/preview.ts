import type { DescribedLimit } from '../../limiter/description.js'
import type { GivenDocument, LimitsByName, SettingsOverride } from '../../limiter/settings-document.js'
import { messageOf } from '../../stores/store-error.js'
import type { ClientDemand, LimitDemand } from '../../tuning/client-demand.js'
import { durationMs } from '../../util/durations.js'
import { fieldsOf } from '../../util/values.js'

/** How many clients a preview names. */
const MAX_NAMED = 20

/** What new numbers of a limit would have done to clients. Clients that a sample stands for are counted. */
export interface LimitPreview {
  readonly limitName: string
  /** How many clients there were, from when to when. */
  readonly clients: number
  readonly fromMs: number
  readonly toMs: number
  /** How many of them were denied, and how many would have been. */
  readonly denied: number
  readonly wouldDeny: number
  /** Some of those that would have been denied although they were not, the largest first. */
  readonly newlyDenied: readonly { readonly identity: string; readonly peak: number }[]
  readonly newlyDeniedCount: number
  readonly noLongerDeniedCount: number
  /** Why it is not known. The counts are 0 then. */
  readonly problem?: string
}

/**
 * Returns what a document would have done to the clients of the limits in the last 12 to 24 hours, from the
 * most that each asked for in one window.
 */
export function previewOf(
  document: GivenDocument,
  codeLimits: readonly DescribedLimit[],
  demands: readonly LimitDemand[],
): readonly LimitPreview[] {
  return codeLimits.map((limit) => previewLimit(limit, document, newestOf(demands, limit.name)))
}

/** Returns what the document would have done to one limit. */
function previewLimit(
  { name: limitName, policy }: DescribedLimit,
  { limits = {}, overrides = [] }: GivenDocument,
  found: readonly LimitDemand[],
): LimitPreview {
  const [newest] = found
  const none = { denied: 0, wouldDeny: 0, newlyDenied: [], newlyDeniedCount: 0, noLongerDeniedCount: 0 }
  if (newest === undefined)
    return { limitName, clients: 0, fromMs: 0, toMs: 0, ...none, problem: 'Nothing has been counted yet.' }
  const { windowMs, toMs } = newest
  const about = {
    limitName,
    clients: Math.max(...found.map(({ clients }) => clients)),
    fromMs: Math.min(...found.map(({ fromMs }) => fromMs)),
    toMs,
  }
  const code = policy === undefined ? {} : numbersIn(policy.kind === 'ban' ? policy.base : policy)
  const after = { ...code, ...numbersOf(limits, limitName) }
  const { limit = newest.limit ?? Number.POSITIVE_INFINITY } = after
  if (after.problem !== undefined) return { ...about, ...none, problem: after.problem }
  if (after.windowMs !== undefined && after.windowMs !== windowMs)
    return { ...about, ...none, problem: OTHER_WINDOW }
  const own = ownLimits(overrides, limitName)
  const denies = ({ identity, peak }: ClientDemand) => peak > (own.get(identity) ?? limit)
  return { ...about, ...countsOf(mergedDemands(found), denies) }
}

const OTHER_WINDOW = 'What clients ask for is known for the window in force only.'

function countsOf(demands: readonly ClientDemand[], denies: (client: ClientDemand) => boolean) {
  const newly = demands.filter((client) => !client.wasDenied && denies(client))
  return {
    denied: weightOf(demands.filter(({ wasDenied }) => wasDenied)),
    wouldDeny: weightOf(demands.filter(denies)),
    newlyDenied: newly
      .sort((a, b) => b.peak - a.peak)
      .slice(0, MAX_NAMED)
      .map(({ identity, peak }) => ({ identity, peak })),
    newlyDeniedCount: weightOf(newly),
    noLongerDeniedCount: weightOf(demands.filter((client) => client.wasDenied && !denies(client))),
  }
}

function weightOf(clients: readonly ClientDemand[]): number {
  return Math.round(clients.reduce((sum, { weight }) => sum + weight, 0))
}

/** Returns what was counted of a limit with the window that it had last, the newest first. */
function newestOf(demands: readonly LimitDemand[], name: string): readonly LimitDemand[] {
  const own = demands.filter(({ limitName }) => limitName === name).sort((a, b) => b.toMs - a.toMs)
  return own.filter(({ windowMs }) => windowMs === own[0]?.windowMs)
}

/** Returns each client once: a limit may have had several numbers. */
function mergedDemands(found: readonly LimitDemand[]): readonly ClientDemand[] {
  const byIdentity = new Map<string, ClientDemand>()
  for (const client of found.flatMap(({ demands }) => demands)) {
    const before = byIdentity.get(client.identity)
    byIdentity.set(client.identity, {
      ...client,
      peak: Math.max(client.peak, before?.peak ?? 0),
      wasDenied: client.wasDenied || before?.wasDenied === true,
    })
  }
  return Array.from(byIdentity.values())
}

interface Numbers {
  readonly limit?: number
  readonly windowMs?: number
  readonly problem?: string
}

/** Returns the numbers that limits by name give a limit; none if they leave it as it is. */
function numbersOf(limits: LimitsByName, name: string): Numbers {
  const given = fieldsOf(Object.hasOwn(limits, name) ? limits[name] : undefined)
  const numbers = numbersIn(given)
  const isUnknown = given.policy !== undefined && numbers.limit === undefined
  return isUnknown ? { problem: 'What another policy would have done is not known.' } : numbers
}

/** Returns the numbers in settings of a limit, or in the spec of a policy. */
function numbersIn(given: object): Numbers {
  const { limit, capacity, window, windowMs } = fieldsOf(given)
  const number = limit ?? capacity
  try {
    const lengthMs = window === undefined ? windowMs : durationMs('settings', 'window', window)
    return {
      ...(typeof number === 'number' && { limit: number }),
      ...(typeof lengthMs === 'number' && { windowMs: lengthMs }),
    }
  } catch (error) {
    return { problem: messageOf(error) }
  }
}

/** Returns the limits of clients with an override: no limit at all, or none of their requests. */
function ownLimits(overrides: readonly SettingsOverride[], name: string): ReadonlyMap<string, number> {
  const own = new Map<string, number>()
  for (const { storedIdentity, exempt, block, limits } of overrides) {
    if (storedIdentity === undefined) continue
    if (exempt) own.set(storedIdentity, Number.POSITIVE_INFINITY)
    else if (block) own.set(storedIdentity, 0)
    else {
      const { limit } = numbersOf(limits ?? {}, name)
      if (limit !== undefined) own.set(storedIdentity, limit)
    }
  }
  return own
}
