import { createLimiter, fixedWindow, StoreError } from 'headgate'
import { LimiterWatch } from '../../../../src/dashboard/figures/limiter-watch.js'
import { limiterHistory } from '../../../../src/dashboard/shared/limiter-history.js'
import { type Inspection, inspectionOf } from '../../../../src/limiter/inspection.js'
import { sharedDocuments, sharedStore } from './shared-documents.js'

test('a store that hangs ends each read after five seconds, and readers share one', async () => {
  jest.useFakeTimers()
  const { documents, calls, set } = sharedDocuments()
  const policy = fixedWindow({ limit: 3, window: '1h' })
  const limiter = createLimiter<string>({
    name: 'api',
    policy,
    key: (id) => id,
    store: sharedStore(documents),
  })
  const watch = new LimiterWatch({ name: 'api', limiter, inspection: inspectionOf(limiter) as Inspection })
  const history = limiterHistory(documents, 'hg', watch, 'a', Date.now())
  set('hang')
  calls.length = 0
  const readers = [history.steps(), history.steps(), history.demands(), history.demands()]
  const failed = Promise.allSettled(readers)
  await jest.advanceTimersByTimeAsync(5100)
  const reason = expect.any(StoreError)
  expect(await failed).toEqual(readers.map(() => ({ status: 'rejected', reason })))
  await expect(readers[0]).rejects.toThrow(`${watch.inspection.store.name}: no reply within 5000 ms`)
  expect(calls).toEqual(['read', 'read'])
  set('none')
  expect(await Promise.all([history.steps(), history.demands()])).toEqual([[], []])
  watch.stop()
  jest.useRealTimers()
})
