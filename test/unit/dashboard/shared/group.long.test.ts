import { visit } from './processes.js'

test('1,000 processes that come and go leave no more documents than lived within an hour, and small ones', async () => {
  const { texts, events } = await visit(1000)
  expect(texts.length).toBeLessThan(150)
  expect(texts.join('').length).toBeLessThan(150_000)
  expect(events).toHaveLength(1000)
})
