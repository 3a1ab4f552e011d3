import { setTimeout as pause } from 'node:timers/promises'
import { startProxy } from '../../../support/proxy.js'
import { openTarget } from '../../faults/target.js'
import { limitersOn } from './limiters.js'
import { COUNTED, FAULTY_NAMES, limitNamed } from './limits.js'
import { count, emptyTally, type HistoryCommand, type HistoryTally, runStores, targetNamed } from './main.js'
import { type History, LOAD, type Load, record, startCallers } from './record.js'
import type { Entry } from './sequential.js'

/** What came of histories with lost connections. */
export interface LossTally extends HistoryTally {
  losses: number
  charges: number
  /** Units of charges beyond those that callers know of, and beyond those whose outcome is unknown. */
  countedTwice: number
}

const LOSSY_LOAD: Load = { ...LOAD, rounds: 25, roundMs: 20, callsPerCaller: 3, timeoutMs: 400 }
/** How long late calls and refunds may take after the last loss. */
const SETTLE_MS = 1500

/** The stores whose connections are lost. */
export const LOSSY_STORES = ['Redis', 'node-redis', 'memcached', 'MariaDB', 'PostgreSQL']

/** Loses connections while histories are recorded, and prints a row for each store. */
export function runLosses(command: HistoryCommand): Promise<boolean> {
  return runStores(
    command,
    LOSSY_STORES,
    tallyLosses,
    ({ undecided, unknown, losses, charges, countedTwice }) =>
      `${undecided} undecided, ${unknown} unknown outcomes, ${losses} losses, ` +
      `${charges} charges, ${countedTwice} counted twice`,
    ({ countedTwice }) => countedTwice === 0,
  )
}

/** Records histories through a proxy that loses all connections now and then. */
export async function tallyLosses(
  name: string,
  seed: number,
  untilMs: number,
  program?: string,
): Promise<LossTally> {
  const tally: LossTally = {
    ...emptyTally(),
    ...{ losses: 0, charges: 0, countedTwice: 0 },
  }
  const { address, at, stop } = await targetNamed(name).start()
  if (address === undefined || at === undefined) throw new Error(`${name} has no address for a proxy.`)
  const proxy = await startProxy(address)
  const callers = startCallers({ target: at(proxy.host, proxy.port) }, LOSSY_LOAD, program)
  const direct = openTarget(at(address.host, address.port))
  const limiters = limitersOn(direct.store, 5000)
  try {
    for (let own = seed; Date.now() < untilMs || own === seed; own++) {
      const recording = record(callers, own, LOSSY_LOAD, FAULTY_NAMES)
      const losing = loseWhile(recording, proxy)
      const histories = await recording
      tally.losses += await losing
      await pause(SETTLE_MS)
      for (const history of histories) countLossy(tally, await withLast(history, limiters), name)
    }
  } finally {
    await callers.end()
    await direct.close()
    await proxy.stop()
    await stop()
  }
  return tally
}

/** Closes all connections at random times. Returns how often. */
async function loseWhile(recording: Promise<unknown>, proxy: { cut(how: 'reset' | 'end'): void }) {
  let isOver = false
  let losses = 0
  const end = () => {
    isOver = true
  }
  recording.then(end, end)
  while (!isOver) {
    await pause(100 + Math.random() * 500)
    proxy.cut(Math.random() < 0.5 ? 'reset' : 'end')
    losses++
  }
  return losses
}

/** Adds what the key shows in the end. */
async function withLast(history: History, limiters: ReturnType<typeof limitersOn>): Promise<History> {
  const invokedNs = Number(process.hrtime.bigint())
  const decision = await limiters[history.limit]?.current.peek({ identity: history.identity })
  if (decision?.source !== 'store') throw new Error('The store cannot be read after the losses.')
  const { allowed, remaining } = decision
  const returnedNs = Number(process.hrtime.bigint())
  const last: Entry = { call: { type: 'peek' }, invokedNs, returnedNs, shown: { allowed, remaining } }
  return { ...history, entries: [...history.entries, last] }
}

function countLossy(tally: LossTally, history: History, name: string): void {
  const charges = history.entries.flatMap((entry) => (entry.call.type === 'charge' ? [entry] : []))
  tally.charges += charges.length
  count(tally, history, name)
  if (history.limit !== COUNTED) return
  const possible = charges.filter(({ shown, isUnknown }) => isUnknown || shown?.allowed)
  const units = possible.reduce((sum, { call }) => sum + (call.type === 'charge' ? call.cost : 0), 0)
  const used = limitNamed(COUNTED).policy.limit - (history.entries.at(-1)?.shown?.remaining ?? 0)
  tally.countedTwice += Math.max(0, used - units)
}
