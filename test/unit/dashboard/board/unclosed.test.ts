import { createLimiter, fixedWindow, type Store, sharedSettings } from 'headgate'
import { dashboard } from 'headgate/dashboard'
import { boardOf } from '../../../../src/dashboard/board/board.js'
import { watchAll } from '../../../../src/dashboard/figures/limiter-watch.js'
import { type Inspection, inspectionOf } from '../../../../src/limiter/inspection.js'
import { sharedDocuments, sharedStore } from '../shared/shared-documents.js'

/** Returns how many timers keep this process running. */
function runningTimers(): number {
  return process.getActiveResourcesInfo().filter((name) => ['Timeout', 'Immediate'].includes(name)).length
}

function limiterOn(store: Store) {
  const policy = fixedWindow({ limit: 3, window: '1h' })
  const settings = sharedSettings(store)
  return createLimiter<string>({ name: 'api', policy, key: (id) => id, store, settings })
}

test.each(['none', 'hang'] as const)(
  'a dashboard that is never closed lets its process end, with fault %s',
  async (fault) => {
    const shared = sharedDocuments()
    const limiter = limiterOn(sharedStore(shared.documents))
    await limiter.charge('ada')
    shared.set(fault)
    const before = runningTimers()
    const page = dashboard({ limiters: [limiter], authorize: () => true })
    const board = boardOf(
      watchAll([{ name: 'api', limiter, inspection: inspectionOf(limiter) as Inspection }]),
    )
    const working = [board.tick(), board.refresh(), page.close()]
    const during = runningTimers()
    shared.set('none')
    await Promise.all(working)
    expect([during, runningTimers()]).toEqual([before, before])
    await board.stop()
    await limiter.close()
  },
)
