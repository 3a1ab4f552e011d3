import assert from 'node:assert/strict'
import { type Policy, StoreError } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import { Client } from 'memjs'
import { keyText } from './contenders/keys.js'
import { headgateOn, type ServerContender } from './contenders/server-contender.js'

export const CLIENTS = 100
export const OTHERS = 400_000
/** How many others are charged at once, before each client that keeps sending is charged again. */
export const TOGETHER = 1000

/** `refused`: charges that failed because memcached was out of memory. */
type Answer = 'allowed' | 'denied' | 'refused'
export type Tally = Record<Answer, number>

/** What came of it. */
export interface Flood {
  /** Clients of which every charge was denied, to the end. */
  readonly limited: number
  readonly asks: Tally
  readonly others: Tally
}

/**
 * Takes clients to their limit, and charges others once each. Returns how many of the clients are still
 * limited. Each client is charged at the end, or all the time until then.
 */
export async function flood(url: string, policy: Policy, isAsking: boolean): Promise<Flood> {
  const client = Client.create(url)
  try {
    return await floodBy(headgateOn(memcachedStore(client), policy), policy, isAsking)
  } finally {
    client.close()
  }
}

async function floodBy(contender: ServerContender, { limit }: Policy, isAsking: boolean): Promise<Flood> {
  const { clients, others } = keysOf(contender)
  for (let i = 0; i < limit; i++) {
    assert.equal((await answersOf(contender, clients)).allowed.length, CLIENTS, 'a client was not served')
  }
  const limited = new Set(clients)
  const tallies = {
    asks: { allowed: 0, denied: 0, refused: 0 },
    others: { allowed: 0, denied: 0, refused: 0 },
  }
  for (let i = 0; i < OTHERS; i += TOGETHER) {
    add(tallies.others, await answersOf(contender, others.slice(i, i + TOGETHER)))
    const isLast = i + TOGETHER >= OTHERS
    if (!isAsking && !isLast) continue
    const answers = await answersOf(contender, clients)
    add(tallies.asks, answers)
    for (const key of [...answers.allowed, ...answers.refused]) limited.delete(key)
  }
  return { limited: limited.size, ...tallies }
}

/** The clients stand evenly among the others, so that their items are of the same sizes. */
function keysOf({ keyOf }: ServerContender) {
  const keys = Array.from({ length: CLIENTS + OTHERS }, (_, i) => keyOf(keyText(i)))
  const isClient = (i: number) => i % (OTHERS / CLIENTS + 1) === 0
  return {
    clients: keys.filter((_, i) => isClient(i)),
    others: keys.filter((_, i) => !isClient(i)),
  }
}

/** Charges keys once each, all at once, and sorts them by their answers. */
async function answersOf(contender: ServerContender, keys: readonly string[]) {
  const answers: Record<Answer, string[]> = { allowed: [], denied: [], refused: [] }
  const ask = async (key: string) => answers[await answerOf(contender, key)].push(key)
  await Promise.all(keys.map(ask))
  return answers
}

async function answerOf({ decide }: ServerContender, key: string): Promise<Answer> {
  try {
    return (await decide(key)) ? 'allowed' : 'denied'
  } catch (error) {
    if (error instanceof StoreError && /out of memory/i.test(error.message)) return 'refused'
    throw error
  }
}

function add(tally: Tally, { allowed, denied, refused }: Record<Answer, readonly string[]>): void {
  tally.allowed += allowed.length
  tally.denied += denied.length
  tally.refused += refused.length
}
