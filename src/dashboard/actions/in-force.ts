import type { PartValue, SettingsOverride } from '../../limiter/settings-document.js'
import { type PartInForce, partsInForce } from '../../settings/in-force.js'
import { limitPath } from '../../settings/parts.js'
import { endOf } from '../../settings/read-override.js'
import { messageOf } from '../../stores/store-error.js'
import { fieldsOf } from '../../util/values.js'
import type { Watched } from '../figures/limiter-watch.js'
import { longestBlockOf } from '../figures/longest-block.js'
import { type KnownBan, type KnownBans, type KnownClients, readBans } from './bans.js'
import { settingsOf } from './settings-of.js'

/** The most entries of one limiter, and the most parts that one entry names. */
const MAX_ENTRIES = 500
const MAX_PATHS = 1000

export type InForceKind = 'block' | 'exempt' | 'raise' | 'limit' | 'mode' | 'candidate' | 'ban'

/** What is in force beside the rules of the code. What one change made alike for several clients is one entry. */
export interface InForce {
  readonly kind: InForceKind
  /** How many clients or networks it is for; 0 if it is for everyone. */
  readonly count: number
  /** Some of them, as the page shows them. */
  readonly targets: readonly string[]
  /** The parts of the document, by which it is undone. Empty for a ban. */
  readonly paths: readonly string[]
  /** The new limits, mode or candidate. */
  readonly value?: PartValue
  /** When it ends, in ms since the Unix epoch; absent if it has no end. */
  readonly untilMs?: number
  /** Who did it, why and when; absent where the history does not reach back so far. */
  readonly by?: string
  readonly reason?: string
  readonly atMs?: number
}

/** What is in force in a limiter. */
export interface LimiterInForce {
  readonly limiter: string
  /** The latest change; `null` if there is none. Absent if the limiter has no settings. */
  readonly base?: string | null
  readonly entries: readonly InForce[]
  /** How many entries there are, listed or not. */
  readonly total: number
  /** Of how many clients it is known whether they are banned, and of how many not; absent without bans. */
  readonly banned?: Omit<KnownBans, 'bans'>
  /** Why some of it could not be read. */
  readonly problem?: string
}

/** How many targets of an entry are shown. */
const MAX_SHOWN = 20

/** Reads what is in force in a limiter: of its settings, and bans of clients that the page knows. Never rejects. */
export async function readInForce(watched: Watched, known: KnownClients): Promise<LimiterInForce> {
  const [settings, bans] = await Promise.allSettled([readParts(watched), readBans(watched, known)])
  const { base, parts } = settledValue(settings) ?? { base: undefined, parts: [] }
  const { bans: listed, ...banned } = settledValue(bans) ?? { bans: [] }
  const entries = [...groupedEntries(parts), ...listed.map(banEntry)].sort(
    (a, b) => (b.atMs ?? 0) - (a.atMs ?? 0),
  )
  const problem = [problemOf('Settings', settings), problemOf('Bans', bans)].filter(Boolean).join(' ')
  const hasBans = longestBlockOf(watched.inspection.limits.values()) > 0
  return {
    limiter: watched.name,
    ...(base !== undefined && { base }),
    entries: entries.slice(0, MAX_ENTRIES),
    total: entries.length,
    ...(hasBans && 'looked' in banned && { banned }),
    ...(problem !== '' && { problem }),
  }
}

const settledValue = <T>(settled: PromiseSettledResult<T>): T | undefined =>
  settled.status === 'fulfilled' ? settled.value : undefined

function problemOf(what: string, settled: PromiseSettledResult<unknown>): string | undefined {
  if (settled.status === 'fulfilled') return undefined
  return `${what} could not be read (${messageOf(settled.reason)}).`
}

async function readParts(watched: Watched) {
  const found = settingsOf(watched)
  if (found === undefined) return { base: undefined, parts: [] }
  const recorded = await found.settings.readWithChanges(found.name)
  return { base: recorded.changes[0]?.id ?? null, parts: partsInForce(recorded, Date.now()) }
}

function banEntry({ identity, bannedForMs, ...author }: KnownBan): InForce {
  const untilMs = Date.now() + bannedForMs
  return { kind: 'ban', count: 1, targets: [identity], paths: [], untilMs, ...author }
}

/** Returns the entries for parts. */
export function groupedEntries(parts: readonly PartInForce[]): readonly InForce[] {
  const groups = new Map<string, PartInForce[]>()
  for (const part of parts) {
    const key = groupOf(part)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [part])
    else group.push(part)
  }
  return Array.from(groups.values(), entryOf)
}

/** What one change did alike for several clients belongs together. */
function groupOf({ path, value, change }: PartInForce): string {
  if (change === undefined || !isOverride(path)) return path
  const { until, limits, block, exempt } = fieldsOf(value)
  return JSON.stringify([change.id, until, limits, block, exempt])
}

function entryOf(parts: readonly PartInForce[]): InForce {
  const [{ path, value, change }] = parts as readonly [PartInForce]
  const overrides = isOverride(path) ? parts.map((part) => part.value as SettingsOverride) : []
  const [override] = overrides
  const untilMs = override === undefined ? Number.POSITIVE_INFINITY : endOf(override)
  const shown = override === undefined ? shownValue(path, value) : override.limits
  return {
    kind: kindOf(path, override),
    count: overrides.length,
    targets: overrides.slice(0, MAX_SHOWN).map(targetText),
    paths: parts.slice(0, MAX_PATHS).map((part) => part.path),
    ...(shown !== undefined && { value: shown as PartValue }),
    ...(Number.isFinite(untilMs) && { untilMs }),
    ...(change && { by: change.by, reason: change.reason, atMs: change.atMs }),
  }
}

/** Returns new numbers with the name of their limit. */
function shownValue(path: string, value: PartValue): PartValue {
  const start = limitPath('')
  return path.startsWith(start) ? ({ [path.slice(start.length)]: value } as PartValue) : value
}

const isOverride = (path: string) => path.startsWith('overrides[')

function kindOf(path: string, override: SettingsOverride | undefined): InForceKind {
  if (override?.block) return 'block'
  if (override?.exempt) return 'exempt'
  if (override !== undefined) return 'raise'
  return path === 'mode' || path === 'candidate' ? path : 'limit'
}

/** Returns whom an override is for, as the page shows it. */
export function targetText({ identity, storedIdentity, identityPrefix, network }: SettingsOverride): string {
  if (identityPrefix !== undefined) return `${identityPrefix}…`
  const given = typeof identity === 'string' ? identity : identity?.join(' | ')
  return storedIdentity ?? given ?? network ?? ''
}
