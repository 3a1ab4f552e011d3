import { sendAtOnce } from './at-once.js'
import type { RuntimeName } from './runtimes.js'
import { startIn } from './start-in.js'
import { useDynamodb } from './use-dynamodb.js'

const dynamodb = useDynamodb()

const RUNTIMES: readonly RuntimeName[] = ['Node.js', 'Deno with packages for Node.js', 'Bun']

test.each(RUNTIMES)('in %s, requests share exactly the limit of 1,000 through the AWS SDK', async (name) => {
  const given = { ...dynamodb.options, store: `${__dirname}/stores/dynamodb.ts` }
  const running = await startIn(name, `${__dirname}/apps/exact.ts`, given)
  try {
    const first = await sendAtOnce(900, running.url)
    const second = await sendAtOnce(300, running.url)
    expect([first, second]).toEqual([{ 200: 900 }, { 200: 100, 429: 200 }])
  } finally {
    await running.close()
  }
})
