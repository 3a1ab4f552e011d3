import { randomText } from '../../platform.js'
import { pause } from '../../util/defer.js'
import { expectEqual } from '../assertions.js'
import type { Counts, WireFigures, WirePart } from './protocol.js'
import type { ServedProcess } from './served-process.js'

/** What the charges of a scenario are, by process. */
export interface ArenaTraffic {
  charges(process: number): readonly (readonly WirePart[])[]
  /** How many charges each call has. Default 1. */
  readonly batch?: number
  /** One in this many allowed charges is refunded at once. Default 0, none. */
  readonly refundEvery?: number
  /** How many callers each process has. Default: those of the set-up. */
  readonly callers?: number
  /** How many charges each caller makes. Default: those of the set-up. */
  readonly each?: number
}

type PartOptions = Omit<WirePart, 'key' | 'cost'> & { readonly cost?: number }

/** What a scenario works with: its own keys, and processes that charge them. */
export interface Arena {
  /** How many charges the processes make together, with calls of one charge. */
  readonly sent: number
  readonly atomicAcrossKeys: boolean
  /** Returns a part of one unit, unless `cost` says otherwise, of a key that no other test uses. */
  part(name: string, rest: PartOptions): WirePart
  charge(traffic: ArenaTraffic): Promise<Counts>
  peek(parts: readonly WirePart[]): Promise<readonly WireFigures[]>
  /** Checks that of each key is left what was not taken. */
  expectLeft(parts: readonly WirePart[], counts: Counts): Promise<void>
}

interface ArenaOptions {
  readonly callers: number
  /** How many charges each caller makes. */
  readonly each: number
  readonly atomicAcrossKeys: boolean
}

/** How long a store that is not atomic across keys may take for the refunds of charges that it denied. */
const SETTLED_MS = 5000
const POLL_MS = 20
const UNEQUAL = 'If more is left, a write was lost. If less is left, a charge was counted twice.'

/** Runs `body` with its own keys, which are deleted at the end. */
export async function withArena(
  processes: readonly ServedProcess[],
  { callers, each, atomicAcrossKeys }: ArenaOptions,
  body: (arena: Arena) => Promise<void>,
): Promise<void> {
  const prefix = `headgate-exactness:${randomText(16)}`
  const partsByKey = new Map<string, WirePart>()
  const [first] = processes
  if (first === undefined) throw new Error('no process serves the store')
  const peek = (parts: readonly WirePart[]) => first.request('peek', parts)
  const nameOf = ({ key }: WirePart) => key.slice(prefix.length + 1)

  async function remainingOf(parts: readonly WirePart[]): Promise<unknown[]> {
    const figures = await peek(parts)
    return parts.map((part, i) => [nameOf(part), figures[i]?.remaining])
  }

  async function expectLeft(parts: readonly WirePart[], { taken }: Counts): Promise<void> {
    const expected = parts.map((part) => [nameOf(part), part.limit - (taken[part.key] ?? 0)])
    let left = await remainingOf(parts)
    const endMs = performance.now() + (atomicAcrossKeys ? 0 : SETTLED_MS)
    while (performance.now() < endMs && String(left) !== String(expected)) {
      await pause(POLL_MS)
      left = await remainingOf(parts)
    }
    const what = 'remaining of each key: its limit less the units that were admitted'
    expectEqual(`${what}. ${UNEQUAL}`, left, expected)
  }

  async function charge({ charges, batch = 1, refundEvery = 0, ...own }: ArenaTraffic): Promise<Counts> {
    const calls = Math.ceil((own.each ?? each) / batch)
    const load = { callers: own.callers ?? callers, calls, batch, refundEvery }
    const all = processes.map((each, i) => each.request('load', { ...load, charges: charges(i) }))
    return sumOf(await Promise.all(all))
  }

  function part(name: string, { cost = 1, ...rest }: PartOptions): WirePart {
    const part = { ...rest, key: `${prefix}:${name}`, cost }
    partsByKey.set(part.key, part)
    return part
  }

  const sent = processes.length * callers * each
  try {
    await body({ sent, atomicAcrossKeys, part, charge, peek, expectLeft })
  } finally {
    await first.request('forget', [...partsByKey.values()])
  }
}

function sumOf(counts: readonly Counts[]): Counts {
  const unitsTaken: Record<string, number> = {}
  for (const each of counts)
    for (const [key, units] of Object.entries(each.taken)) unitsTaken[key] = (unitsTaken[key] ?? 0) + units
  const sum = (name: 'allowed' | 'denied') => counts.reduce((total, each) => total + each[name], 0)
  return { allowed: sum('allowed'), denied: sum('denied'), taken: unitsTaken }
}
