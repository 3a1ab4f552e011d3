import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { expectEqual } from '../assertions.js'
import type { Fleet } from './fleet.js'
import type { Counts, Figures, WirePart } from './protocol.js'

/** What the charges of a scenario are, by process. */
export interface Traffic {
  charges(process: number): readonly (readonly WirePart[])[]
  /** How many charges each call has. Default 1. */
  readonly batch?: number
  /** Each how-manieth allowed charge is refunded at once. Default 0, none. */
  readonly refundEvery?: number
  /** How many callers each process has. Default: those of the set-up. */
  readonly callers?: number
  /** How many charges each caller makes. Default: those of the set-up. */
  readonly each?: number
}

/** What a scenario works with: its own keys, and processes that charge them. */
export interface Arena {
  /** How many charges the processes make together, with calls of one charge. */
  readonly sent: number
  readonly atomicAcrossKeys: boolean
  /** Returns a part of one unit, unless `cost` says otherwise, of a key that no other test uses. */
  part(name: string, rest: Omit<WirePart, 'key' | 'cost'> & { readonly cost?: number }): WirePart
  charge(traffic: Traffic): Promise<Counts>
  peek(parts: readonly WirePart[]): Promise<readonly Figures[]>
  /** Checks that of each key is left what was not taken. */
  expectLeft(parts: readonly WirePart[], counts: Counts): Promise<void>
}

export interface ArenaOptions {
  readonly processes: number
  readonly callers: number
  /** How many charges each caller makes. */
  readonly each: number
  readonly atomicAcrossKeys: boolean
}

/** How long a store that is not atomic across keys may take for the refunds of charges that it denied. */
const SETTLED_MS = 5000
const POLL_MS = 20
const UNEQUAL = 'More is left where a write was lost, less where a charge was counted twice.'

/** Runs `body` with its own keys, which are deleted at the end. */
export async function withArena(
  fleet: Fleet,
  { processes, callers, each, atomicAcrossKeys }: ArenaOptions,
  body: (arena: Arena) => Promise<void>,
): Promise<void> {
  const prefix = `headgate-exactness:${randomUUID()}`
  const partsByKey = new Map<string, WirePart>()

  async function remainingOf(parts: readonly WirePart[]): Promise<[string, number][]> {
    const figures = await fleet.peek(parts)
    return parts.map(({ key }, i) => [key.slice(prefix.length + 1), figures[i]?.remaining ?? Number.NaN])
  }

  async function expectLeft(parts: readonly WirePart[], { taken }: Counts): Promise<void> {
    const names = parts.map(({ key }) => key.slice(prefix.length + 1))
    const expected = parts.map(({ key, limit }, i) => [names[i], limit - (taken[key] ?? 0)])
    let left = await remainingOf(parts)
    const endMs = performance.now() + (atomicAcrossKeys ? 0 : SETTLED_MS)
    while (performance.now() < endMs && String(left) !== String(expected)) {
      await pause(POLL_MS)
      left = await remainingOf(parts)
    }
    const what = 'remaining of each key: its limit less the units that were admitted'
    expectEqual(`${what}. ${UNEQUAL}`, left, expected)
  }

  await body({
    sent: processes * callers * each,
    atomicAcrossKeys,
    part(name, { cost = 1, ...rest }) {
      const part = { ...rest, key: `${prefix}:${name}`, cost }
      partsByKey.set(part.key, part)
      return part
    },
    charge: ({ charges, batch = 1, refundEvery = 0, ...own }) =>
      fleet.load((process) => ({
        charges: charges(process),
        callers: own.callers ?? callers,
        calls: Math.ceil((own.each ?? each) / batch),
        batch,
        refundEvery,
      })),
    peek: fleet.peek,
    expectLeft,
  })
  await fleet.forget([...partsByKey.values()])
}
