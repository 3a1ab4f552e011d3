import { memoryStore } from 'headgate'
import { Page } from '../../../../src/stores/memory/page.js'
import { CACHED, costsOf, costTable, DECISIONS } from '../../../support/decision-costs.js'

afterEach(() => jest.restoreAllMocks())

test('a decision costs what the page says', async () => {
  const store = memoryStore()
  const [reads, writes] = [jest.spyOn(Page.prototype, 'read'), jest.spyOn(Page.prototype, 'write')]
  const { [CACHED]: _, ...decisions } = DECISIONS // there is no denial cache
  const costs = await costsOf(store, decisions, async (step) => {
    const before = store.size
    reads.mockClear()
    writes.mockClear()
    await step()
    return [reads.mock.calls.length, writes.mock.calls.length, store.size - before]
  })
  expect(costTable('memory')).toEqual(costs)
})
