import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { newTally, type Tally } from './tally.js'

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
    tally = message as Tally
  })
  const closed = once(child, 'close')
  return {
    get tally() {
      return tally
    },
    async reports(test) {
      while (!test(tally)) await Promise.race([once(child, 'message'), closed.then(failed)])
    },
    async end(how) {
      if (how === 'kill') child.kill('SIGKILL')
      else child.send('stop')
      await closed
      return tally
    },
  }
}

function failed(): never {
  throw new Error('the process has ended')
}
