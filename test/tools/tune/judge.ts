import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tokenBucket } from 'headgate'
import { LimitReplay } from '../../../src/cli/replay/limit-replay.js'
import { tuneCommand } from '../../../src/cli/tune/command.js'
import type { Proposal } from '../../../src/tuning/proposal.js'
import { logOf, type Trace } from './trace.js'

/** How many clients of a kind a limit denies, and how many there are. */
export interface Denied {
  readonly clients: number
  readonly denied: number
}

/** What a proposal would do, and for whom that is right. */
export interface Judgement {
  readonly proposal: Proposal
  /** Honest clients, among them those that look like attackers. Each that is denied is denied wrongly. */
  readonly honest: Denied
  readonly unusual: Readonly<Record<string, Denied>>
  /** Each attacker that is not denied is missed. */
  readonly attackers: Readonly<Record<string, Denied>>
  /** The share of the attackers' requests that would be denied. */
  readonly deniedOfAttack: number
}

/**
 * Lets `headgate tune` learn from a trace as from a log, and decides the trace again with what it proposes,
 * as `rateLimit({ limit, window })` does. `inForce` is the limit while the trace was recorded.
 */
export async function judge(trace: Trace, inForce?: number): Promise<Judgement> {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-tune-'))
  try {
    const file = join(folder, 'access.log')
    writeFileSync(file, logOf(trace))
    const given = inForce === undefined ? [] : ['--limit', String(inForce)]
    const printed = await tuneCommand([file, ...trace.options, ...given, '--json'])
    const { proposal } = JSON.parse(printed) as { readonly proposal: Proposal }
    return { proposal, ...outcomeOf(trace, proposal) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function outcomeOf({ requests, windowMs, attackers, unusual }: Trace, { limit = 0 }: Proposal) {
  const policy = tokenBucket({ capacity: limit, refill: limit, every: `${windowMs}ms` })
  const replay = new LimitReplay(policy)
  const ids = new Map<string, number>()
  const deniedOf = new Map<string, number>()
  const isAttacker = (client: string) => Object.values(attackers).some((each) => each.has(client))
  let [attacks, stopped] = [0, 0]
  for (const { client, atMs } of [...requests].sort((a, b) => a.atMs - b.atMs)) {
    const id = ids.get(client) ?? ids.size
    ids.set(client, id)
    const isDenied = !replay.decide(id, atMs)
    if (isDenied) deniedOf.set(client, (deniedOf.get(client) ?? 0) + 1)
    if (!isAttacker(client)) continue
    attacks++
    if (isDenied) stopped++
  }
  const count = (clients: Iterable<string>): Denied => {
    const all = [...clients]
    return { clients: all.length, denied: all.filter((client) => deniedOf.has(client)).length }
  }
  const countAll = (groups: Readonly<Record<string, ReadonlySet<string>>>) =>
    Object.fromEntries(Object.entries(groups).map(([name, clients]) => [name, count(clients)]))
  return {
    honest: count([...ids.keys()].filter((client) => !isAttacker(client))),
    unusual: countAll(unusual),
    attackers: countAll(attackers),
    deniedOfAttack: stopped / attacks,
  }
}
