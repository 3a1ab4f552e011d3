import { partOf } from '../../limiter/resolve-parts.js'
import { isMemoryStore } from '../../stores/memory/contract.js'
import { fieldsOf } from '../../util/values.js'
import type { Watched } from '../figures/limiter-watch.js'
import type { LoggedEvent } from '../figures/logged-event.js'
import { longestBlockOf } from '../figures/longest-block.js'
import { limitsInUse } from './limits-in-use.js'
import { partsOf, readStanding } from './lookup.js'

/** The most clients whose bans are read: those that operators blocked last, and those that are denied most. */
const MAX_TYPED = 20
const MAX_LISTED = 1000
/** The most of the latter where a store cannot read more of them in one batch. */
const MAX_READ_ALONE = 50

/** What the page knows besides settings: the clients that were denied, and what operators did. */
export interface KnownClients {
  readonly identities: readonly string[]
  readonly events: readonly LoggedEvent[]
}

/** A ban, with who asked for it and why, where an operator did. */
export interface KnownBan extends Banned, Partial<Pick<LoggedEvent, 'by' | 'reason' | 'atMs'>> {}

/** A client that a ban denies. */
interface Banned {
  /** As it was asked for: a client that is listed, or what a person typed. */
  readonly identity: string
  readonly bannedForMs: number
}

/**
 * Returns those of some clients that are banned, each once: of those that a person typed, in any spelling, and of
 * those that the page lists. Rejects if the store failed.
 */
async function bannedAmong(
  watched: Watched,
  typed: readonly string[],
  listed: readonly string[],
): Promise<readonly Banned[]> {
  const { inspection } = watched
  const bans = (await limitsInUse(inspection)).filter(({ policy }) => policy.isBan)
  const findWrittenOut = watched.writtenOut?.()
  const asked = [
    ...typed.flatMap((text) =>
      partsOf(watched, text, bans, findWrittenOut).map((part) => [text, part] as const),
    ),
    ...listed.flatMap((text) => {
      const stored = findWrittenOut?.(text) ?? text
      return bans.map((ban) => [text, partOf(ban, stored, 0)] as const)
    }),
  ]
  const read = await Promise.all(
    asked.map(async ([identity, part]) => ({ identity, standing: await readStanding(inspection, part) })),
  )
  const banned = new Map<string, Banned>()
  /** Who is banned under each stored identity: a block of a typed text bans all of its spellings. */
  const owners = new Map<string, string>()
  for (const { identity, standing } of read) {
    if (standing === undefined || standing.bannedForMs === 0) continue
    const owner = owners.get(standing.identity) ?? identity
    owners.set(standing.identity, owner)
    const bannedForMs = Math.max(standing.bannedForMs, banned.get(owner)?.bannedForMs ?? 0)
    banned.set(owner, { identity: owner, bannedForMs })
  }
  return Array.from(banned.values())
}

/** The bans that are known. */
export interface KnownBans {
  readonly bans: readonly KnownBan[]
  /** How many clients were looked at that were denied lately, and how many were not. */
  readonly looked: number
  readonly unread: number
  /** How many that operators have blocked were not looked at, and may still be banned. */
  readonly unreadBlocked: number
}

/** Reads the bans of clients that the page knows. Rejects if the store failed. */
export async function readBans(watched: Watched, known: KnownClients): Promise<KnownBans> {
  const identities = Array.from(new Set(known.identities))
  const listed = identities.slice(0, mostListed(watched))
  const blocks = known.events.filter(({ kind, limiter }) => kind === 'block' && limiter === watched.name)
  const typed = Array.from(new Set(blocks.toReversed().flatMap(identitiesOf))).slice(0, MAX_TYPED)
  return {
    bans: await bansOf(watched, typed, listed, blocks),
    looked: listed.length,
    unread: identities.length - listed.length,
    unreadBlocked: unreadAmong(blocks.filter(mayLast(watched)), new Set([...typed, ...listed])),
  }
}

/** Returns whether a block may not have ended yet. */
function mayLast({ inspection }: Watched): (block: LoggedEvent) => boolean {
  const longestMs = longestBlockOf(inspection.limits.values())
  return ({ atMs }) => Date.now() - atMs < longestMs
}

/** Returns how many clients of some blocks were not read: events name only some. */
function unreadAmong(blocks: readonly LoggedEvent[], read: ReadonlySet<string>): number {
  const named = new Set(blocks.flatMap(identitiesOf).filter((identity) => !read.has(identity)))
  const unnamed = blocks.map((block) => {
    const { count } = fieldsOf(block.details)
    return typeof count === 'number' ? Math.max(0, count - identitiesOf(block).length) : 0
  })
  return unnamed.reduce((sum, count) => sum + count, named.size)
}

/** Returns of how many clients bans are read: of as many as the store can read in one batch. */
function mostListed({ inspection: { store, limits } }: Watched): number {
  if (isMemoryStore(store)) return MAX_LISTED
  const bans = Array.from(limits.values()).filter(({ policy }) => policy.isBan).length
  const inBatch = Math.floor((store.batching?.maxKeys ?? 0) / Math.max(1, bans))
  return Math.min(MAX_LISTED, Math.max(MAX_READ_ALONE, inBatch))
}

async function bansOf(
  watched: Watched,
  typed: readonly string[],
  listed: readonly string[],
  blocks: readonly LoggedEvent[],
): Promise<readonly KnownBan[]> {
  if (typed.length + listed.length === 0) return []
  return (await bannedAmong(watched, typed, listed)).map((banned) => {
    const event = blocks.findLast((each) => identitiesOf(each).includes(banned.identity))
    const { by, reason, atMs } = event ?? {}
    return {
      ...banned,
      ...(by !== undefined && { by }),
      ...(reason !== undefined && { reason }),
      ...(atMs !== undefined && { atMs }),
    }
  })
}

function identitiesOf({ details }: LoggedEvent): readonly string[] {
  const { identities } = fieldsOf(details)
  return Array.isArray(identities) ? identities.filter((each) => typeof each === 'string') : []
}
