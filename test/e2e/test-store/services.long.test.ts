import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TABLE, useDynalite } from '../../integration/dynamodb/use-dynalite.js'
import { useUpstash } from '../../integration/upstash/use-upstash.js'
import type { RuntimeName, StartOptions } from '../../runtimes/runtimes.js'
import { startIn } from '../../runtimes/start-in.js'
import { ROOT } from '../package/run.js'
import { expectPass, inFolder, writeRemote } from './page-command.js'

jest.setTimeout(900_000)

const upstash = useUpstash()
const tables = useDynalite()

test('the command for Upstash passes against a server that speaks its protocol', async () => {
  await expectPass('docs/stores/upstash.md', join(__dirname, 'upstash-module.ts'), {
    UPSTASH_REDIS_REST_URL: upstash.rest.url,
    UPSTASH_REDIS_REST_TOKEN: upstash.rest.token,
  })
})

test('the command for DynamoDB passes against dynalite', async () => {
  await expectPass('docs/stores/dynamodb.md', join(__dirname, 'dynamodb-module.ts'), {
    SDK_FOLDER: tables.server.folder,
    DYNAMODB_PORT: String(tables.server.port),
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  })
  const left = await tables.client.scan({ TableName: TABLE })
  for (const { key } of left.Items ?? []) expect(key).toEqual({ S: expect.stringMatching(/^hgtest:/) })
})

const SECRET = 'secret-of-the-test'
const SERVED = `
  import { store } from 'store-of-the-runtime'
  import { testServer } from './remote.js'
  export default { fetch: testServer(store, '${SECRET}') }
`

/** Serves a store to the command as the page says, from a runtime that alone can reach its service. */
async function expectServedPass(
  page: string,
  runtime: RuntimeName,
  store: string,
  options: StartOptions,
  more = '',
): Promise<void> {
  await inFolder(async (folder) => {
    writeRemote(folder)
    writeFileSync(join(folder, 'served.ts'), more + SERVED)
    const given = { ...options, store: join(ROOT, `test/runtimes/stores/${store}.ts`) }
    const running = await startIn(runtime, join(folder, 'served.ts'), given)
    const module = join(folder, 'limits-store.ts')
    writeFileSync(
      module,
      `import { testedStore } from './remote.js'
      export default testedStore('${running.url}', '${SECRET}')`,
    )
    try {
      expect((await fetch(running.url, { method: 'POST', body: '{}' })).status).toBe(401)
      await expectPass(page, module, {})
    } finally {
      await running.close()
    }
  })
}

test('the command for Deno KV passes against a KV that Deno serves', async () => {
  const options = { env: { KV_PATH: ':memory:' }, args: ['--unstable-kv'] }
  await expectServedPass('docs/stores/deno-kv.md', 'Deno', 'deno-kv', options)
})

test('the command for Durable Objects passes against objects that workerd serves', async () => {
  const options = { durableObjects: { LIMITS: 'LimitsObject' } }
  const more = "export { LimitsObject } from 'headgate/durable-objects'\n"
  await expectServedPass('docs/stores/durable-objects.md', 'workerd', 'durable-objects', options, more)
})
