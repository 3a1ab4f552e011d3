import type { GivenPolicy } from '../../limiter/read-limits.js'
import type { ClientDemand, LimitDemand } from '../client-demand.js'
import { type Judge, judgeOf, type WouldDeny } from '../would-deny.js'
import type { FoundOverride } from './client-overrides.js'
import { type JudgedClient, weightOf } from './preview-counts.js'
import type { PreviewRules } from './preview-rules.js'

/** A client of a limit under all numbers that it has had. */
interface Seen extends JudgedClient {
  readonly found: FoundOverride
  readonly isUnknown: boolean
}

/** Returns the clients of a limit, each once, with what rules would have done to them, and what is uncertain. */
export function judgedClients(
  found: readonly LimitDemand[],
  { limits, overrideOf }: PreviewRules,
  index: number,
) {
  const byIdentity = new Map<string, Seen>()
  for (const demand of found) {
    const judgeFor = judges(demand)
    for (const client of demand.demands) {
      const override = byIdentity.get(client.identity)?.found ?? overrideOf(client.identity)
      const policy = override.effect?.policies[index] ?? limits[index]?.policy
      const judged = wouldDeny(client, override, judgeFor(policy))
      if (judged === undefined) continue
      byIdentity.set(
        client.identity,
        mergeSeen(byIdentity.get(client.identity), { ...client, ...judged, found: override }),
      )
    }
  }
  const clients = Array.from(byIdentity.values())
  return { clients, notes: notesOf(clients) }
}

/** Returns the judge for each policy; `undefined` where its numbers cannot be compared with those of the demand. */
function judges(demand: LimitDemand): (policy: GivenPolicy | undefined) => Judge | undefined {
  const known = new Map<GivenPolicy, Judge | undefined>()
  return (policy) => {
    if (policy === undefined || typeof policy === 'function') return judgeAsBefore
    if (!known.has(policy)) {
      const judge = judgeOf(demand, policy)
      known.set(policy, typeof judge === 'string' ? undefined : judge)
    }
    return known.get(policy)
  }
}

const judgeAsBefore: Judge = ({ wasDenied }) => ({ denies: wasDenied })

function wouldDeny(
  client: ClientDemand,
  { effect }: FoundOverride,
  judge: Judge | undefined,
): (WouldDeny & { readonly isUnknown: boolean }) | undefined {
  if (effect?.access === 'exempt') return { denies: false, isUnknown: false }
  if (effect?.access === 'block') return { denies: true, isUnknown: false }
  if (judge !== undefined) return { ...judge(client), isUnknown: false }
  return effect === undefined ? undefined : { denies: client.wasDenied, isUnknown: true }
}

function mergeSeen(before: Seen | undefined, client: Seen): Seen {
  if (before === undefined) return client
  const denies = before.denies || client.denies
  const isBound = [before, client].every((each) => !each.denies || each.isBound === true)
  const { isBound: _isBound, ...rest } = client
  return {
    ...rest,
    ...{ denies, peak: Math.max(before.peak, client.peak), weight: Math.max(before.weight, client.weight) },
    wasDenied: before.wasDenied || client.wasDenied,
    isUnknown: before.isUnknown && client.isUnknown,
    ...(denies && isBound && { isBound: true }),
  }
}

/** Says for how many clients the rules are not known. */
function notesOf(clients: readonly Seen[]): readonly string[] {
  const count = (of: (client: Seen) => boolean) => weightOf(clients.filter(of))
  const [prefixes, networks, unknown] = [
    count(({ found }) => found.missesPrefixes),
    count(({ found }) => found.missesNetworks),
    count(({ isUnknown }) => isUnknown),
  ]
  const are = (each: number) => (each === 1 ? '1 client is' : `${each.toLocaleString('en-US')} clients are`)
  return [
    prefixes > 0 && `${are(prefixes)} known only by a hash, so overrides by prefix may also apply to them.`,
    networks > 0 &&
      `${are(networks)} not known by IP address, so overrides of networks may also apply to them.`,
    unknown > 0 && `${are(unknown)} under an override with another policy or window, and counted as before.`,
  ].filter((text) => typeof text === 'string')
}
