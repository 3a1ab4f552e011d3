import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { newTally, sumOf, type Tally } from './tally.js'

/** How much of what a process writes its error shows, in characters. */
const MAX_WRITTEN = 2000

/** A process that charges by `chargeForParent`. */
export interface ChargingProcess {
  /** What it has reported last. */
  readonly tally: Tally
  /** Resolves when it has reported what the test is for. */
  reports(test: (tally: Tally) => boolean): Promise<void>
  /** Has it end by itself, with the outcome of its last charges, or kills it among them. */
  end(how: 'stop' | 'kill'): Promise<Tally>
}

export function chargingProcess(child: ChildProcess): ChargingProcess {
  let tally = newTally()
  child.on('message', (message) => {
    if (isTally(message)) tally = message
  })
  let written = ''
  child.stderr?.on('data', (text) => {
    written = `${written}${text}`.slice(-MAX_WRITTEN)
  })
  const closed = once(child, 'close')
  const failed = closed.then(([code, signal]): never => {
    throw new Error(`the process has ended (${signal ?? `code ${code}`}): ${written}`)
  })
  failed.catch(() => {}) // a process that no test waits for may end
  return {
    get tally() {
      return tally
    },
    async reports(test) {
      while (!test(tally)) await Promise.race([once(child, 'message'), failed])
    },
    async end(how) {
      if (how === 'kill') child.kill('SIGKILL')
      else child.send('stop')
      await closed
      return tally
    },
  }
}

/** Starts processes, ends each amid its charges once so many of them were allowed, and adds their tallies. */
export async function endAt(
  how: 'stop' | 'kill',
  start: () => ChildProcess,
  counts: readonly number[],
): Promise<Tally> {
  const ended = counts.map(async (count) => {
    const charging = chargingProcess(start())
    await charging.reports(({ allowed }) => allowed >= count)
    return charging.end(how)
  })
  return sumOf(await Promise.all(ended))
}

/** Any other message is the store's. */
const isTally = (message: unknown): message is Tally => 'sent' in (message as object)
