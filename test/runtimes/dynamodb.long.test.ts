import { TABLE, useDynalite } from '../integration/dynamodb/use-dynalite.js'
import { sendAtOnce } from './at-once.js'
import type { RuntimeName } from './runtimes.js'
import { startIn } from './start-in.js'

const tables = useDynalite()
beforeEach(async () => {
  const { Items = [] } = await tables.client.scan({ TableName: TABLE })
  for (const { key } of Items) await tables.client.deleteItem({ TableName: TABLE, Key: { key } })
})

const RUNTIMES: readonly RuntimeName[] = ['Node.js', 'Deno with packages for Node.js', 'Bun']

test.each(RUNTIMES)('in %s, requests share exactly the limit of 1,000 through the AWS SDK', async (name) => {
  const { port, folder } = tables.server
  const running = await startIn(name, `${__dirname}/apps/exact.ts`, {
    store: `${__dirname}/stores/dynamodb.ts`,
    packages: `${folder}/node_modules`,
    env: { DYNAMODB_URL: `http://127.0.0.1:${port}`, DYNAMODB_TABLE: TABLE },
  })
  try {
    const first = await sendAtOnce(900, running.url)
    const second = await sendAtOnce(300, running.url)
    expect([first, second]).toEqual([{ 200: 900 }, { 200: 100, 429: 200 }])
  } finally {
    await running.close()
  }
})
